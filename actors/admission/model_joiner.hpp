#pragma once
// Gives the models of a run their memory: those of its start as planned, those that come later (that join it, have
// waited for memory, or were paused) after the same steps as before a run, with the memory that is left.

#include "actors/admission/loaded_model.hpp"
#include "actors/admission/planned_workload.hpp"
#include "actors/protocol/joining.hpp"
#include "actors/run/device_set.hpp"
#include "actors/run/session_options.hpp"
#include "partition/execute/kept_parameters.hpp"

#include <atomic>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace hydra {

/// The run that models join. The arena outlives the joiner.
struct joining_setup {
  session_options options;
  std::vector<device_entry> devices;     ///< created again if something has to be measured
  planned_workload& planned;             ///< before the run; outlives the joiner
  std::set<model_id> waiting{};          ///< models of it that have no memory yet
  host_arena* arena = nullptr;
  kept_parameters* kept = nullptr;       ///< given up if a model that joins needs the memory; may be null
  std::shared_ptr<spdlog::logger> log;
};

/// A model that joins is cut for the run's staging bytes, so that the other models continue as planned; one that the
/// run has planned keeps its cuts. Not thread-safe.
class model_joiner {
 public:
  explicit model_joiner(joining_setup setup);

  /// The models of the start: their memory is allocated and filled. Those that wait have none, and their data are
  /// closed until they have. Before any other is prepared. Throws fault_error{out_of_memory}, {io}.
  std::vector<model_entry> begin(const std::vector<model_description>& models);

  /// Opens its data, measures its layers unless they are known, cuts it, allocates its memory. Throws fault_error:
  /// {bad_input} if another model of the run has, or had, its name, {does_not_fit} with the needed and the available
  /// bytes if it would not fit alone, {out_of_memory} if it does not fit beside those that have memory now, {refused}
  /// once cancelled.
  model_entry prepare(const admission_request& r);

  /// From any thread: no model is prepared any more; the one that is being prepared is given up after its current phase
  /// (opening data, measuring, planning, loading).
  void cancel() noexcept { cancelled_ = true; }

  /// All profiles that plans refer to, including those of the run.
  const profile_set& profiles() const noexcept { return plan_.profiles; }
  /// Notes for the user about the checkpoints from which models were resumed.
  const std::vector<std::string>& notes() const noexcept { return notes_; }

 private:
  void go_on(const std::string& name) const;
  model_entry loaded(const sharded_model_ptr& m, const model_data& data, const saved_model* saved, model_id id);
  prepared_model measured(const model_description& m);
  void make_devices(std::optional<device_set>& devices, const std::string& model) const;
  double remaining_scale(const model_description& m, const prepared_model& p, const model_plan& plan) const;
  model_plan planned(const admission_request& r, const prepared_model& p, const resumption& begins) const;
  void forget_earlier_best(const std::string& model, bool continues) const;
  resumption checkpoint_of(const admission_request& r, const prepared_model& p) const;
  void fit_host(model_plan& plan) const;
  std::vector<model_plan> active() const;
  byte_count host_needed(const model_plan& joining) const;
  bool fits_pool(const model_plan& joining) const;
  void check_alone(const model_plan& plan) const;
  void check_name(const admission_request& r) const;
  void forget(const admission_request& r);
  void keep(model_id model, model_plan plan, const prepared_model& p);
  using held_bases = std::map<base_place, host_block_ptr>;
  held_bases hold_bases() const;
  void name_bases(model_plan& plan, model_id model, const std::vector<std::string>& base, const held_bases& held);

  byte_count beside_pool(const model_plan& joining) const;

  joining_setup setup_;
  workload_plan plan_;                   ///< with the models that have joined; those without memory have no shards
  bases_in_memory bases_;
  std::set<model_id> pooled_;            ///< models whose transfers are counted in the pinned pool
  std::map<model_id, cut_points> cuts_;  ///< that models of the run were planned with
  std::vector<std::string> notes_;
  std::atomic<bool> cancelled_{false};
};

}  // namespace hydra
