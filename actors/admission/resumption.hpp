#pragma once
// The checkpoints from which the models of a session resume.

#include "actors/admission/prepared_model.hpp"
#include "partition/checkpoint/saved_model.hpp"
#include "partition/execute/sharded_model.hpp"
#include "partition/plan/cut.hpp"
#include "runtime/base/fault.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace hydra {

/// The properties of a model with which its checkpoints must agree.
struct resumed_model {
  std::string name;
  std::string identity;   ///< identity_of()
  cut_rule cuts;          ///< chosen by the user
  std::uint32_t abreast = 1;  ///< pieces side by side
  bool meets = false;         ///< its replicas meet, so there are no waves
  std::uint32_t steps = 0;
  learning_schedule schedule{};
  validation_options validate{};
  std::filesystem::path begins{};  ///< model_description::begins
  std::vector<std::string> trained{}, frozen{};  ///< names of its parameters, without tied copies
  bool clips = false;
  std::string weights{};  ///< the files that it starts from, for messages
};

resumed_model resumed(const model_description& m, const prepared_model& p);

/// The newest checkpoint of each model, with any cuts and waves, until the planner finds that these cuts do not fit.
class resumption {
 public:
  /// Without checkpoints.
  resumption() = default;
  /// Reads the folders below `root`, if one is given. A model that has no whole state there has that which it begins
  /// from, if it begins from one. The number of steps may differ from before if that does not change the steps that
  /// are done. Throws fault_error{bad_input} if a checkpoint belongs to another training.
  resumption(std::filesystem::path root, std::vector<resumed_model> models);

  /// Null: the model starts from the beginning.
  const saved_model* of(std::size_t model) const;
  /// Some model continues from what an earlier part of the run has saved.
  bool goes_on() const;
  /// Its checkpoint is from inside a step, and is continued with its cuts and waves.
  bool keeps_cuts(std::size_t model) const;
  /// How the planner must cut: a checkpoint from inside a step can be resumed only with its own cuts, so these are
  /// kept, unless the user has chosen others explicitly.
  cut_rule cuts_for(std::size_t model, const cut_rule& chosen) const;
  /// The same of waves: they are part of the position inside a step.
  std::uint32_t waves_for(std::size_t model, const parallel_options& chosen) const;
  /// The kept cuts do not fit: every model that keeps its cuts falls back to a checkpoint that can be resumed with any
  /// cuts. False if there is no such model. Throws fault_error{does_not_fit} if a model has no such checkpoint.
  bool give_up_cuts();
  /// The model was stopped after so many steps; without effect if its checkpoint is another one.
  void end_after(std::size_t model, std::uint32_t steps);
  /// Notes for the user: models that go back behind their newest checkpoint, or start from the beginning.
  const std::vector<std::string>& notes() const noexcept { return notes_; }

 private:
  void find(std::size_t model, checkpoint_use use);
  void find_own(std::size_t model, checkpoint_use use, std::vector<std::string>& passed_over);
  void tell_going_back(std::size_t model, const std::vector<std::string>& passed_over);
  void tell_of_earlier_damage();
  void tell_beginners();

  std::filesystem::path root_;
  std::vector<resumed_model> models_;
  std::vector<std::optional<saved_model>> saved_;
  std::set<std::size_t> gone_back_;
  std::vector<std::string> notes_;
};

/// What `plan` returns; where the cuts of checkpoints do not fit it is called once more, with checkpoints that any cuts
/// can continue.
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
