#pragma once
// What the models of a session go on from.

#include "actors/admission/prepared_model.hpp"
#include "partition/execute/sharded_model.hpp"
#include "partition/plan/cut.hpp"
#include "runtime/base/fault.hpp"
#include "partition/checkpoint/saved_model.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hydra {

/// A model of the session as far as its checkpoints must agree with it.
struct resumed_model {
  std::string name;
  std::string identity;   ///< identity_of()
  cut_rule cuts;          ///< that the user has chosen
  std::uint32_t steps = 0;
  learning_schedule schedule{};
  validation_options validate{};
};

resumed_model resumed(const model_description& m, const prepared_model& p);

/// The newest checkpoint of each model, whatever its cuts, until the planner finds that these cannot be kept.
class resumption {
 public:
  /// Nothing to go on from.
  resumption() = default;
  /// Looks below `root`. A model may end with another step than before if that leaves what is done as it is. Throws
  /// fault_error{bad_input} if a checkpoint is of another training.
  resumption(std::filesystem::path root, std::vector<resumed_model> models);

  /// Null: the model starts from the beginning.
  const saved_model* of(std::size_t model) const;
  /// How the planner is to cut: a checkpoint from inside a step goes on with its cuts only, so these stay, unless the user
  /// has chosen others by name.
  cut_rule cuts_for(std::size_t model, const cut_rule& chosen) const;
  /// The kept cuts do not fit: every model that has some goes back to a checkpoint that any cuts can take up. False if
  /// there is no such model. Throws fault_error{does_not_fit} if a model has none.
  bool give_up_cuts();
  /// What a user should know: what was passed over, which of several starts from the beginning.
  const std::vector<std::string>& notes() const noexcept { return notes_; }

 private:
  bool keeps_cuts(std::size_t model) const;
  void find(std::size_t model, bool inside_step);
  void tell_beginners();

  std::filesystem::path root_;
  std::vector<resumed_model> models_;
  std::vector<std::optional<saved_model>> saved_;
  std::vector<std::string> notes_;
};

/// What `plan` returns; where the cuts of checkpoints do not fit it is called once more, with checkpoints that any cuts can
/// continue.
template <class Plan>
auto plan_resumed(resumption& begins, const Plan& plan) {
  try {
    return plan();
  } catch (const fault_error& e) {
    if (e.what_happened().code != fault_code::does_not_fit || !begins.give_up_cuts()) {
      throw;
    }
  }
  return plan();
}

/// True if the checkpoint is of the model's end: nothing is left to compute, nothing to step.
bool is_at_end(const saved_model& saved, const sharded_model& m);

}  // namespace hydra
