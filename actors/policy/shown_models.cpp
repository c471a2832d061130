#include "actors/policy/shown_models.hpp"

#include <algorithm>

namespace hydra {

void shown_models::show(const model_state& state) {
  if (state.model.value < all_.size() && all_[state.model.value].model == state.model) {
    all_[state.model.value] = state;  // always, until a model has left
    return;
  }
  const auto at = std::ranges::lower_bound(all_, state.model, {}, &model_state::model);
  if (at != all_.end() && at->model == state.model) {
    *at = state;
  } else {
    all_.insert(at, state);
  }
}

void shown_models::hide(model_id model) {
  std::erase_if(all_, [model](const model_state& s) { return s.model == model; });
}

}  // namespace hydra
