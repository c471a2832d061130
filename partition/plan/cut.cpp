#include "partition/plan/cut.hpp"

#include "partition/profile/side_by_side.hpp"

#include "runtime/base/fault.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hydra {

namespace {

bool every_layer_fits(const chain_profile& profile, const cut_limits& limits) {
  for (std::size_t i = 0; i < profile.layers.size(); ++i) {
    if (!fits(demand_of(profile, i, i + 1), limits)) {
      return false;
    }
  }
  return true;
}

[[noreturn]] void refuse_cuts(const std::string& model, const std::string& why) {
  throw fault_error(
      fault_code::bad_input,
      fmt::format("model '{}': cuts: {}; give the first layer of each shard, ascending from 0", model, why));
}

}  // namespace

bool fits(const shard_demand& demand, const cut_limits& limits) noexcept {
  return demand.staging <= limits.staging && demand.computing <= limits.computing;
}

std::optional<cut_points> greedy(const chain_profile& profile, const cut_limits& limits) {
  if (!every_layer_fits(profile, limits)) {
    return std::nullopt;
  }
  cut_points cuts;
  for (std::size_t first = 0, last = 0; first < profile.layers.size(); first = last) {
    const auto goes_on = [&](std::size_t layer) {
      return layer < profile.layers.size() && !begins_shard(profile, layer) &&
             fits(demand_of(profile, first, layer + 1), limits);
    };
    for (last = first + 1; goes_on(last);) {
      ++last;
    }
    cuts.push_back(first);
  }
  return cuts;
}

void validate_cuts(const cut_points& cuts, std::size_t layers, const std::string& model) {
  if (cuts.empty() || cuts.front() != 0) {
    refuse_cuts(model, "the first shard has to start with layer 0");
  }
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    if (cuts[i] <= cuts[i - 1]) {
      refuse_cuts(model, fmt::format("{} does not come after {}", cuts[i], cuts[i - 1]));
    }
  }
  if (cuts.back() >= layers) {
    refuse_cuts(model, fmt::format("layer {} does not exist, the chain has layers 0 to {}", cuts.back(), layers - 1));
  }
}

std::optional<std::size_t> missing_cut(const cut_points& cuts, const chain_profile& profile) {
  for (std::size_t i = 1; i < profile.layers.size(); ++i) {
    if (begins_shard(profile, i) && !std::ranges::binary_search(cuts, i)) {
      return i;
    }
  }
  return std::nullopt;
}

void require_shards_of_pieces(const cut_points& cuts, const chain_profile& profile, const std::string& model) {
  if (const auto layer = missing_cut(cuts, profile)) {
    const auto* const why = *layer == profile.meets ? "replicas meet there" : "pieces are side by side";
    refuse_cuts(model, fmt::format("a shard has to begin with layer {}, because {}", *layer, why));
  }
}

std::size_t last_layer(const cut_points& cuts, std::size_t shard, std::size_t layers) {
  return shard + 1 < cuts.size() ? cuts[shard + 1] : layers;
}

}  // namespace hydra
