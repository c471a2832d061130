#pragma once
// The optimizer's part of a step: which jobs may run when, and what each does to the host buffers.

#include "partition/execute/sharded_model.hpp"
#include "runtime/memory/host_arena.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace hydra {

/// Host buffers of a shard, all fp32 but the copy and, if the chain's are bf16, the gradients. The gradients, a sum for
/// each replica in their order, are other buffers in every step; null until they have been written back.
struct shard_home {
  host_block_ptr parameters;   ///< the masters
  std::vector<host_block_ptr> gradients{1};
  std::vector<host_block_ptr> moments;
  host_block_ptr copy{};       ///< of the masters, in bf16, for devices that compute in it; else null
  host_block_ptr base{};       ///< frozen parameters, as devices compute with them; null if there are none

  const host_block_ptr& promoted() const noexcept { return copy ? copy : parameters; }
  host_block_ptr& promoted() noexcept { return copy ? copy : parameters; }
  bool has_all_gradients() const noexcept {
    return std::ranges::all_of(gradients, [](const host_block_ptr& sum) { return sum != nullptr; });
  }
  bool has_any_gradients() const noexcept {
    return std::ranges::any_of(gradients, [](const host_block_ptr& sum) { return sum != nullptr; });
  }
  void drop_gradients() noexcept { std::ranges::fill(gradients, nullptr); }
};

/// Number `i` of the plan's state_buffers().
host_block_ptr& state_buffer(shard_home& home, const shard_plan& plan, std::size_t i);

/// The home of a base that another model has, too; null if it is not there.
using base_lookup = std::function<host_block_ptr(const base_place&)>;

/// New host buffers of a shard; moments are zero, the base is one that is there or has its values, the other parameters
/// are not initialised. Throws fault_error{out_of_memory}.
shard_home make_home(host_arena& arena, const sharded_model& m, std::size_t shard, const base_lookup& bases = {});

/// Rounds the copy again from masters that were not written by a step. Does nothing without a copy.
void round_masters(const shard_home& home);

/// Progress of a shard's update in the current step. `complete`: the next version is on the host.
enum class update_phase : std::uint8_t { waiting, written_back, normed, stepped, complete };

/// Gradients have been written back, the next version is not complete yet.
constexpr bool is_under_way(update_phase p) noexcept {
  return p != update_phase::waiting && p != update_phase::complete;
}

/// Of all shards of a model, while none of its jobs runs. With gradients and moments it is the optimizer's whole state.
struct update_progress {
  std::vector<update_phase> shards;          ///< empty: all waiting
  std::vector<std::vector<float>> norms;     ///< per shard, of its own parameters; empty where not known
};

/// One piece of optimizer work. Jobs of one model may run concurrently and in any order; the result has the same bits.
struct update_job {
  enum class kind : std::uint8_t { norms, step } what = kind::step;
  std::size_t shard = 0;
  friend bool operator==(const update_job&, const update_job&) = default;
};

/// Order of a model's jobs within one step. Without clipping a shard is stepped as soon as its gradients, and those of
/// all tied copies of its parameters, are written back. With clipping first all norms, then the steps, shard 0 first.
/// Pure.
class update_tracker {
 public:
  /// `elsewhere`: shards that devices step; while waiting they count as complete. Empty: none.
  update_tracker(std::size_t shards, std::vector<tie> ties, bool clipping, std::vector<bool> elsewhere = {});

  /// Gradients of the shard are on the host: jobs that may run now.
  std::vector<update_job> written_back(std::size_t shard);
  /// A job has ended: jobs that may run now.
  std::vector<update_job> done(const update_job& job);
  /// Shards whose next version has just become complete (own step and all its tied copies); each once per step.
  std::vector<std::size_t> take_complete();
  /// True once every shard is complete; then the tracker starts the next step.
  bool step_complete() const noexcept;
  void next_step();

  bool norms_known() const noexcept { return norms_known_; }
  std::vector<update_phase> phases() const;
  /// Resumes from phases in which no job was running: jobs that may run now.
  std::vector<update_job> resume(const std::vector<update_phase>& phases);

 private:
  bool gradients_complete(std::size_t shard) const;
  bool version_complete(std::size_t shard) const;
  std::vector<update_job> ready_jobs();
  void skip_elsewhere();

  std::vector<tie> ties_;
  bool clipping_;
  std::vector<bool> elsewhere_;
  std::vector<bool> written_back_, issued_, normed_, stepped_, reported_;
  bool norms_known_ = false;
};

/// The mathematics of the jobs on host buffers (numerics contract, rules 8-10).
class model_update {
 public:
  explicit model_update(sharded_model_ptr model);

  /// Adds the gradient sums of the replicas, then those of tied copies, in this shard (bf16: on the way, see
  /// rounded_gradient); then records the norm of each of its trained parameters.
  void norms(std::size_t shard, std::vector<shard_home>& homes);
  /// Norm of the norms in chain order. Requires the norms of every shard.
  float total_norm() const;
  float clip_coefficient(float norm) const;
  const std::vector<std::vector<float>>& norms() const noexcept { return norms_; }
  void set_norms(std::vector<std::vector<float>> norms) { norms_ = std::move(norms); }
  /// Adds gradient sums (unless norms() did), applies the update rules, copies owners to their tied copies. Throws
  /// fault_error{not_finite} for what the last step of a model that stops for it gives.
  void step(std::size_t shard, std::uint32_t step, float clip_coefficient, std::vector<shard_home>& homes) const;

 private:
  bool rounded() const noexcept { return model_->model->gradients() == precision::bf16; }
  void add_sums(std::size_t shard, const std::vector<shard_home>& homes) const;
  void update_tied_copies(std::size_t shard, std::vector<shard_home>& homes) const;

  sharded_model_ptr model_;
  std::vector<std::vector<float>> norms_;   ///< per shard, its trained parameters in chain order
};

}  // namespace hydra
