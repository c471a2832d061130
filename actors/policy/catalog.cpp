#include "actors/policy/catalog.hpp"

#include "actors/policy/band.hpp"
#include "actors/policy/fifo.hpp"
#include "actors/policy/level.hpp"
#include "actors/policy/lla.hpp"
#include "actors/policy/lpt.hpp"
#include "actors/policy/random_choice.hpp"
#include "actors/policy/round_robin.hpp"
#include "actors/policy/sharded_lrtf.hpp"
#include "actors/policy/srtf.hpp"
#include "actors/policy/whole_model.hpp"
#include "runtime/fault.hpp"
#include "runtime/nearest.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace hydra {

namespace {

template <class Policy>
std::unique_ptr<policy> make(std::uint64_t) {
  return std::make_unique<Policy>();
}

std::unique_ptr<policy> make_random(std::uint64_t seed) { return std::make_unique<random_choice>(seed); }

std::unique_ptr<policy> make_band(std::uint64_t) { return std::make_unique<band>(band_options{.hold = false}); }
std::unique_ptr<policy> make_stay(std::uint64_t) { return std::make_unique<band>(band_options{.stay = true}); }

[[noreturn]] void refuse(const std::string& name) {
  std::vector<std::string> names;
  std::ranges::transform(built_in_policies(), std::back_inserter(names), &policy_entry::name);
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
      {"sharded-lrtf", "longest remaining time first, shard by shard (the paper's)", make<sharded_lrtf>},
      {"lla", "least laxity: critical models first, else the least transfer", make<lla>},
      {"level", "for devices of several speeds: the longest models on the fastest", make<level>},
      {"band", "lla on equal devices, level with affinity on others", make_band},
      {"band-hold", "band, and a slot is kept for a critical model while its step turns", make<band>},
      {"stay-hold", "band-hold that keeps models on their devices, where there are three slots or more", make_stay},
      {"srtf", "the shortest remaining time, for mean completion", make<srtf>},
      {"lpt", "the longest next unit", make<lpt>},
      {"fifo", "the unit that has waited longest", make<fifo>},
      {"round-robin", "one unit of each model in turn", make<round_robin>},
      {"random", "any unit, the same ones for the same seed", make_random},
      {"whole-model", "task parallelism: each device trains one model at a time", make<whole_model>},
  };
  return table;
}

std::unique_ptr<policy> make_policy(const std::string& name, std::uint64_t seed) {
  const auto& table = built_in_policies();
  const auto found = std::ranges::find(table, name, &policy_entry::name);
  if (found == table.end()) {
    refuse(name);
  }
  return found->make(seed);
}

}  // namespace hydra
