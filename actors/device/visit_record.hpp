#pragma once
// The state of one unit on a device, from its placement to its end.

#include "actors/device/working_bytes.hpp"
#include "actors/protocol/visit_times.hpp"
#include "partition/execute/device_step.hpp"
#include "partition/execute/visit.hpp"
#include "partition/graph/dataflow.hpp"
#include "runtime/base/block_id.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/unit.hpp"
#include "runtime/device/device_block_ptr.hpp"
#include "runtime/device/ticket.hpp"
#include "runtime/memory/host_arena.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace hydra {

/// claiming: waits for both messages and for device bytes; leasing: for host buffers; staged: copies are submitted,
/// perhaps computations, too; running: it computes; write_back: outputs are copied to the host; ended: reported, but
/// one of its two messages has not arrived yet.
enum class visit_phase : std::uint8_t { claiming, leasing, staged, running, write_back, ended };

const char* to_string(visit_phase phase) noexcept;

/// A block that a micro-batch reads: where it is on the device and since when.
struct staged_block {
  device_block_ptr block;
  ticket ready;
};

/// waiting: its inputs have not been found; fetching: found, or requested from the host; fetched: both have a block and
/// a ticket; submitted: it computes or is enqueued; written_back: its output is in host memory, or it has none.
enum class micro_batch_phase : std::uint8_t { waiting, fetching, fetched, submitted, written_back };

struct micro_batch_record {
  micro_batch_phase phase = micro_batch_phase::waiting;
  staged_block input;                    ///< held until its computation is submitted
  staged_block second;
  ticket compute;
  std::weak_ptr<device_block> output;    ///< owned by the closures, the cache, or a successor's input
  bool spared = false;                   ///< backward: the forward is not computed again
};

enum class step_phase : std::uint8_t { waiting, submitted, computed };

/// The optimizer step after the micro-batches.
struct step_record {
  step_phase phase = step_phase::waiting;
  std::vector<staged_block> state;       ///< requested one after the other while micro-batches compute
  std::size_t promoted = 0;              ///< copies submitted
  ticket compute;
  std::weak_ptr<device_block> parameters;  ///< the next version: owned by the closures and the cache
};

/// The two messages of a placement; either may be first.
struct placement_messages {
  bool prefetch = false;
  bool execute = false;
  bool both() const noexcept { return prefetch && execute; }
};

/// Why a unit does not complete.
struct visit_failure {
  fault cause;                           ///< none: it may complete
  bool withdrawn = false;                ///< the model has been notified
};

/// What its computation waited for, to divide exposed transfers.
struct transfer_waits {
  std::optional<time_point> last_copy_in;  ///< end of its last copy in
  bool for_copies_out = false;           ///< for their outputs, or for the bytes that they free
};

class visit_record {
 public:
  explicit visit_record(const unit& u);

  unit what;
  sharded_model_ptr model;
  placement_messages messages;

  std::shared_ptr<visit> work;
  staged_block base;                     ///< frozen parameters, if its shard has some
  staged_block parameters;
  std::vector<block_id> pins;            ///< cache entries it holds
  std::vector<block_id> inserted;        ///< cache entries it has inserted
  std::optional<working_bytes> working;  ///< once it has its C
  std::vector<micro_batch_record> batches;
  std::size_t next_op = 0;               ///< computations submitted
  std::size_t computed = 0;
  visit::results results;                ///< until their copies, or the step, are submitted
  micro_batch_phase sum_phase = micro_batch_phase::waiting;   ///< of the gradient sum that it reads, if it does
  staged_block sum;
  step_record stepping;                  ///< of a unit that also steps its shard
  std::unordered_map<block_id, host_block_ptr> outputs;

  std::vector<ticket> start_after;       ///< what the first computation waits for
  std::vector<ticket> write_back;        ///< d2h operations submitted
  std::size_t outstanding = 0;           ///< operations submitted and not completed
  std::size_t leases_awaited = 0;
  transfer_waits waits;
  visit_failure failure;
  visit_times times;

  visit_phase phase() const noexcept { return phase_; }
  bool ended() const noexcept { return phase_ == visit_phase::ended; }
  bool failed() const noexcept { return static_cast<bool>(failure.cause); }
  bool alive() const noexcept { return !failed() && !ended(); }

  /// What the forward visit of a shard saves of micro-batch `k` for its backward visit.
  block_id saved(std::size_t k) const { return saved_by(what, index_of(k)); }
  /// Of its micro-batch number `k`, in its step or evaluation.
  micro_batch_index index_of(std::size_t k) const noexcept {
    return micro_batch_index{what.first_micro_batch.value + static_cast<std::uint32_t>(k)};
  }
  /// "gpt-a forward 2 step 7", for spans; requires `model`.
  std::string detail() const;
  /// Where a block that it reads belongs; `k`: the micro-batch that reads it.
  staged_block& slot_of(const block_id& id, std::size_t k);

  bool has_base() const { return model->plan.shards[what.shard.value].base > byte_count{}; }
  /// Its shard counts as cached if this block is.
  bool decides_hit(const block_id& id) const {
    const bool frozen = model->plan.shards[what.shard.value].is_mostly_frozen();
    return id.kind == (frozen ? block_kind::base : block_kind::parameters);
  }
  /// Of a backward visit: unless the forward visit has saved it, the forward is computed again.
  bool recomputes() const { return what.shard.value + 1 < model->size(); }
  /// Of its shard's optimizer.
  std::size_t state_buffers() const { return model->plan.shards[what.shard.value].state_buffers().size(); }
  bool steps() const { return model && steps_shard(what, model->plan); }
  bool micro_batches_submitted() const noexcept { return next_op == what.micro_batches; }
  bool step_submitted() const noexcept { return stepping.phase != step_phase::waiting; }
  bool all_submitted() const { return micro_batches_submitted() && (step_submitted() || !steps()); }
  bool all_computed() const {
    return computed == what.micro_batches && (stepping.phase == step_phase::computed || !steps());
  }
  ticket last_compute() const { return step_submitted() ? stepping.compute : batches.back().compute; }

  /// Gives back everything that it holds outside the cache.
  void release();

 private:
  friend class device_slots;
  /// Only device_slots::enter() calls it. Throws fault_error{internal} unless `next` may follow.
  void set_phase(visit_phase next);

  visit_phase phase_ = visit_phase::claiming;
};

}  // namespace hydra
