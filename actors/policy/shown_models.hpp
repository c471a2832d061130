#pragma once
// The lanes that a policy sees: of the models that have not left, in the order of models and lanes.

#include "actors/policy/policy.hpp"

#include <vector>

namespace hydra {

class shown_models {
 public:
  /// Adds a lane, or replaces its state.
  void show(const model_state& state);
  void hide(model_id model);
  const std::vector<model_state>& all() const noexcept { return all_; }

 private:
  std::vector<model_state> all_;
};

}  // namespace hydra
