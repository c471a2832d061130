#pragma once
// The state of one unit on a device, from its placement to its end.

#include "actors/device/fetch_time.hpp"
#include "actors/device/working_bytes.hpp"
#include "actors/protocol/visit_times.hpp"
#include "partition/execute/visit.hpp"
#include "runtime/base/block_id.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/unit.hpp"
#include "runtime/base/work_graph.hpp"
#include "runtime/device/device_block_ptr.hpp"
#include "runtime/device/ticket.hpp"
#include "runtime/memory/byte_budget.hpp"
#include "runtime/memory/host_arena.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hydra {

/// claiming: waits for both messages and for device bytes; leasing: for host buffers; staged: copies are submitted,
/// perhaps computations, too; running: it computes; write_back: outputs are copied to the host; ended: reported, but
/// one of its two messages has not arrived yet.
enum class visit_phase : std::uint8_t { claiming, leasing, staged, running, write_back, ended };

const char* to_string(visit_phase phase) noexcept;

/// waiting: not found yet; requested: from the host; here: it has a block and a ticket, or host buffers.
enum class fetch_phase : std::uint8_t { waiting, requested, here };

/// Where a block that it reads is on the device, and since when.
struct staged_block {
  device_block_ptr block;                ///< held until what reads it is submitted
  ticket ready;
  fetch_phase phase = fetch_phase::waiting;
};

struct visit_input {
  block_use use;
  std::vector<staged_block> parts;
  std::size_t first = 0;                 ///< micro-batch of the unit that reads the first part, if each has its own

  /// Micro-batch `k` reads a part of it; of what is not of micro-batches the same one.
  bool covers(std::size_t k) const {
    return fetched(use.role) != fetch_time::with_micro_batch || (k >= first && k < first + parts.size());
  }
  std::size_t part_of(std::size_t k) const {
    return fetched(use.role) == fetch_time::with_micro_batch ? k - first : 0;
  }
  staged_block& of(std::size_t k) { return parts[part_of(k)]; }
  const staged_block& of(std::size_t k) const { return parts[part_of(k)]; }
};

/// A block that it writes back.
struct produced_block {
  host_block_ptr home{};
  std::weak_ptr<device_block> block{};   ///< owned by the closures, the cache, or a successor's input
  ticket made{};                         ///< once the computation that fills it is submitted
};

struct visit_output {
  block_use use;
  std::vector<produced_block> parts;
  std::size_t first = 0;                 ///< micro-batch of the unit that fills the first part, if each fills one

  /// Of what micro-batches fill.
  bool covers(std::size_t k) const noexcept { return k >= first && k < first + parts.size(); }
};

struct micro_batch_record {
  ticket compute;
  std::uint32_t copies_out = 0;          ///< of its outputs, that are not in host memory yet
  bool spared = false;                   ///< backward: the forward is not computed again
};

enum class step_phase : std::uint8_t { waiting, submitted, computed };

/// The optimizer step after the micro-batches.
struct step_record {
  step_phase phase = step_phase::waiting;
  ticket compute;
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

  /// execute_shard has come: what it reads and writes. Throws fault_error{internal} if the model has no such unit.
  void begin(sharded_model_ptr of, std::size_t targets);

  unit what;
  sharded_model_ptr model;               ///< these five once it has begun
  node_index node;
  std::shared_ptr<visit> work;
  std::vector<visit_input> inputs;       ///< as in its graph
  std::vector<visit_output> outputs;     ///< those that are written back, in the order in which they are leased
  placement_messages messages;

  std::vector<block_id> pins;            ///< cache entries it holds
  std::vector<block_id> inserted;        ///< cache entries it has inserted
  reservation first_inputs;              ///< the part of its W that it has not used: of what is yet to be computed
  std::optional<working_bytes> working;  ///< once it has its C
  std::vector<micro_batch_record> batches;
  std::size_t next_op = 0;               ///< computations submitted
  std::size_t computed = 0;
  visit::results results;                ///< until their copies, or the step, are submitted
  step_record stepping;                  ///< of a unit that also steps its shard

  std::vector<ticket> start_after;       ///< what the first computation waits for
  std::vector<ticket> write_back;        ///< d2h operations submitted
  std::size_t outstanding = 0;           ///< operations submitted and not completed
  std::size_t leases_awaited = 0;
  fetch_phase homes = fetch_phase::waiting;  ///< the buffers of what it writes back
  transfer_waits waits;
  visit_failure failure;
  visit_times times;

  visit_phase phase() const noexcept { return phase_; }
  bool ended() const noexcept { return phase_ == visit_phase::ended; }
  bool failed() const noexcept { return static_cast<bool>(failure.cause); }
  bool alive() const noexcept { return !failed() && !ended(); }

  // -- what it reads and writes ------------------------------------------------------------------------------------
  const work_graph& graph() const { return model->graphs->of(what); }
  /// Null if there is none of that role.
  visit_input* reads(block_role role);
  const visit_input* reads(block_role role) const;
  visit_output* writes(block_role role);
  const visit_output* writes(block_role role) const;
  block_id name(const block_use& use, std::size_t part = 0) const;
  /// Of a part, on the host.
  byte_count bytes_of(const block_use& use) const { return graph().block(use.block).bytes; }
  /// W, as charged.
  byte_count staging_bytes() const;
  /// What a part takes in the cache: as charged; with slots only what decides whether the shard counts as cached.
  byte_count room_of(const block_use& use) const;
  /// It has all that is fetched at that time, of micro-batch `k`.
  bool has(fetch_time when, std::size_t k = 0) const;
  /// Some of what is fetched with micro-batch `k` is not requested.
  bool lacks(std::size_t k) const;
  /// Its first computation is enqueued behind this operation, or what it reads is filled by it.
  bool waits_for(ticket t) const;
  /// Nothing that reads it will be submitted any more.
  void let_go(fetch_time when, std::size_t k = 0);

  /// Of its micro-batch number `k`, in its step or evaluation.
  micro_batch_index index_of(std::size_t k) const noexcept {
    return micro_batch_index{what.first_micro_batch.value + static_cast<std::uint32_t>(k)};
  }
  /// "gpt-a forward 2 step 7", for spans; requires `model`.
  std::string detail() const;

  /// Its shard counts as cached if its block of this role is.
  bool decides_hit(block_role role) const {
    const bool frozen = model->plan.shards[what.shard.value].is_mostly_frozen();
    return role == (frozen ? block_role::base : block_role::parameters);
  }
  /// It also steps its shard.
  bool steps() const { return writes(block_role::parameters) != nullptr; }
  bool has_gradients() const { return steps() || writes(block_role::sum) != nullptr; }
  /// Unless the forward visit has saved it, the forward is computed again; with a loss there was none.
  bool recomputes() const { return has_gradients() && writes(block_role::loss) == nullptr; }
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
