# Tests, found by where they lie:
#
#   tests/unit/<dirs>/test_<name>.c  unit_<dirs>_<name>: cmocka, linked with all of src/ but cli, hidden symbols included
#   tests/programs/<name>.c, .cc     prog_<name>: programs to be recorded; public headers and libsonde-rt only
#   tests/cli/*.sh, tests/faults/*.sh, tests/checks/*.sh
#                                    scripts; exit code 77 means skipped. They see SONDE, BUILD, SOURCE, CC, CFLAGS.
#                                    A file whose name begins with "lib" is for the others to source.
#   examples/<name>.c, .cc           example_<name>; must run through
#   fuzz/fuzz_<name>.c               fuzz_<name>: here runs fuzz/seeds/<name>; with libFuzzer in the preset fuzz
#   bench/<name>.c                   bench_<name>, in the preset release only
#
# Labels: unit, record (unit tests of src/record), cli, faults, check, fuzz, example, threads (the server, for the preset
# tsan).
enable_testing()
find_package(Threads REQUIRED)
find_package(OpenMP COMPONENTS C CXX)

# sonde_glob(<variable> <patterns...>), relative to the source tree; not the files that only help others
function(sonde_glob result)
	list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/)
	file(GLOB files CONFIGURE_DEPENDS ${ARGN})
	list(FILTER files EXCLUDE REGEX "/lib[^/]*\\.sh$")
	set(${result} ${files} PARENT_SCOPE)
endfunction()

# Everything but the command in one archive, so that tests reach what the libraries hide.
sonde_objects(objects ${rt_modules} ${upper_modules})
add_library(sonde_all STATIC EXCLUDE_FROM_ALL ${objects})
set_target_properties(sonde_all PROPERTIES LINKER_LANGUAGE C)
target_link_libraries(sonde_all PUBLIC sonde_strict m Threads::Threads PkgConfig::SONDE_DEPENDS ${CMAKE_DL_LIBS})

# ---- Fuzz targets ----------------------------------------------------------------------------------------------------

add_custom_target(fuzzers)
sonde_glob(sources fuzz/fuzz_*.c)
foreach(source ${sources})
	cmake_path(GET source STEM name)
	string(REPLACE fuzz_ "" seeds ${name})
	add_executable(${name} ${source})
	target_link_libraries(${name} PRIVATE sonde_all)
	# libFuzzer calls the target by name, without a declaration.
	set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS -Wno-missing-prototypes)
	if(SONDE_FUZZ)
		target_link_options(${name} PRIVATE -fsanitize=fuzzer)
		add_dependencies(fuzzers ${name})
	else()
		target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/fuzz/standalone.c)
		add_test(NAME ${name} COMMAND ${name} ${PROJECT_SOURCE_DIR}/fuzz/seeds/${seeds})
		set_tests_properties(${name} PROPERTIES LABELS fuzz SKIP_RETURN_CODE 77)
	endif()
endforeach()
if(SONDE_FUZZ)
	return()
endif()

# ---- Programs: to record, to learn from, to measure ------------------------------------------------------------------

# sonde_program(<target> <source> [OpenMP]) links what the source includes.
function(sonde_program target source)
	add_executable(${target} ${source})
	target_link_libraries(${target} PRIVATE sonde_warnings sonde_rt Threads::Threads m)
	file(STRINGS ${source} needs_lib REGEX "^#include <sonde/(session|trace|analyze|compare|events|export|query|recorder|serve)\\.h>")
	if(needs_lib)
		target_link_libraries(${target} PRIVATE sonde_lib)
	endif()
	if(ARGN AND source MATCHES "\\.cc$")
		target_link_libraries(${target} PRIVATE OpenMP::OpenMP_CXX)
	elseif(ARGN)
		target_link_libraries(${target} PRIVATE OpenMP::OpenMP_C)
	endif()
endfunction()

# Other tests run at the same time: threads that wait must not spin.
set(quiet_openmp OMP_WAIT_POLICY=passive)

# libgomp synchronizes in ways that TSan does not see: with both, every parallel loop is a false race.
set(with_openmp ${OpenMP_FOUND})
if(SONDE_SANITIZE MATCHES thread)
	set(with_openmp FALSE)
endif()

sonde_glob(sources tests/programs/*.c tests/programs/*.cc)
foreach(source ${sources})
	cmake_path(GET source STEM name)
	if(NOT name MATCHES "^omp")
		sonde_program(prog_${name} ${source})
	elseif(with_openmp)
		sonde_program(prog_${name} ${source} OpenMP)
	endif()
endforeach()

add_custom_target(examples)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/example_runs) # some leave a recording behind
sonde_glob(sources examples/*.c examples/*.cc)
foreach(source ${sources})
	if(with_openmp)
		cmake_path(GET source STEM name)
		sonde_program(example_${name} ${source} OpenMP)
		target_compile_options(example_${name} PRIVATE -O2)
		add_dependencies(examples example_${name})
	endif()
	if(with_openmp AND NOT SONDE_SANITIZE) # with sanitizers, training takes minutes
		add_test(NAME example_${name} COMMAND example_${name} WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/example_runs)
		set_tests_properties(example_${name} PROPERTIES LABELS example ENVIRONMENT ${quiet_openmp})
	endif()
endforeach()

add_custom_target(benchmarks)
if(SONDE_BENCH)
	sonde_glob(sources bench/common/*.c)
	add_library(bench_common STATIC EXCLUDE_FROM_ALL ${sources})
	target_include_directories(bench_common PUBLIC ${PROJECT_SOURCE_DIR}/bench PRIVATE ${PROJECT_SOURCE_DIR}/include)
	target_link_libraries(bench_common PRIVATE sonde_warnings PUBLIC Threads::Threads m)
	sonde_glob(sources bench/*.c)
	foreach(source ${sources})
		cmake_path(GET source STEM name)
		sonde_program(bench_${name} ${source})
		target_link_libraries(bench_${name} PRIVATE bench_common)
		file(STRINGS ${source} needs_all REGEX "^#include \"(store|import)/")
		if(needs_all) # what the libraries hide
			target_link_libraries(bench_${name} PRIVATE sonde_all)
		endif()
		add_dependencies(benchmarks bench_${name})
	endforeach()
	# Peers know nothing of Sonde. Without LTTng's headers there is no program, and bench/run.sh says so.
	pkg_check_modules(LTTNG_UST IMPORTED_TARGET lttng-ust)
	set(peers uftrace)
	if(LTTNG_UST_FOUND)
		list(APPEND peers lttng)
	endif()
	foreach(name ${peers})
		add_executable(bench_peer_${name} EXCLUDE_FROM_ALL bench/peers/${name}.c)
		target_link_libraries(bench_peer_${name} PRIVATE sonde_warnings bench_common)
		add_dependencies(benchmarks bench_peer_${name})
	endforeach()
	if(LTTNG_UST_FOUND)
		target_link_libraries(bench_peer_lttng PRIVATE PkgConfig::LTTNG_UST)
	endif()
	# simdjson chooses its instructions when it is compiled.
	pkg_check_modules(SIMDJSON IMPORTED_TARGET simdjson)
	if(SIMDJSON_FOUND AND CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
		add_executable(bench_peer_simdjson EXCLUDE_FROM_ALL bench/peers/simdjson.cc)
		target_compile_options(bench_peer_simdjson PRIVATE -O3 -march=x86-64-v3)
		target_link_libraries(bench_peer_simdjson PRIVATE PkgConfig::SIMDJSON)
		add_dependencies(benchmarks bench_peer_simdjson)
	endif()
	target_compile_options(bench_peer_uftrace PRIVATE -pg)
	target_link_options(bench_peer_uftrace PRIVATE -pg)
endif()

# A program may be built with ThreadSanitizer and the installed library is not: the same programs with such a library.
if(SONDE_SANITIZE STREQUAL thread)
	set(sources)
	foreach(name ${rt_modules})
		file(GLOB_RECURSE more CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.c)
		list(APPEND sources ${more})
	endforeach()
	add_library(sonde_rt_plain SHARED ${sources})
	set_target_properties(sonde_rt_plain PROPERTIES
		OUTPUT_NAME sonde-rt SOVERSION 0 LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/plain)
	target_link_libraries(sonde_rt_plain PRIVATE sonde_strict)
	target_compile_options(sonde_rt_plain PRIVATE -ftls-model=initial-exec -fno-sanitize=thread)
	target_link_options(sonde_rt_plain PRIVATE -fno-sanitize=thread
		-Wl,--version-script=${PROJECT_SOURCE_DIR}/src/record/libsonde-rt.map)
endif()

# ---- Unit tests ------------------------------------------------------------------------------------------------------

pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
if(NOT CMOCKA_FOUND)
	message(STATUS "cmocka not found: no unit tests")
endif()
file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/unit/test_*.c)
foreach(source ${sources})
	if(NOT CMOCKA_FOUND)
		break()
	endif()
	cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/tests OUTPUT_VARIABLE name)
	string(REGEX REPLACE "/test_([^/]+)\\.c$" "/\\1" name ${name})
	string(REPLACE / _ name ${name})
	add_executable(${name} ${source})
	target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
	target_link_libraries(${name} PRIVATE sonde_all PkgConfig::CMOCKA)
	add_test(NAME ${name} COMMAND ${name})
	set(labels unit)
	if(name MATCHES "^unit_record_")
		list(APPEND labels record)
	endif()
	set_tests_properties(${name} PROPERTIES LABELS "${labels}" SKIP_RETURN_CODE 77 ENVIRONMENT
		"SOURCE=${PROJECT_SOURCE_DIR};BUILD=${PROJECT_BINARY_DIR}")
endforeach()

# ---- Scripts ---------------------------------------------------------------------------------------------------------

set(script_env
	SONDE=${PROJECT_BINARY_DIR}/sonde BUILD=${PROJECT_BINARY_DIR} SOURCE=${PROJECT_SOURCE_DIR} CC=${CMAKE_C_COMPILER}
	${quiet_openmp})
set(script_kinds cli faults)
if(SONDE_SANITIZE)
	# So that `$CC $CFLAGS prog.c` works in every build.
	list(APPEND script_env "CFLAGS=-fsanitize=${SONDE_SANITIZE}" UBSAN_OPTIONS=print_stacktrace=1)
else()
	list(APPEND script_env CFLAGS=)
	list(APPEND script_kinds checks) # of the tree and of what gets installed: once is enough
endif()
foreach(kind ${script_kinds})
	sonde_glob(sources tests/${kind}/*.sh)
	string(REPLACE checks check label ${kind})
	foreach(source ${sources})
		cmake_path(GET source STEM name)
		add_test(NAME ${label}_${name} COMMAND bash ${source})
		set(labels ${label})
		if(name MATCHES "^serve_(live|flat_out|crowd|rewritten)$")
			list(APPEND labels threads)
		endif()
		set_tests_properties(${label}_${name} PROPERTIES
			LABELS "${labels}" SKIP_RETURN_CODE 77 ENVIRONMENT "${script_env}")
	endforeach()
endforeach()
