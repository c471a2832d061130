#include "apps/commands/commands.hpp"

#include "actors/session/device_registry.hpp"
#include "apps/commands/key_table.hpp"
#include "apps/commands/shared_options.hpp"
#include "apps/steering/control_client.hpp"
#include "apps/steering/status_table.hpp"
#include "apps/workload/device_kinds.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/memory/host_memory.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace hydra::apps {

namespace {

/// What this machine has of a kind that a plug-in provides, or why it has none.
std::vector<std::string> lines_about(const std::string& kind, device_registry& registry) {
  try {
    const known_device known = registry.find(kind);
    std::vector<std::string> lines = known.about.find ? known.about.find() : std::vector<std::string>{};
    for (std::string& line : lines) line = "here: " + line;
    return lines;
  } catch (...) {
    return {"not usable here: " + to_fault(std::current_exception()).text};
  }
}

int list_devices(const std::vector<std::string>& plugins) {
  device_registry registry;
  for (const std::string& file : plugins) registry.load(file);
  fmt::print("this machine: {} cores, {} of host memory available\n\n", std::thread::hardware_concurrency(),
             to_string(available_host_memory()));
  for (const device_kind& kind : device_kinds_with(registry.all())) {
    fmt::print("{}  {}\n{}", kind.name, kind.help, key_table(kind.keys));
    if (!kind.of_plugin) continue;
    for (const std::string& line : lines_about(kind.name, registry)) fmt::print("    {}\n", line);
  }
  return 0;
}

int list_nodes(const std::string& run) {
  fmt::print("{}", devices_table(ask_run(run, {{"command", "status"}})));
  return 0;
}

}  // namespace

command_action declare_devices(command_line& line) {
  struct given {
    std::vector<std::string> plugins;
    std::optional<std::string> cluster;
  };
  auto o = std::make_shared<given>();
  add_plugin_option(line, o->plugins);
  line.add_option("--cluster", o->cluster,
                  "folder of a run of hydra train --listen that is under way: lists the devices of its nodes instead");
  return [o] { return o->cluster ? list_nodes(*o->cluster) : list_devices(o->plugins); };
}

}  // namespace hydra::apps
