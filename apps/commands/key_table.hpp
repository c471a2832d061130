#pragma once
// Prints the keys of a table for people.

#include "apps/workload/key_rule.hpp"

#include <string>
#include <vector>

namespace hydra::apps {

/// One indented line for each key: name, default ("required" if it has none), what it is, what is allowed.
std::string key_table(const std::vector<key_rule>& keys);

}  // namespace hydra::apps
