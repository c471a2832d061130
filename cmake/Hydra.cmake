# hydra_library(NAME SOURCES a.cpp ... DEPENDS target ... [PRECOMPILED kind] [ALONE a.cpp ...])   static library hydra_NAME
# hydra_test(NAME SOURCES a.cpp ... DEPENDS target ... [PRECOMPILED kind] [ALONE a.cpp ...] [TIER core] [COST seconds]
#   [CORE file:seconds ...])
#   test binary NAME_tests; ctest test NAME of the tier fast, NAME.FILE of the tier core for each file of CORE, and deep.*
# (header-only, or none, while it has no source). Kinds: PrecompiledHeaders.cmake; tests without one have "tests".
# Sources are listed by hand, relative to the calling folder; an #include names a file from the root of the tree.

function(hydra_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PRECOMPILED" "SOURCES;ALONE;DEPENDS")
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
  hydra_compile_folders_at_once(hydra_${name} "${arg_SOURCES}" "${arg_ALONE}")
  set_property(GLOBAL APPEND PROPERTY HYDRA_LIBRARIES hydra_${name})
endfunction()

# hydra_objects(NAME SOURCES ... DEPENDS ... PRECOMPILED kind)   sources of a library that have precompiled headers of their own:
# $<TARGET_OBJECTS:hydra_NAME> among its sources
function(hydra_objects name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PRECOMPILED" "SOURCES;ALONE;DEPENDS")
  add_library(hydra_${name} OBJECT ${arg_SOURCES})
  target_include_directories(hydra_${name} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/include")
  target_link_libraries(hydra_${name} PRIVATE ${arg_DEPENDS})
  hydra_precompile(hydra_${name} ${arg_PRECOMPILED})
  hydra_compile_folders_at_once(hydra_${name} "${arg_SOURCES}" "${arg_ALONE}")
endfunction()

# With HYDRA_UNITY (in the preset release) the sources of a folder are compiled at once, in a third of the time. So names in
# their anonymous namespaces differ. ALONE: sources whose names cannot, those with a class that has members of a type of the
# anonymous namespace, and those in which GCC then finds uninitialized values where there are none.
option(HYDRA_UNITY "Compile the sources of each folder at once" OFF)
function(hydra_compile_folders_at_once target sources alone)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${HYDRA_UNITY} UNITY_BUILD_MODE GROUP)
  foreach(source IN LISTS sources)
    if(NOT source IN_LIST alone AND NOT source MATCHES "TARGET_OBJECTS")
      get_filename_component(folder "${source}" DIRECTORY)
      string(MAKE_C_IDENTIFIER "${folder}" group)
      set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${group}")
    endif()
  endforeach()
endfunction()

# A ctest test of a tier: fast, core or deep (tests/README.md). COST: CPU seconds, so that long ones begin first.
function(hydra_tier tier cost)
  set(environment ${HYDRA_TEST_ENVIRONMENT})
  if(tier STREQUAL deep)
    list(APPEND environment HYDRA_TESTS=deep)
  endif()
  set_tests_properties(${ARGN} PROPERTIES LABELS ${tier} COST ${cost} ENVIRONMENT "${environment}")
endfunction()

# The cases of a test binary that a Catch2 filter selects; deep.NAME: the same ones, without samples, and those tagged [deep].
function(hydra_test_cases name binary tier cost filter deep_filter)
  add_test(NAME ${name} COMMAND ${binary} -\# ${filter})
  hydra_tier(${tier} ${cost} ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600)
  add_test(NAME deep.${name} COMMAND ${binary} -\# ${deep_filter})
  hydra_tier(deep ${cost} deep.${name})
  set_tests_properties(deep.${name} PROPERTIES TIMEOUT 7200)
endfunction()

function(hydra_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PRECOMPILED;TIER;COST" "SOURCES;ALONE;CORE;DEPENDS")
  add_executable(${name}_tests ${arg_SOURCES})
  target_link_libraries(${name}_tests PRIVATE hydra_test_main ${arg_DEPENDS})
  target_compile_options(${name}_tests PRIVATE -O1 $<$<BOOL:${HYDRA_UNITY}>:-Wno-shadow>)  # of names in other files
  if(NOT arg_PRECOMPILED)
    set(arg_PRECOMPILED tests)
  endif()
  hydra_precompile(${name}_tests ${arg_PRECOMPILED})
  hydra_without_precompiled(${arg_SOURCES})
  foreach(source IN LISTS arg_SOURCES)
    get_source_file_property(skips "${source}" SKIP_PRECOMPILE_HEADERS)
    if(skips)
      list(APPEND arg_ALONE "${source}")
    endif()
  endforeach()
  hydra_compile_folders_at_once(${name}_tests "${arg_SOURCES}" "${arg_ALONE}")
  if(NOT arg_TIER)
    set(arg_TIER fast)
  endif()
  if(NOT arg_COST)
    set(arg_COST 10)
  endif()
  set(others)  # Catch2 names the files of cases as tags: [#waves]
  foreach(part IN LISTS arg_CORE)
    string(REPLACE ":" ";" part "${part}")
    list(GET part 0 file)
    list(GET part 1 cost)
    hydra_test_cases(${name}.${file} ${name}_tests core ${cost} "[#${file}]~[.]" "[#${file}]~[gpu]")
    string(APPEND others "~[#${file}]")
  endforeach()
  hydra_test_cases(${name} ${name}_tests ${arg_TIER} ${arg_COST} "${others}~[.]" "${others}~[.],${others}[deep]")
endfunction()
