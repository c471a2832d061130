#pragma once
// Study files (TOML): which policies on which instances. apps/studies/README.md describes the keys.

#include "actors/simulation/generator.hpp"
#include "apps/simulate/instance_runs.hpp"
#include "apps/workload/key_rule.hpp"
#include "apps/workload/place.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hydra::apps {

/// A row of the study's table: similar instances.
struct study_cell {
  std::string name;
  std::string note;
  place where;
  std::vector<std::filesystem::path> files;  ///< instances to read, or
  std::optional<instance_recipe> recipe;     ///< generates `repeat` instances, with consecutive seeds
  std::uint32_t repeat = 1;
  std::vector<listed_policy> policies;
};

struct study {
  std::string name;
  std::string note;
  std::vector<driver_options> drivers;
  std::vector<study_cell> cells;

  /// The policies of all cells, in the order in which they are first named.
  std::vector<std::string> policies() const;
};

table_rules study_rules();

/// Throws fault_error{bad_input} with `file:line: key: what is wrong, what is allowed`. Relative paths in it start at
/// the working directory.
study read_study(const std::filesystem::path& file);
study parse_study(std::string_view text, const std::string& name);

/// Instance number `i` of a cell. Throws fault_error{bad_input}, with the cell's place in front.
schedule_instance instance_of(const study_cell& cell, std::size_t i);
std::size_t count_instances(const study_cell& cell);

}  // namespace hydra::apps
