# Installs Hydra into a folder of its own, builds the template of a plug-in against it trains and simulates under its policy.
# Needs BUILD, TEMPLATE, HYDRA, GENERATOR, COMPILER.
function(run expected)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}\n${out}\nended with ${status}")
  endif()
  if(NOT out MATCHES "${expected}")
    message(FATAL_ERROR "${ARGN}\n${out}\nsays nothing like \"${expected}\"")
  endif()
endfunction()

set(place "${BUILD}/plugin_template")
file(REMOVE_RECURSE "${place}")
run("" ${CMAKE_COMMAND} --install "${BUILD}" --prefix "${place}/hydra")
run("" ${CMAKE_COMMAND} -S "${TEMPLATE}" -B "${place}/build" -G "${GENERATOR}" "-DCMAKE_PREFIX_PATH=${place}/hydra"
  "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_CXX_FLAGS=${FLAGS}")
run("" ${CMAKE_COMMAND} --build "${place}/build")

file(WRITE "${place}/w.toml" [=[
[run]
plugins = ["build/libshortest_first.so"]
policy = { name = "shortest-first", bonus = 5 }
[[device]]
kind = "cpu"
memory = "1MiB"
[data.classes]
kind = "synthetic-classes"
[[model]]
name = "mlp-{steps}"
chain = { family = "mlp", layers = 2, width = 8 }
data = "classes"
batch_size = 8
optimizer = { learning_rate = 1e-3 }
grid = { steps = [2, 4] }
]=])
run("shortest-first .*bonus = 0" "${HYDRA}" policies --plugin "${place}/build/libshortest_first.so")
run("policy shortest-first " "${HYDRA}" train "${place}/w.toml" --output "${place}/run")
run("policy shortest-first " "${place}/hydra/bin/hydra" train "${place}/w.toml" --output "${place}/run2"
  --policy "${place}/build/libshortest_first.so")
foreach(driver actors loop)
  run("shortest-first.bonus=5. " "${place}/hydra/bin/hydra" simulate --generate equal:models=3,devices=2,length=0.05
    --driver ${driver} --plugin "${place}/build/libshortest_first.so" --policies "shortest-first(bonus=5)")
endforeach()
file(REMOVE_RECURSE "${place}")
