#pragma once
// Which models of a run have ended, and when the memory of each may be given back: once it has ended and no unit of it is on
// any device.

#include "actors/protocol/release.hpp"
#include "runtime/base/ids.hpp"

#include <cstddef>
#include <optional>
#include <set>

namespace hydra {

class model_ends {
 public:
  /// False if it had ended before. `failed`: its parameters are of no use.
  bool end(model_id model, bool failed) {
    if (!ended_.insert(model).second) {
      return false;
    }
    if (!failed) {
      finished_.insert(model);
    }
    return true;
  }
  void drained(model_id model) { drained_.insert(model); }
  void released(model_id model) { released_.insert(model); }

  /// The command to give its memory back, once, when that may be done.
  std::optional<release_model> release(model_id model) {
    if (!ended_.contains(model) || !drained_.contains(model) || !releases_.insert(model).second) {
      return std::nullopt;
    }
    return release_model{model, finished_.contains(model)};
  }

  bool has_ended(model_id model) const { return ended_.contains(model); }
  std::size_t count() const noexcept { return ended_.size(); }
  const std::set<model_id>& all_released() const noexcept { return released_; }
  /// Memory of a model that has ended is still to be given back.
  bool awaits_release() const noexcept { return released_.size() < ended_.size(); }

 private:
  std::set<model_id> ended_;
  std::set<model_id> finished_;   ///< of these, those that did not fail
  std::set<model_id> drained_;    ///< have no unit on any device
  std::set<model_id> releases_;   ///< their memory is to be given back
  std::set<model_id> released_;   ///< it has been
};

}  // namespace hydra
