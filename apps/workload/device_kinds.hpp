#pragma once
// [[device]]: a table of kinds. To add one: write how its keys become a device, add one row.

#include "actors/session.hpp"
#include "apps/workload/key_rule.hpp"
#include "apps/workload/value.hpp"
#include "runtime/cpu_device.hpp"

#include <functional>
#include <string>
#include <vector>

namespace hydra::apps {

struct device_kind {
  std::string name;
  std::string help;
  std::vector<key_rule> keys;  ///< besides `kind` and `count`
  /// Adds `count` devices described by a checked table.
  std::function<void(session&, int count, const value_table& keys)> add;
};

const std::vector<device_kind>& device_kinds();

table_rules device_rules();

/// The `kind = "cpu"` of a checked table.
cpu_device read_cpu_device(const value_table& keys);

}  // namespace hydra::apps
