#include "apps/commands/commands.hpp"

#include "apps/commands/key_table.hpp"
#include "apps/workload/chain_keys.hpp"
#include "models/families/architecture.hpp"
#include "models/families/catalog.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

namespace hydra::apps {

namespace {

std::vector<std::string> names_of_architectures() {
  std::vector<std::string> names;
  for (const architecture& a : architectures()) names.push_back(a.name);
  return names;
}

int list_families() {
  const table_rules rules = chain_rules();
  for (const family& f : families()) fmt::print("{}  {}\n{}", f.name, f.help, key_table(rules.variant(f.name)->keys));
  fmt::print("from  in place of a family: a checkpoint, as Hugging Face's libraries write it, of {}\n{}",
             fmt::join(names_of_architectures(), ", "), key_table(rules.variant("from")->keys));
  return 0;
}

}  // namespace

command_action declare_families(command_line&) { return list_families; }

}  // namespace hydra::apps
