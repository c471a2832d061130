#pragma once
// The state of one unit on a device, from its placement to its end.

#include "actors/protocol/visit_times.hpp"
#include "partition/execute/device_step.hpp"
#include "partition/execute/visit.hpp"
#include "runtime/base/block_id.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/unit.hpp"
#include "runtime/device/device_block_ptr.hpp"
#include "runtime/device/ticket.hpp"
#include "runtime/memory/byte_budget.hpp"
#include "runtime/memory/host_arena.hpp"

#include <cstdint>
#include <map>
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

/// A block that a micro-batch reads: where it is on the device and since when.
struct staged_block {
  device_block_ptr block;
  ticket ready;
};

struct micro_batch_record {
  staged_block input;                    ///< held until its computation is submitted
  staged_block second;
  bool fetching = false;                 ///< its blocks are found or being copied
  bool fetched = false;                  ///< both have a block and a ticket
  bool computed = false;
  bool output_written_back = false;
  ticket compute;
  std::weak_ptr<device_block> output;    ///< owned by the closures, the cache, or a successor's input
};

/// When a copy ran, to compute exposed transfers.
struct copy_interval {
  time_point begin;
  time_point end;
};

/// The optimizer step after the micro-batches.
struct step_record {
  std::vector<staged_block> state;       ///< requested one after the other while micro-batches compute
  std::size_t promoted = 0;              ///< copies submitted
  bool submitted = false;
  bool computed = false;
  ticket compute;
  std::weak_ptr<device_block> parameters;  ///< the next version: owned by the closures and the cache
};

struct visit_record {
  unit what;
  sharded_model_ptr model;
  std::size_t targets = 1;
  bool placed = false;                   ///< prefetch_shard has arrived
  bool ordered = false;                  ///< execute_shard has arrived
  visit_phase phase = visit_phase::claiming;
  bool credit_returned = false;
  bool withdrawn = false;                ///< the model knows that it will not complete

  std::shared_ptr<visit> work;
  staged_block parameters;
  std::vector<block_id> pins;            ///< cache entries it holds
  std::vector<block_id> inserted;        ///< cache entries it has inserted
  std::vector<reservation> transient;    ///< part of C that is free after its computation
  std::vector<reservation> write_back_bytes; ///< part of C that is free after its write-back
  bool claimed = false;                  ///< it has its C
  bool waits_for_write_back = false;        ///< for the outputs of copies out, or for the bytes they free
  std::vector<micro_batch_record> batches;
  std::size_t next_op = 0;               ///< computations submitted
  std::size_t computed = 0;
  visit::results results;                ///< until their copies, or the step, are submitted
  step_record stepping;                  ///< of a unit that also steps its shard
  std::unordered_map<block_id, host_block_ptr> outputs;

  std::vector<ticket> working_after;     ///< until then the unit before uses the bytes that it took over
  std::vector<ticket> start_after;       ///< what the first computation waits for
  std::vector<ticket> write_back;           ///< d2h operations submitted
  std::size_t outstanding = 0;           ///< operations submitted and not completed
  std::size_t leases_awaited = 0;
  std::optional<time_point> last_copy;   ///< end of its last copy in
  fault error;

  visit_times times;

  /// Of its micro-batch number `k`, in its step or evaluation.
  micro_batch_index index_of(std::size_t k) const noexcept {
    return micro_batch_index{what.first_micro_batch.value + static_cast<std::uint32_t>(k)};
  }
  /// "gpt-a forward 2 step 7", for spans; requires `ordered`.
  std::string detail() const;
  bool alive() const noexcept { return !error && phase != visit_phase::ended; }
  bool steps() const { return model && steps_shard(what, model->plan); }
  bool micro_batches_submitted() const noexcept { return next_op == what.micro_batches; }
  bool all_submitted() const { return micro_batches_submitted() && (stepping.submitted || !steps()); }
  bool all_computed() const { return computed == what.micro_batches && (stepping.computed || !steps()); }
  ticket last_compute() const { return stepping.submitted ? stepping.compute : batches.back().compute; }
};

}  // namespace hydra
