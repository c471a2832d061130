# Two checks run by ctest. A header with a source of the same name is compiled alone by that source, which includes it
# first (include-directions checks that); every other header gets a generated source, built only by
# self-contained-headers.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME include-directions
  COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/include_directions.py" "${PROJECT_SOURCE_DIR}")

set(_folders runtime models partition actors apps tests)
list(TRANSFORM _folders REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/\\1/*.hpp" OUTPUT_VARIABLE _globs)
file(GLOB_RECURSE _headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" ${_globs})
list(FILTER _headers EXCLUDE REGEX "^runtime/device/cuda/")
set(_sources)
foreach(_header IN LISTS _headers)
  string(REGEX REPLACE "hpp$" "cpp" _source "${_header}")
  if(NOT EXISTS "${PROJECT_SOURCE_DIR}/${_source}")
    file(CONFIGURE OUTPUT "headers/${_source}" CONTENT "#include \"${_header}\"\n")
    list(APPEND _sources "${CMAKE_CURRENT_BINARY_DIR}/headers/${_source}")
  endif()
endforeach()
if(_sources)
  add_library(hydra_headers OBJECT EXCLUDE_FROM_ALL ${_sources})
  target_link_libraries(hydra_headers PRIVATE hydra_apps Catch2::Catch2)
  target_compile_options(hydra_headers PRIVATE -O0 -g0 $<$<BOOL:${HYDRA_SANITIZE}>:-fno-sanitize=all>)
  if(CMAKE_GENERATOR MATCHES "Ninja")
    set(_all_errors -- -k 0)
  endif()
  add_test(NAME self-contained-headers
    COMMAND ${CMAKE_COMMAND} --build "${PROJECT_BINARY_DIR}" --target hydra_headers ${_all_errors})
  set_tests_properties(self-contained-headers PROPERTIES TIMEOUT 600)
endif()
