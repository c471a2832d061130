#pragma once
// Recipes of generated instances, as users write them: "hetero:models=24,rho=0.5" on the command line, the same keys in
// a cell of a study.

#include "actors/simulation/generator.hpp"
#include "apps/workload/key_rule.hpp"
#include "apps/workload/value.hpp"

#include <string>
#include <vector>

namespace hydra::apps {

std::vector<std::string> family_names();

/// All keys but the family.
std::vector<key_rule> recipe_keys();

/// From a checked table. Throws fault_error{bad_input} with its place for speeds that cannot be read.
instance_recipe read_recipe(const std::string& family, const value_table& table);

/// FAMILY[:KEY=VALUE,...]. Throws fault_error{bad_input} that names the option and the key.
instance_recipe parse_recipe(const std::string& text);

/// generate(), its refusals with `where` in front.
schedule_instance generate_at(const instance_recipe& recipe, const place& where, const std::string& key);

}  // namespace hydra::apps
