# Installs Hydra into a folder of its own, configures a project that finds it there, builds a program and runs it.
# Needs BUILD, PROGRAM, GENERATOR, COMPILER, FLAGS.
function(run expected)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}\n${out}\nended with ${status}")
  endif()
  if(NOT out MATCHES "${expected}")
    message(FATAL_ERROR "${ARGN}\n${out}\nsays nothing like \"${expected}\"")
  endif()
endfunction()

set(place "${BUILD}/installed_package")
file(REMOVE_RECURSE "${place}")
run("" ${CMAKE_COMMAND} --install "${BUILD}" --prefix "${place}/hydra")
file(COPY_FILE "${PROGRAM}" "${place}/program.cpp")
file(WRITE "${place}/CMakeLists.txt" [=[
cmake_minimum_required(VERSION 3.25)
project(out_of_tree LANGUAGES CXX)
find_package(Hydra REQUIRED)
add_executable(program program.cpp)
target_link_libraries(program PRIVATE hydra::hydra)
]=])
run("" ${CMAKE_COMMAND} -S "${place}" -B "${place}/build" -G "${GENERATOR}" "-DCMAKE_PREFIX_PATH=${place}/hydra"
  -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_CXX_FLAGS=${FLAGS}")
run("" ${CMAKE_COMMAND} --build "${place}/build")
run("spirals .*finished.*told apart" "${place}/build/program")
file(REMOVE_RECURSE "${place}")
