# The digest of the headers that plug-ins and the program share: those that plug-ins include (for policies, search rules,
# devices, kernels, layers), with all that these include, and the list of messages. A plug-in that was built with other
# headers is refused. The test plugin-interfaces compares this list with what the compiler finds that plug-ins include.
file(GLOB _messages CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/actors/protocol/*.hpp")
file(GLOB _found CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/runtime/device/kernels/*.hpp"
  "${PROJECT_SOURCE_DIR}/runtime/device/streams/*.hpp")
list(APPEND _found actors/plugin/plugin.hpp actors/plugin/policy_actor.hpp models/layer.hpp
  models/optimizer/tensor_update.hpp runtime/device/cpu/accounting_allocator.hpp runtime/device/cpu/queue_threads.hpp
  runtime/base/thread_supply.hpp runtime/device/cuda/cuda_options.hpp runtime/device/ticket_tracker.hpp)
hydra_reached_headers(_interfaces ${_found})
list(APPEND _interfaces ${_messages})
list(REMOVE_DUPLICATES _interfaces)
list(SORT _interfaces)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${_messages})
set(_text "")
foreach(_header IN LISTS _interfaces)
  file(READ "${PROJECT_SOURCE_DIR}/${_header}" _content)
  string(APPEND _text "${_content}")
endforeach()
string(SHA256 HYDRA_INTERFACES "${_text}")
string(SUBSTRING "${HYDRA_INTERFACES}" 0 16 HYDRA_INTERFACES)
configure_file(cmake/interfaces.hpp.in include/hydra/interfaces.hpp @ONLY)
list(JOIN _interfaces "\n" _text)
file(CONFIGURE OUTPUT interfaces.txt CONTENT "${_text}\n")
