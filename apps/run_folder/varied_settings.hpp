#pragma once
// What tells the models of a run apart: the values of a grid or a search, and what was written for each.

#include <map>
#include <string>
#include <vector>

namespace hydra::apps {

struct value_table;

struct varied_settings {
  std::vector<std::string> keys;                           ///< dotted paths in [[model]]
  std::map<std::string, std::vector<std::string>> values;  ///< by model; one for each key, as TOML, "-" without the key
};

/// From the [[model]] tables of a workload as it was run. No keys: the models differ in nothing, or there is one.
varied_settings varied_in(const value_table& workload);

}  // namespace hydra::apps
