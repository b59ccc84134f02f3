# find_package(sonde) gives sonde::rt (to be recorded) and sonde::sonde (to read recordings).
include(${CMAKE_CURRENT_LIST_DIR}/sonde-targets.cmake)
