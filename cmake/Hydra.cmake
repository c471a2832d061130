# hydra_library(NAME SOURCES a.cpp ... DEPENDS target ... [PRECOMPILED kind])   static library hydra_NAME
# hydra_test(NAME SOURCES a.cpp ... DEPENDS target ... [PRECOMPILED kind])      test binary NAME_tests = one ctest test
# (header-only, or none, while it has no source). Kinds: PrecompiledHeaders.cmake; tests without one have "tests".
# Sources are listed by hand, relative to the calling folder; an #include names a file from the root of the tree.

function(hydra_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PRECOMPILED" "SOURCES;DEPENDS")
  if(arg_SOURCES)
    add_library(hydra_${name} STATIC ${arg_SOURCES})
    set(scope PUBLIC)
  else()
    add_library(hydra_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(hydra::${name} ALIAS hydra_${name})
  set_target_properties(hydra_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(hydra_${name} ${scope} cxx_std_20)
  target_include_directories(hydra_${name} ${scope}
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>" "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>"
    "$<INSTALL_INTERFACE:include>" "$<INSTALL_INTERFACE:include/hydra>")
  target_link_libraries(hydra_${name} ${scope} ${arg_DEPENDS})
  if(arg_PRECOMPILED)
    hydra_precompile(hydra_${name} ${arg_PRECOMPILED})
  endif()
  set_property(GLOBAL APPEND PROPERTY HYDRA_LIBRARIES hydra_${name})
endfunction()

# hydra_objects(NAME SOURCES ... DEPENDS ... PRECOMPILED kind)   sources of a library that have precompiled headers of their own:
# $<TARGET_OBJECTS:hydra_NAME> among its sources
function(hydra_objects name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PRECOMPILED" "SOURCES;DEPENDS")
  add_library(hydra_${name} OBJECT ${arg_SOURCES})
  target_include_directories(hydra_${name} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/include")
  target_link_libraries(hydra_${name} PRIVATE ${arg_DEPENDS})
  hydra_precompile(hydra_${name} ${arg_PRECOMPILED})
endfunction()

function(hydra_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PRECOMPILED" "SOURCES;DEPENDS")
  if(NOT arg_SOURCES)
    return()
  endif()
  add_executable(${name}_tests ${arg_SOURCES})
  target_link_libraries(${name}_tests PRIVATE hydra_test_main ${arg_DEPENDS})
  if(NOT arg_PRECOMPILED)
    set(arg_PRECOMPILED tests)
  endif()
  hydra_precompile(${name}_tests ${arg_PRECOMPILED})
  hydra_without_precompiled(${arg_SOURCES})
  add_test(NAME ${name} COMMAND ${name}_tests)
  set_tests_properties(${name} PROPERTIES TIMEOUT 1200 ENVIRONMENT "${HYDRA_TEST_ENVIRONMENT}")
endfunction()
