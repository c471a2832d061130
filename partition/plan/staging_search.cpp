#include "partition/plan/staging_search.hpp"

#include "partition/plan/best_staging.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace hydra {

namespace {

std::vector<byte_count> ascending(std::vector<byte_count> all) {
  std::ranges::sort(all);
  const auto repeated = std::ranges::unique(all);
  all.erase(repeated.begin(), repeated.end());
  return all;
}

cut_cost cost_of(const chain_profile& profile, const cut_points& cuts) {
  cut_cost cost{cuts.size(), {}};
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    cost.largest = std::max(cost.largest, visit_time(profile, cuts[i], last_layer(cuts, i, profile.layers.size())));
  }
  return cost;
}

}  // namespace

shard_demand demand_of(const chain_profile& profile, const cut_points& cuts) {
  shard_demand most;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    most = larger(most, demand_of(profile, cuts[i], last_layer(cuts, i, profile.layers.size())));
  }
  return most;
}

cut_points simplest_cuts(const plan_request& m) {
  if (const auto* given = std::get_if<cut_points>(&m.cuts)) {
    return *given;
  }
  cut_points all(m.profile->layers.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

staging_search::staging_search(std::span<const plan_request> models, byte_count usable)
    : models_(models), usable_(usable) {
  std::vector<byte_count> staging_sizes;
  for (const auto& m : models) {
    if (const auto* given = std::get_if<cut_points>(&m.cuts)) {
      validate_cuts(*given, m.profile->layers.size(), m.name);
      require_shards_of_pieces(*given, *m.profile, m.name);
      staging_sizes.push_back(demand_of(*m.profile, *given).staging);
    }
    const auto [table, added] = tables_.try_emplace(m.profile, *m.profile, usable);
    for (std::size_t i = 0; added && i < table->second.layers(); ++i) {
      const auto row = table->second.from(i);
      std::ranges::transform(row, std::back_inserter(staging_sizes),
                             [](const chain_piece& p) { return p.demand.staging; });
    }
  }
  std::erase_if(staging_sizes, [&](byte_count staging) { return staging > usable; });
  staging_sizes_ = ascending(std::move(staging_sizes));
}

std::optional<cut_cost> staging_search::cost_of(const plan_request& m, const cut_limits& limits, bool exact) const {
  if (const auto* rule = std::get_if<balanced_cut>(&m.cuts)) {
    return balanced_cuts(pieces_of(m), limits, *rule).cost();
  }
  if (std::holds_alternative<cut_points>(m.cuts) || exact) {
    const auto cuts = cut(m, limits);
    return cuts ? std::optional(hydra::cost_of(*m.profile, *cuts)) : std::nullopt;
  }
  // A larger limit may make a greedy cut worse, but never better than the best cut.
  const auto best = balanced_cuts(pieces_of(m), limits).cost();
  return best ? std::optional(cut_cost{best->shards, {}}) : std::nullopt;
}

/// No candidate in [low, high] leaves more bytes to computing than `low`, or to staging than `high`.
std::optional<cut_cost> staging_search::cost(byte_count low, byte_count high) const {
  const cut_limits limits{.computing = usable_ - low, .staging = high};
  std::map<std::tuple<const chain_profile*, std::size_t, std::size_t>, std::optional<cut_cost>> known;  // grids share
  cut_cost all;
  for (const auto& m : models_) {
    const bool by_rule = !std::holds_alternative<cut_points>(m.cuts);
    const auto* balanced = std::get_if<balanced_cut>(&m.cuts);
    const std::tuple rule{m.profile, m.cuts.index(), balanced ? balanced->shards : 0};
    auto one = by_rule ? known[rule] : std::nullopt;
    if (!one) {
      one = cost_of(m, limits, low == high);
    }
    if (!one) {
      return std::nullopt;
    }
    if (by_rule) {
      known[rule] = one;
    }
    all = {all.shards + one->shards, std::max(all.largest, one->largest * m.micro_batches)};
  }
  return all;
}

std::optional<cut_points> staging_search::cut(const plan_request& m, const cut_limits& limits) const {
  if (const auto* given = std::get_if<cut_points>(&m.cuts)) {
    return fits(demand_of(*m.profile, *given), limits) ? std::optional(*given) : std::nullopt;
  }
  if (std::holds_alternative<greedy_cut>(m.cuts)) {
    return greedy(*m.profile, limits);
  }
  const balanced_cuts balanced(pieces_of(m), limits, std::get<balanced_cut>(m.cuts));
  return balanced.cost() ? std::optional(balanced.cuts()) : std::nullopt;
}

std::optional<cut_set> staging_search::best() const {
  const auto staging =
      best_staging(staging_sizes_, [this](byte_count low, byte_count high) { return cost(low, high); });
  if (!staging) {
    return std::nullopt;
  }
  cut_set set{.staging = *staging, .cuts = {}};
  for (const auto& m : models_) {
    set.cuts.push_back(cut(m, {.computing = usable_ - *staging, .staging = *staging}).value());
  }
  return set;
}

std::optional<cut_points> staging_search::cuts_within(std::size_t model, byte_count staging) const {
  if (staging > usable_) {
    return std::nullopt;
  }
  return cut(models_[model], {.computing = usable_ - staging, .staging = staging});
}

std::optional<byte_count> staging_search::least_of(const plan_request& m, byte_count staging) const {
  if (std::holds_alternative<balanced_cut>(m.cuts)) {
    return least_computing(pieces_of(m), staging);
  }
  const auto demand = demand_of(*m.profile, simplest_cuts(m));
  return demand.staging <= staging ? std::optional(demand.computing) : std::nullopt;
}

std::optional<byte_count> staging_search::least() const {
  const auto bytes = [this](byte_count low, byte_count high) -> std::optional<byte_count> {
    byte_count computing;
    for (const auto& m : models_) {
      const auto one = least_of(m, high);
      if (!one) {
        return std::nullopt;
      }
      computing = std::max(computing, *one);
    }
    return low + computing;
  };
  const auto staging = best_staging(staging_sizes_, bytes);
  return staging ? bytes(*staging, *staging) : std::nullopt;
}

}  // namespace hydra
