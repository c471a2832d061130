#pragma once
// The memory manager's state: host buffers of blocks, leases, write-back buffers, versions, fenced devices. Pure: no
// actors, no copies; memory comes from a host arena.

#include "partition/checkpoint/checkpoint.hpp"
#include "partition/execute/model_update.hpp"
#include "partition/execute/sharded_model.hpp"
#include "partition/execute/visit.hpp"
#include "runtime/base/block_id.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/step_position.hpp"
#include "runtime/base/unit.hpp"
#include "runtime/device/ticket.hpp"
#include "runtime/memory/host_arena.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hydra {

/// The request of a device.
struct lease_request {
  ticket lease;
  device_id device;
  unit what;
  std::vector<block_id> reads;
  std::vector<block_id> outputs;
};

/// Buffers in the order of the request.
struct lease_grant {
  std::vector<host_block_ptr> reads;
  std::vector<host_block_ptr> outputs;
};

/// Consequences of a commit.
struct committed {
  std::vector<float> losses;        ///< of the micro-batches
  std::vector<evaluation_score> scores;
  /// Shards whose gradients of all replicas are in host memory: its own; with the step's last unit those that have
  /// none.
  std::vector<shard_index> complete_sums{};
  std::optional<version_index> stepped{};   ///< the unit has written back this version
};

class block_store {
 public:
  explicit block_store(host_arena& arena);
  ~block_store();

  /// `begins`: its first units; blocks that only units before them read are not kept.
  void add_model(model_id model, sharded_model_ptr what, model_memory memory, const step_position& begins = {});
  /// Of a model that has ended and has no unit on any device: frees all its host memory; the buffers of its shards are
  /// returned to the caller.
  std::vector<shard_home> remove_model(model_id model);

  // -- leases ------------------------------------------------------------------------------------------------------
  /// Grants a lease or throws fault_error: {device_lost} for a fenced device, {refused} for a block that is not in
  /// host memory, an old version or one being stepped, {out_of_memory} if the write-back buffers do not fit (retry when
  /// something is freed). Strong exception guarantee.
  lease_grant lease(const lease_request& request);
  void lease_returned(device_id device, ticket lease);

  // -- completion --------------------------------------------------------------------------------------------------
  /// Takes over the unit's outputs and drops the blocks of which it was the last reader. None if the device is fenced
  /// or its write-back buffers are unknown (late attempt): then the buffers are dropped.
  std::optional<committed> commit(const unit& u, device_id device);
  /// Drops the write-back buffers of a unit that ended without a result. False if the device is fenced.
  bool failed(const unit& u, device_id device);
  /// From now on messages of the device are ignored; its leases and write-back buffers are dropped.
  void fence(device_id device);
  bool fenced(device_id device) const { return fenced_.contains(device); }

  // -- minibatches, versions ---------------------------------------------------------------------------------------
  /// Of a registered model. What no unit will read any more is dropped.
  void adopt(const block_id& id, host_block_ptr bytes);
  /// The host buffers of a shard, to be stepped: its parameters are not leased until `stepped`.
  shard_home begin_step(model_id model, shard_index shard);
  /// The next version is complete; its gradients are dropped.
  version_index stepped(model_id model, shard_index shard);

  // -- checkpoints -------------------------------------------------------------------------------------------------
  /// The model's memory in its current state; `updates`: reported by the optimizer while none of its jobs runs. Without
  /// `boundaries` they are left out if the step can be started again.
  model_memory capture(model_id model, update_progress updates, bool boundaries) const;

  // -- facts -------------------------------------------------------------------------------------------------------
  bool has(model_id id) const;
  const sharded_model_ptr& model(model_id id) const;
  std::vector<shard_home> homes(model_id id) const;
  std::map<model_id, std::vector<shard_home>> all_homes() const;
  std::size_t leases() const noexcept { return leases_.size(); }
  std::size_t write_backs() const noexcept { return write_backs_.size(); }
  std::size_t blocks() const noexcept { return blocks_.size(); }
  /// One line per outstanding lease and write-back, for a stuck run.
  std::string describe() const;

 private:
  struct model_record;
  struct visited;
  /// Of a step or of a round of an evaluation; dropped when all units that read it have committed.
  struct stored_block {
    host_block_ptr bytes;
    std::size_t readers_left = 0;  ///< counted down only if the graph does not know who comes last
  };
  using write_back_key = std::pair<device_id, unit>;
  using written_back_blocks = std::vector<std::pair<block_id, host_block_ptr>>;

  host_block_ptr& place_of(const block_id& id);
  host_block_ptr readable(const block_id& id);
  model_record& record(model_id id);
  static std::size_t readers_left(const model_record& r, const block_id& id);
  /// A block that the unit has written back.
  void take_over(const visited& v, const block_id& id, host_block_ptr bytes, committed& result);
  void drop_what_was_read(const visited& v);

  host_arena& arena_;
  std::map<model_id, model_record> models_;
  std::unordered_map<block_id, stored_block> blocks_;
  std::map<base_place, std::weak_ptr<host_block>> bases_;   ///< in homes of the models that read them
  std::map<std::pair<device_id, ticket>, std::vector<host_block_ptr>> leases_;
  std::map<write_back_key, written_back_blocks> write_backs_;
  std::set<device_id> fenced_;
};

}  // namespace hydra
