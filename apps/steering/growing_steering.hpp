#pragma once
// Steers a run to which models are added.

#include "apps/run_folder/stopped_models.hpp"
#include "apps/steering/steering.hpp"
#include "apps/workload/assemble.hpp"
#include "apps/workload/workload.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace hydra::apps {

/// A model that joins a run.
struct joining_model {
  model_description what;
  value table;                                ///< its [[model]]
  std::function<void(const fault&)> refused;  ///< it was added, had to wait, and cannot join
};

/// Models that are added are recorded in the run folder, workload.toml and added.toml, before they join: what continues
/// the run has them, too. Those that are stopped, in stopped.toml, before that is answered.
class growing_steering : public steering {
 public:
  /// `opener`, which has opened the workload's models, outlives it. `w`: as the run folder has it.
  growing_steering(workload w, model_opener& opener);

  /// The run has ended; its last status is that of the report.
  void ended(const report& r);

  nlohmann::ordered_json status() final;
  void stop(const std::string& model) final;
  std::string clone(const std::string& model, const std::vector<std::string>& changes) final;
  std::vector<std::string> add(const std::string& toml) final;
  void quit() final;

  /// Lets a copy of a trial join; nothing if it is there. Throws fault_error: {bad_input} if the other trial's newest
  /// state is another than the copy wants, or its name is taken, {refused} if the run ends.
  void copy(const trial_copy& wanted);
  virtual void copy_begun(const trial_copy& copy, bool joined) = 0;

 protected:
  // Of the run. Each throws fault_error{refused} if it is not under way.
  virtual run_status now() = 0;
  virtual void end(const std::string& model) = 0;
  virtual void interrupt() = 0;
  /// Saves the model, and says where under a name that later checkpoints do not replace. `steps`: a trial that waits
  /// there, or will.
  virtual std::filesystem::path keep(const std::string& model, std::optional<std::uint32_t> steps) = 0;
  virtual void queue(joining_model m) = 0;

 private:
  std::vector<std::string> join(const value_list& models);
  /// The table of a model of the run with another name and changed keys.
  value_list changed_copy(const std::string& name, const std::string& model,
                          const std::vector<std::string>& changes) const;
  std::filesystem::path saved(const std::string& model, std::optional<std::uint32_t> steps = {});
  value copy_of(const std::string& model) const;
  const model_entry* find(const std::string& model) const;
  std::string free_name(const std::string& like) const;
  /// One that was added and has waited cannot join.
  void note_refused(const std::string& model, const fault& why);
  /// Removes those from what the run folder records: a run that continues would be refused, too.
  void drop_refused();

  model_opener& opener_;
  std::mutex joining_;  ///< of the next two
  workload workload_;
  value_list added_;
  stopped_models stopped_;

  std::mutex refusing_;  ///< of the next one
  std::vector<std::string> refused_;

  std::mutex ending_;  ///< of the next one
  std::optional<run_status> last_;
  std::atomic<bool> quitting_ = false;
};

}  // namespace hydra::apps
