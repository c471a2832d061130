#include "apps/commands/families.hpp"

#include "apps/commands/key_table.hpp"
#include "apps/workload/chain_keys.hpp"
#include "models/catalog.hpp"

#include <fmt/format.h>

namespace hydra::apps {

namespace {

int list_families() {
  const table_rules rules = chain_rules();
  for (const family& f : families()) fmt::print("{}  {}\n{}", f.name, f.help, key_table(rules.variant(f.name)->keys));
  return 0;
}

}  // namespace

command_action declare_families(CLI::App&) { return list_families; }

}  // namespace hydra::apps
