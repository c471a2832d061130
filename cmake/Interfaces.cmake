# The digest of the headers that plug-ins and the program share: the messages, arguments and results of plug-ins'
# factories, and what devices and kernels of plug-ins are made with. A plug-in that was built with other headers is
# refused.
file(GLOB _messages CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/actors/protocol/*.hpp")
set(_interfaces ${_messages}
  actors/plugin/plugin.hpp actors/policy/policy.hpp actors/policy/policy_options.hpp
  actors/selection/search_rule.hpp actors/selection/search_settings.hpp actors/selection/search_space.hpp
  actors/plugin/policy_actor.hpp models/layer.hpp models/tensor_spec.hpp models/optimizer/tensor_update.hpp
  runtime/device/cpu/accounting_allocator.hpp runtime/base/bytes.hpp runtime/device/device.hpp runtime/device/device_request.hpp runtime/device/cuda/cuda_options.hpp runtime/base/fault.hpp
  runtime/base/ids.hpp runtime/base/option.hpp runtime/device/kernels/host_device.hpp runtime/device/kernels/keyed_random.hpp
  runtime/device/kernels/update_math.hpp runtime/device/link.hpp runtime/device/page_locker.hpp runtime/plugin/plugin_abi.hpp runtime/plugin/plugin_table.hpp runtime/device/precision.hpp runtime/device/cpu/tensor_pool.hpp
  runtime/device/ticket.hpp runtime/device/ticket_tracker.hpp runtime/base/unit.hpp runtime/device/work_meter.hpp)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${_interfaces})
set(_text "")
foreach(_header IN LISTS _interfaces)
  file(READ "${PROJECT_SOURCE_DIR}/${_header}" _content)
  string(APPEND _text "${_content}")
endforeach()
string(SHA256 HYDRA_INTERFACES "${_text}")
string(SUBSTRING "${HYDRA_INTERFACES}" 0 16 HYDRA_INTERFACES)
configure_file(cmake/interfaces.hpp.in include/hydra/interfaces.hpp @ONLY)
