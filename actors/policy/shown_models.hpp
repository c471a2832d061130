#pragma once
// The models that a policy sees: those that have not left, in the order of their ids.

#include "actors/policy/policy.hpp"

#include <vector>

namespace hydra {

class shown_models {
 public:
  /// Adds a model, or replaces its state.
  void show(const model_state& state);
  void hide(model_id model);
  const std::vector<model_state>& all() const noexcept { return all_; }

 private:
  std::vector<model_state> all_;
};

}  // namespace hydra
