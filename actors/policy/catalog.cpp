#include "actors/policy/catalog.hpp"

#include "actors/policy/fifo.hpp"
#include "actors/policy/random_choice.hpp"
#include "actors/policy/round_robin.hpp"
#include "actors/policy/sharded_lrtf.hpp"
#include "actors/policy/whole_model.hpp"
#include "runtime/fault.hpp"
#include "runtime/nearest.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace hydra {

namespace {

template <class Policy>
std::unique_ptr<policy> make(const policy_options&) {
  return std::make_unique<Policy>();
}

std::unique_ptr<policy> make_random(const policy_options& o) { return std::make_unique<random_choice>(o.seed); }

[[noreturn]] void refuse(const std::string& name, const std::vector<policy_entry>& table) {
  std::vector<std::string> names;
  std::ranges::transform(table, std::back_inserter(names), &policy_entry::name);
  const auto known = std::accumulate(names.begin() + 1, names.end(), names.front(),
                                     [](const std::string& a, const std::string& b) { return a + ", " + b; });
  const auto near = nearest_name(name, names);
  throw fault_error{fault_code::bad_input, "there is no policy \"" + name + "\"" +
                                               (near.empty() ? "" : "; did you mean \"" + near + "\"?") +
                                               " (known: " + known + ")"};
}

}  // namespace

const std::vector<policy_entry>& built_in_policies() {
  static const std::vector<policy_entry> table{
      {"sharded-lrtf", "longest remaining time first, shard by shard (the paper's)", {}, make<sharded_lrtf>},
      {"fifo", "the unit that has waited longest", {}, make<fifo>},
      {"round-robin", "one unit of each model in turn", {}, make<round_robin>},
      {"random", "any unit, the same ones for the same seed", {}, make_random},
      {"whole-model", "task parallelism: each device trains one model at a time", {}, make<whole_model>},
  };
  return table;
}

const policy_entry& find_policy(const std::vector<policy_entry>& table, const std::string& name) {
  const auto found = std::ranges::find(table, name, &policy_entry::name);
  if (found == table.end()) {
    refuse(name, table);
  }
  return *found;
}

std::unique_ptr<policy> make_policy(const std::string& name, const policy_options& options) {
  const auto& entry = find_policy(built_in_policies(), name);
  return entry.make(complete(options, entry.options, name));
}

std::unique_ptr<policy> make_policy(const std::string& name, std::uint64_t seed) {
  return make_policy(name, policy_options{.seed = seed});
}

}  // namespace hydra
