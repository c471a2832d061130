// A device type as a plug-in: `kind = "thread"` in a workload file.

#include "apps/examples/thread_device.hpp"

#include <hydra/plugin.hpp>

#include <thread>

/// Lines for `hydra devices`. One that finds nothing to compute with throws a fault_error that says what is missing.
std::vector<std::string> find_threads() {
  return {std::to_string(std::thread::hardware_concurrency()) + " hardware threads, three for each device"};
}

extern "C" const hydra_plugin* hydra_plugin_v1() {
  static const hydra_plugin plugin{
      hydra::plugin_abi,
      {hydra::offer_device<thread_device>(
          "thread", "a thread for each queue and an enforced budget, nothing emulated",
          {.options = {{.name = "memory",
                        .standard = hydra::byte_count{},
                        .required = true,
                        .help = "budget, enforced"}},
           .find = find_threads})}};
  return &plugin;
}
