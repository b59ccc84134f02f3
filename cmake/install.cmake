# Everything that `cmake --install` copies. It works from any prefix: nothing below contains an absolute path.
include(CMakePackageConfigHelpers)

# ---- Man pages: docs/sonde.md and docs/sonde-*.md, whose first line is "# name(section)" -----------------------------

find_program(AWK NAMES mawk gawk awk REQUIRED)
file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/sonde.md ${PROJECT_SOURCE_DIR}/docs/sonde-*.md)
set(man_pages)
foreach(page ${pages})
	file(STRINGS ${page} title LIMIT_COUNT 1)
	if(NOT title MATCHES "^# ([a-z-]+)\\(([1-8])\\)$")
		message(WARNING "${page} is no man page: its first line is not '# name(section)'")
		continue()
	endif()
	set(man_dir ${PROJECT_BINARY_DIR}/man/man${CMAKE_MATCH_2})
	set(man_page ${man_dir}/${CMAKE_MATCH_1}.${CMAKE_MATCH_2})
	file(MAKE_DIRECTORY ${man_dir})
	add_custom_command(OUTPUT ${man_page}
		COMMAND ${AWK} -v version=${PROJECT_VERSION} -f ${PROJECT_SOURCE_DIR}/tools/man.awk ${page} > ${man_page}
		DEPENDS ${page} ${PROJECT_SOURCE_DIR}/tools/man.awk
		COMMENT "man page ${CMAKE_MATCH_1}(${CMAKE_MATCH_2})" VERBATIM)
	list(APPEND man_pages ${man_page})
	install(FILES ${man_page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${CMAKE_MATCH_2})
endforeach()
add_custom_target(man ALL DEPENDS ${man_pages})
add_dependencies(product man)

# ---- Libraries, headers, command -------------------------------------------------------------------------------------

install(TARGETS sonde_rt sonde_lib EXPORT sonde LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/sonde DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)
if(TARGET sonde)
	install(TARGETS sonde RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# ---- pkg-config and find_package(sonde) ------------------------------------------------------------------------------

foreach(name sonde-rt sonde)
	configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
	install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sonde)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sonde-config-version.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT sonde NAMESPACE sonde:: FILE sonde-targets.cmake DESTINATION ${package_dir})
install(FILES cmake/sonde-config.cmake ${PROJECT_BINARY_DIR}/sonde-config-version.cmake DESTINATION ${package_dir})

# ---- Completion: the commands come from the table that the command itself uses ---------------------------------------

set(SONDE_COMMANDS help)
set(commands_def ${PROJECT_SOURCE_DIR}/src/cli/commands.def)
if(EXISTS ${commands_def})
	set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${commands_def})
	file(STRINGS ${commands_def} rows REGEX "^[A-Z_]+\\(")
	foreach(row ${rows})
		string(REGEX REPLACE "^[A-Z_]+\\( *\"?([a-z_-]+).*" "\\1" row "${row}")
		string(APPEND SONDE_COMMANDS " ${row}")
	endforeach()
endif()
configure_file(tools/completion/sonde.bash completion/sonde @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/completion/sonde
	DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
