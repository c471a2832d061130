#include "actors/policy/catalog.hpp"

#include "actors/policy/band.hpp"
#include "actors/policy/fifo.hpp"
#include "actors/policy/gpipe.hpp"
#include "actors/policy/interleaved.hpp"
#include "actors/policy/level.hpp"
#include "actors/policy/lla.hpp"
#include "actors/policy/lpt.hpp"
#include "actors/policy/naive_pipeline.hpp"
#include "actors/policy/one_f_one_b.hpp"
#include "actors/policy/random_choice.hpp"
#include "actors/policy/round_robin.hpp"
#include "actors/policy/sharded_lrtf.hpp"
#include "actors/policy/srtf.hpp"
#include "actors/policy/stay_pace.hpp"
#include "actors/policy/whole_model.hpp"
#include "runtime/base/nearest.hpp"

namespace hydra {

namespace {

template <class Policy>
std::unique_ptr<policy> make(const policy_options&) {
  return std::make_unique<Policy>();
}

std::unique_ptr<policy> make_random(const policy_options& o) { return std::make_unique<random_choice>(o.seed); }

critical_margin margin_of(const policy_options& o) {
  return {.units = o.values.at("critical_units"), .share = o.values.at("critical_share")};
}

std::unique_ptr<policy> make_lla(const policy_options& o) { return std::make_unique<lla>(margin_of(o)); }
std::unique_ptr<policy> make_band(const policy_options& o) {
  return std::make_unique<band>(band_options{.margin = margin_of(o), .hold = false});
}
std::unique_ptr<policy> make_hold(const policy_options& o) {
  return std::make_unique<band>(band_options{.margin = margin_of(o)});
}
std::unique_ptr<policy> make_stay(const policy_options& o) {
  return std::make_unique<band>(band_options{.margin = margin_of(o), .stay = true});
}
std::unique_ptr<policy> make_stay_pace(const policy_options& o) {
  return std::make_unique<stay_pace>(
      stay_pace_options{.margin = margin_of(o), .stay_units = o.values.at("stay_units")});
}
std::unique_ptr<policy> make_srtf(const policy_options& o) { return std::make_unique<srtf>(o.values.at("affinity")); }

std::vector<option> margin_options(const critical_margin& standard) {
  return {
      {"critical_units",
       standard.units,
       false,
       "a model is critical (it may end last) if it has at most this many of its longest units to spare ...",
       {0, 1000}},
      {"critical_share",
       standard.share,
       false,
       "... and this share of the time that all remaining work needs at least",
       {0, 1}},
  };
}

std::vector<option> stay_pace_options_known() {
  const stay_pace_options standard;
  auto known = margin_options(standard.margin);
  known.push_back({"stay_units", standard.stay_units, false,
                   "on devices of several speeds one stays with its model for a lead of this many units", {0, 1000}});
  return known;
}

const std::vector<option> srtf_options{
    {"affinity",
     0.0,
     false,
     "a device stays with its model while that is this many of its units longer, or fewer",
     {0, 1000}},
};

}  // namespace

const std::vector<policy_entry>& built_in_policies() {
  static const std::vector<policy_entry> table{
      {"sharded-lrtf", "longest remaining time first, shard by shard (the paper's)", {}, make<sharded_lrtf>},
      {"lla", "least laxity: first the models that may end last, else the least transfer", margin_options({}),
       make_lla},
      {"level", "for devices of several speeds: the longest models on the fastest", {}, make<level>},
      {"band", "lla on equal devices, level with affinity on others", margin_options({}), make_band},
      {"band-hold", "band, and a slot is kept for a critical model at its step boundary", margin_options({}),
       make_hold},
      {"stay-hold", "band-hold that keeps models where they are; for three slots or more", margin_options({}),
       make_stay},
      {"stay-pace", "a device stays with its model until another one may end last at the pace measured so far",
       stay_pace_options_known(), make_stay_pace},
      {"srtf", "the shortest remaining time by priority, for mean completion", srtf_options, make_srtf},
      {"lpt", "the longest next unit", {}, make<lpt>},
      {"fifo", "the unit that has waited longest", {}, make<fifo>},
      {"round-robin", "one unit of each model in turn", {}, make<round_robin>},
      {"random", "any unit, the same ones for the same seed", {}, make_random},
      {"whole-model", "task parallelism: each device trains one model at a time", {}, make<whole_model>},
      {"naive-pipeline", "model parallelism: each shard keeps to its device", {}, make<naive_pipeline>},
      {"gpipe", "the same, and all forward visits of a step come before its first backward visit", {}, make<gpipe>},
      {"one-f-one-b", "the same stages; backward visits first, few waves under way", {}, make<one_f_one_b>},
      {"interleaved", "1F1B with several chunks of a model on each device, in Megatron's order", {}, make<interleaved>},
  };
  return table;
}

const policy_entry& find_policy(const std::vector<policy_entry>& table, const std::string& name) {
  return find_known("there is no policy", table, name, &policy_entry::name);
}

std::unique_ptr<policy> make_policy(const std::string& name, const policy_options& options) {
  const auto& entry = find_policy(built_in_policies(), name);
  return entry.make(complete(options, entry.options, name));
}

std::unique_ptr<policy> make_policy(const std::string& name, std::uint64_t seed) {
  return make_policy(name, policy_options{.seed = seed});
}

}  // namespace hydra
