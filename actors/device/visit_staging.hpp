#pragma once
// From a placement to bytes on the device: staging bytes (W), leases, copies in.

#include "actors/device/block_lookup.hpp"
#include "actors/device/device_slots.hpp"
#include "actors/device/pipeline_accounting.hpp"
#include "actors/device/pipeline_port.hpp"
#include "actors/device/pipeline_state.hpp"
#include "actors/device/visit_record.hpp"
#include "runtime/base/block_id.hpp"
#include "runtime/device/ticket.hpp"
#include "runtime/memory/byte_budget.hpp"
#include "runtime/memory/host_arena.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace hydra {

class visit_staging {
 public:
  /// All outlive this.
  visit_staging(pipeline_state& state, device_slots& slots, pipeline_accounting& accounts, pipeline_port& port);

  // -- requests ----------------------------------------------------------------------------------------------------
  /// Claims W of a unit that has both messages and requests its first lease, with the buffers of what it writes back if
  /// it is in line. What a unit before it has yet to compute of its first micro-batch comes by fetch(). False: not yet.
  bool claim(visit_record& v);
  /// Finds or requests the inputs of a micro-batch that are not there; of a later one they are part of C. False: not
  /// yet.
  bool fetch(visit_record& v, std::size_t k);
  /// At most one unit before it has yet to compute. Only such units get buffers for what they write back, and compute:
  /// host_demand() relies on that.
  bool in_line(const visit_record& v) const;
  /// Requests these buffers of a unit that is in line: in the order of units. False: not yet, or it has been done.
  bool request_homes(visit_record& v);
  /// Finds or requests the gradient sum of the wave before; one that is requested is part of C. False: not yet, or it
  /// has it.
  bool fetch_sum(visit_record& v);
  /// Requests the optimizer state that a unit that steps its shard reads. True if it has requested some.
  bool fetch_state(visit_record& v);

  // -- answers -----------------------------------------------------------------------------------------------------
  /// Submits the copies in. False if the lease is unknown.
  bool leased(ticket lease, std::span<const host_block_ptr> reads, std::span<const host_block_ptr> outputs);
  /// The unit that had requested the lease; null if it is unknown.
  visit_record* refused(ticket lease);
  /// A copy of a lease has ended; the last one returns the lease.
  void copied(ticket lease);

  /// True if no lease is requested or held.
  bool quiet() const noexcept { return leases_.empty(); }

 private:
  struct lease_record {
    visit_record* owner = nullptr;
    bool staging = false;              ///< the first one of the unit
    bool homes = false;                ///< with the buffers of all that it writes back
    std::size_t batch = 0;             ///< micro-batch that reads the blocks
    std::vector<visit_input*> reads;   ///< of its owner
    std::size_t copies = 0;            ///< not yet completed
  };

  bool may_claim(const visit_record& v) const;
  void stage(visit_record& v, std::vector<found_block> blocks);
  std::vector<visit_input*> take(visit_record& v, std::vector<found_block>& blocks, std::size_t k);
  void insert(visit_record& v, const found_block& b);
  void request(lease_record lease);
  void grant(ticket id, const lease_record& lease, std::span<const host_block_ptr> reads);
  void copy_in_block(ticket id, const lease_record& lease, visit_input& in, const host_block_ptr& home);

  pipeline_state& state_;
  device_slots& slots_;
  pipeline_accounting& accounts_;
  pipeline_port& port_;
  block_lookup lookup_;
  std::unordered_map<std::uint64_t, lease_record> leases_;
  std::uint64_t last_lease_ = 0;
};

}  // namespace hydra
