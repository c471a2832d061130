#include "partition/checkpoint/checkpoint.hpp"

#include <algorithm>

namespace hydra {

bool model_memory::at_step_begin() const noexcept {
  return std::ranges::all_of(versions, [&](version_index v) { return v == versions.front(); }) &&
         std::ranges::all_of(updates.shards, [](update_phase p) { return p == update_phase::waiting; }) &&
         std::ranges::none_of(homes, &shard_home::has_any_gradients);
}

std::uint32_t model_memory::step() const noexcept {
  return versions.empty() ? 0 : std::ranges::min(versions).value;
}

}  // namespace hydra
