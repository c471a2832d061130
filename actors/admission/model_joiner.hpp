#pragma once
// Prepares models that join a run that is under way: the same steps as before a run, with the memory that is left.

#include "actors/admission/loaded_model.hpp"
#include "actors/admission/prepared_model.hpp"
#include "actors/protocol/model_entry.hpp"
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

class resumption;

/// The run that a model joins. The arena outlives the joiner.
struct joining_setup {
  session_options options;
  std::vector<device_entry> devices;     ///< created again if something has to be measured
  std::vector<device_info> machines;
  workload_plan plan;                    ///< of the run
  std::string setting;                   ///< of the pilot that measured its profiles
  known_rates device_updates{};          ///< of the run's devices
  host_arena* arena = nullptr;
  bases_in_memory bases{};
  kept_parameters* kept = nullptr;       ///< given up if a model that joins needs the memory; may be null
  std::shared_ptr<spdlog::logger> log;
};

/// A model that joins is cut for the run's staging bytes, so that the other models continue as planned. Not
/// thread-safe.
class model_joiner {
 public:
  explicit model_joiner(joining_setup setup);

  /// Opens its data, measures its layers unless they are known, cuts it, allocates its memory. `released`: models that
  /// have no memory any more, whose plans are removed. Throws fault_error: {bad_input} if a model of the run has, or
  /// had, its name, {does_not_fit} with the needed and the available bytes, {refused} once cancelled.
  model_entry prepare(const model_description& m, const std::set<model_id>& released);

  /// From any thread: no model is prepared any more; the one that is being prepared is given up after its current phase
  /// (opening data, measuring, planning, loading).
  void cancel() noexcept { cancelled_ = true; }

  /// All profiles that plans refer to, including those of the run.
  const profile_set& profiles() const noexcept { return setup_.plan.profiles; }
  /// Notes for the user about the checkpoints from which models were resumed.
  const std::vector<std::string>& notes() const noexcept { return notes_; }

 private:
  void go_on(const std::string& name) const;
  stepping_terms stepping() const;
  prepared_model measured(const model_description& m);
  void make_devices(std::optional<device_set>& devices, const std::string& model) const;
  double remaining_scale(const model_description& m, const prepared_model& p, const model_plan& plan) const;
  model_plan planned(const model_description& m, const prepared_model& p, const resumption& begins) const;
  void fit_host(model_plan& plan) const;
  byte_count host_needed(const model_plan& joining) const;
  void check_name(const std::string& name) const;
  void forget(const std::set<model_id>& released);
  using held_bases = std::map<base_place, host_block_ptr>;
  held_bases hold_bases() const;
  void name_bases(model_plan& plan, const std::vector<std::string>& base, const held_bases& held);

  byte_count beside_pool(const model_plan& joining) const;

  joining_setup setup_;
  std::size_t began_with_;   ///< models; the pinned pool was sized for them
  std::vector<std::string> notes_;
  std::atomic<bool> cancelled_{false};
};

}  // namespace hydra
