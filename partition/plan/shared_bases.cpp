#include "partition/plan/shared_bases.hpp"

#include "partition/plan/staging_search.hpp"
#include "runtime/memory/host_arena.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>

namespace hydra {

namespace {

/// Of the first layer that has frozen parameters; models that have it in common are fine-tunings of one model.
std::string first_content(const std::vector<std::string>& base) {
  const auto first = std::ranges::find_if(base, [](const auto& content) { return !content.empty(); });
  return first == base.end() ? std::string{} : *first;
}

bool may_move(const plan_request& m) { return !std::holds_alternative<cut_points>(m.cuts); }

}  // namespace

void cut_alike(std::span<const plan_request> models, const cut_limits& limits, std::vector<cut_points>& cuts) {
  std::map<std::pair<std::string, std::size_t>, std::vector<std::size_t>> groups;  // by first base and number of layers
  for (std::size_t i = 0; i < models.size(); ++i) {
    const auto first = first_content(models[i].base);
    if (!first.empty() && may_move(models[i])) {
      groups[{first, models[i].profile->layers.size()}].push_back(i);
    }
  }
  for (const auto& [base, members] : groups) {
    const auto finest = *std::ranges::max_element(members, {}, [&](std::size_t i) { return cuts[i].size(); });
    const auto chosen = cuts[finest];
    const auto all_fit = std::ranges::all_of(members, [&](std::size_t i) {
      return !missing_cut(chosen, *models[i].profile) && fits(demand_of(*models[i].profile, chosen), limits);
    });
    for (const auto i : members) {
      cuts[i] = all_fit ? chosen : cuts[i];
    }
  }
}

void name_bases(model_plan& plan, const std::vector<std::string>& base, model_id id, known_bases& known) {
  for (std::uint32_t s = 0; s < plan.shards.size(); ++s) {
    auto& shard = plan.shards[s];
    if (shard.base == byte_count{} || base.empty()) {
      continue;
    }
    const auto layers = std::span(base).subspan(shard.first_layer, shard.last_layer - shard.first_layer);
    const base_content content{shard.first_layer, {layers.begin(), layers.end()}};
    shard.shared_base = known.try_emplace(content, base_place{id, shard_index{s}}).first->second;
  }
}

std::optional<block_id> shared_name(const shard_plan& shard) {
  if (!shard.shared_base) {
    return std::nullopt;
  }
  return block_id{.model = shard.shared_base->model,
                  .replica = {},
                  .step = {},
                  .kind = block_kind::base,
                  .shard = shard.shared_base->shard,
                  .micro_batch = {}};
}

byte_count base_bytes(std::span<const model_plan> models) {
  byte_count sum;
  std::set<base_place> counted;
  for (const auto& m : models) {
    for (const auto& s : m.shards) {
      const bool again = s.shared_base && !counted.insert(*s.shared_base).second;
      sum += again ? byte_count{} : host_charge(s.base);
    }
  }
  return sum;
}

}  // namespace hydra
