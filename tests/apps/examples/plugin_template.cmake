# Installs Hydra into a folder of its own, builds the templates of plug-ins against it, trains and simulates under the policy
# of one, trains on devices of another, searches by the rule of the third. Needs BUILD, EXAMPLES, HYDRA, GENERATOR, COMPILER, FLAGS.
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
foreach(template policy_plugin device_plugin search_plugin)
  run("" ${CMAKE_COMMAND} -S "${EXAMPLES}/${template}" -B "${place}/${template}" -G "${GENERATOR}"
    "-DCMAKE_PREFIX_PATH=${place}/hydra" "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_CXX_FLAGS=${FLAGS}")
  run("" ${CMAKE_COMMAND} --build "${place}/${template}")
endforeach()
set(policies "${place}/policy_plugin/libshortest_first.so")

set(work [=[
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
file(WRITE "${place}/w.toml" [=[
[run]
plugins = ["policy_plugin/libshortest_first.so"]
policy = { name = "shortest-first", bonus = 5 }
[[device]]
kind = "cpu"
memory = "1MiB"
]=] "${work}")
run("shortest-first .*bonus = 0" "${HYDRA}" policies --plugin "${policies}")
run("policy shortest-first " "${HYDRA}" train "${place}/w.toml" --details --output "${place}/run")
run("policy shortest-first " "${place}/hydra/bin/hydra" train "${place}/w.toml" --details --output "${place}/run2" --policy "${policies}")
foreach(driver actors loop)
  run("shortest-first.bonus=5. " "${place}/hydra/bin/hydra" simulate --generate equal:models=3,devices=2,length=0.05
    --driver ${driver} --plugin "${policies}" --policies "shortest-first(bonus=5)")
endforeach()

# The devices of a plug-in train the same bits.
file(WRITE "${place}/d.toml" [=[
[run]
plugins = ["device_plugin/libthread_device.so"]
[[device]]
kind = "thread"
count = 2
memory = "1MiB"
]=] "${work}")
function(digests folder result)
  file(READ "${place}/${folder}/report.json" report)
  string(REGEX MATCHALL "sha256:[0-9a-f]+" all "${report}")
  set(${result} "${all}" PARENT_SCOPE)
endfunction()
run("thread .*memory .*here: .* hardware threads" "${place}/hydra/bin/hydra" devices
  --plugin "${place}/device_plugin/libthread_device.so")
run("thread:1 " "${place}/hydra/bin/hydra" train "${place}/d.toml" --details --output "${place}/run3")
digests(run expected)
digests(run3 trained)
if(NOT trained MATCHES "sha256:.*sha256:" OR NOT trained STREQUAL expected)
  message(FATAL_ERROR "on the plug-in's devices: ${trained}, on cpu: ${expected}")
endif()

# The rule of a plug-in stops trials.
string(REPLACE "grid = { steps = [2, 4] }" "steps = 8\nvalidate = { every_steps = 2, batches = 1 }" trials "${work}")
string(REPLACE "mlp-{steps}" "mlp" trials "${trials}")
string(REPLACE "optimizer = { learning_rate = 1e-3 }" "" trials "${trials}")
file(WRITE "${place}/s.toml" [=[
[search]
kind = "own"
rule = { name = "search_plugin/libmedian.so", others = 2 }
samples = 6
[search.space]
"optimizer.learning_rate" = { log_uniform = [1e-6, 1e-1] }
[[device]]
kind = "cpu"
memory = "1MiB"
]=] "${trials}")
run("stopped after [246] steps" "${place}/hydra/bin/hydra" train "${place}/s.toml" --output "${place}/run4")
file(REMOVE_RECURSE "${place}")
