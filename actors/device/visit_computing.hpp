#pragma once
// From staged bytes to the compute queue: working bytes (C), micro-batches, the step of a shard after them.

#include "actors/device/pipeline_state.hpp"
#include "actors/device/saved_tensors.hpp"
#include "actors/device/visit_record.hpp"
#include "actors/device/visit_staging.hpp"
#include "actors/device/visit_write_back.hpp"
#include "partition/execute/device_step.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/device_block_ptr.hpp"
#include "runtime/device/ticket.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace hydra {

class visit_computing {
 public:
  /// All outlive this.
  visit_computing(pipeline_state& state, visit_staging& staging, visit_write_back& write_back)
      : state_(state), staging_(staging), write_back_(write_back), saved_(state) {}

  /// Does for a staged unit whatever can be done now: claims C, fetches ahead, submits. True if something was done.
  bool advance(visit_record& v);

 private:
  bool first_to_submit(const visit_record& v) const;
  bool fetch_ahead(visit_record& v);
  bool submit_fetched(visit_record& v);
  void submit_micro_batch(visit_record& v, std::size_t k);
  static void begin_results(visit_record& v);
  operation computation_of(visit_record& v, std::size_t k, micro_batch_blocks blocks);
  static std::vector<ticket> awaited_by(visit_record& v, std::size_t k);
  bool try_step(visit_record& v);
  ticket submit_step(visit_record& v, const step_blocks& blocks, std::span<const ticket> after);

  pipeline_state& state_;
  visit_staging& staging_;
  visit_write_back& write_back_;
  saved_tensors saved_;
};

}  // namespace hydra
