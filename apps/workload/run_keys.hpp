#pragma once
// [run], [host] and [ablation]: what holds for the whole run.

#include "actors/session/session.hpp"
#include "apps/workload/key_rule.hpp"
#include "apps/workload/value.hpp"

#include <filesystem>
#include <string>

namespace hydra::apps {

table_rules run_rules();
table_rules host_rules();
table_rules ablation_rules();

/// The run folder, by `output` or by the name of the run. Nothing need be checked; `name`: as below.
std::filesystem::path output_of(const value_table& root, const std::string& name);

/// Of a checked file. `name` is the default name of the run; the default output folder follows from it.
session_options read_session_options(const value_table& root, const std::string& name);

}  // namespace hydra::apps
