#include "actors/policy/shown_models.hpp"

#include <algorithm>
#include <utility>

namespace hydra {

void shown_models::show(const model_state& state) {
  const auto key = [](const model_state& s) { return std::pair{s.model, s.lane}; };
  if (state.model.value < all_.size() && key(all_[state.model.value]) == key(state)) {
    all_[state.model.value] = state;  // always with one lane a model, until a model has left
    return;
  }
  const auto at = std::ranges::lower_bound(all_, key(state), {}, key);
  if (at != all_.end() && key(*at) == key(state)) {
    *at = state;
  } else {
    all_.insert(at, state);
  }
}

void shown_models::hide(model_id model) {
  std::erase_if(all_, [model](const model_state& s) { return s.model == model; });
}

}  // namespace hydra
