# Compiler and linker flags, as interface libraries:
#
#   sonde_warnings   every C and C++ file of ours
#   sonde_strict     src/ and tests/unit: all warnings, both include directories, hardening
#   sonde_hardened   linking of what gets installed
include(CheckCCompilerFlag)
include(CheckPIESupported)

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_CXX_STANDARD 11)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# The same binary in the build directory and installed: else CMake pads the path with colons to rewrite it later, and
# an empty element means the current directory, of which we know nothing.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH $ORIGIN)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
check_pie_supported(LANGUAGES C CXX)

add_library(sonde_warnings INTERFACE)
target_compile_options(sonde_warnings INTERFACE -Wall -Wextra $<$<BOOL:${SONDE_WERROR}>:-Werror>)

add_library(sonde_strict INTERFACE)
target_link_libraries(sonde_strict INTERFACE sonde_warnings)
target_include_directories(sonde_strict INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(sonde_strict INTERFACE SONDE_VERSION="${PROJECT_VERSION}")
target_compile_options(sonde_strict INTERFACE
	-Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -fstack-protector-strong)
foreach(flag -fstack-clash-protection -fcf-protection)
	string(MAKE_C_IDENTIFIER HAVE${flag} have)
	check_c_compiler_flag(${flag} ${have})
	if(${have})
		target_compile_options(sonde_strict INTERFACE ${flag})
	endif()
endforeach()
if(NOT SONDE_SANITIZE) # the sanitizers intercept the functions that fortifying replaces
	# First undefined, because some distributions' compilers define it themselves.
	target_compile_options(sonde_strict INTERFACE
		$<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE> $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=3>)
endif()

add_library(sonde_hardened INTERFACE)
target_link_options(sonde_hardened INTERFACE -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)

set(SONDE_NO_UNDEFINED -Wl,--no-undefined)
if(SONDE_SANITIZE)
	add_compile_options(-fsanitize=${SONDE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
	add_link_options(-fsanitize=${SONDE_SANITIZE})
	if(CMAKE_C_COMPILER_ID MATCHES Clang)
		set(SONDE_NO_UNDEFINED) # clang keeps the sanitizer's functions in the executable
	endif()
	if(SONDE_SANITIZE STREQUAL thread AND CMAKE_C_COMPILER_ID STREQUAL GNU)
		# gcc says that TSan does not model fences: worth seeing, not worth stopping.
		target_compile_options(sonde_warnings INTERFACE -Wno-error=tsan)
	endif()
endif()
if(SONDE_FUZZ)
	add_compile_options(-fsanitize=fuzzer-no-link) # coverage for the fuzzer to steer by
endif()
