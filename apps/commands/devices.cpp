#include "apps/commands/devices.hpp"

#include "apps/commands/key_table.hpp"
#include "apps/workload/device_kinds.hpp"
#include "runtime/host_memory.hpp"

#include <fmt/format.h>

#include <thread>

namespace hydra::apps {

namespace {

int list_devices() {
  fmt::print("this machine: {} cores, {} of host memory available\n\n", std::thread::hardware_concurrency(),
             to_string(available_host_memory()));
  for (const device_kind& kind : device_kinds()) fmt::print("{}  {}\n{}", kind.name, kind.help, key_table(kind.keys));
  return 0;
}

}  // namespace

command_action declare_devices(CLI::App&) { return list_devices; }

}  // namespace hydra::apps
