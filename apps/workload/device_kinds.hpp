#pragma once
// [[device]]: a table of kinds. To add one: write how its keys become a device, add one row. Plug-ins add theirs.

#include "actors/session/device_registry.hpp"
#include "actors/session/session.hpp"
#include "apps/workload/key_rule.hpp"
#include "apps/workload/value.hpp"
#include "runtime/device/cpu/cpu_device.hpp"

#include <functional>
#include <string>
#include <vector>

namespace hydra::apps {

struct device_kind {
  std::string name;
  std::string help;
  std::vector<key_rule> keys;  ///< in addition to `kind` and `count`
  bool of_plugin = false;      ///< a plug-in offers it, perhaps one of Hydra's own
  /// Adds `count` devices described by a checked table, whose place is named if one of them cannot be made.
  std::function<void(session&, int count, const value& keys)> add;
};

/// Those that every Hydra knows, whether or not their plug-ins are present.
const std::vector<device_kind>& device_kinds();

/// The same and those that the plug-ins offer. Throws fault_error{bad_input} for an option that cannot be a key.
std::vector<device_kind> device_kinds_with(const std::vector<known_device>& offered);

/// One [[device]]; its keys are checked.
struct device_entry {
  device_kind kind;
  int count = 1;
  value keys;
};

table_rules device_rules(const std::vector<device_kind>& kinds);

/// Throws fault_error{bad_input} for the table whose devices, with those before, are more than a run can have.
void check_device_count(const std::vector<device_entry>& devices);

/// The precision of all devices, as far as their tables say it: it decides results, so tables that differ are refused.
number_formats common_formats(const std::vector<device_entry>& devices);

/// The `kind = "cpu"` of a checked table.
cpu_device read_cpu_device(const value_table& keys);

}  // namespace hydra::apps
