#pragma once
// Copies out: the outputs of units, as their computations are submitted, and what stays in the cache.

#include "actors/device/device_slots.hpp"
#include "actors/device/operation_table.hpp"
#include "actors/device/pipeline_state.hpp"
#include "actors/device/visit_record.hpp"
#include "partition/execute/device_step.hpp"
#include "partition/execute/visit.hpp"
#include "runtime/device/device_block_ptr.hpp"
#include "runtime/device/ticket.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace hydra {

class visit_write_back {
 public:
  /// Both outlive this.
  visit_write_back(pipeline_state& state, device_slots& slots) : state_(state), slots_(slots) {}

  /// The computation of micro-batch `k` has just been submitted: copies what it fills of `blocks`, and after the last
  /// one gradients and loss.
  void submit_outputs(visit_record& v, std::size_t k, const micro_batch_blocks& blocks);
  /// The same for a step: the next version of the parameters and the state.
  void submit_stepped(visit_record& v, const step_blocks& blocks);
  /// Ablation: a system that copies unchanged blocks back, too. The bytes stay pinned until they have been copied.
  void submit_copy_back(visit_record& v);

  /// A copy of an output has completed without error.
  void written_back(const operation_record& op);
  /// A copy of submit_copy_back() has completed or failed.
  void end_copy_back(const visit_record& v);

 private:
  struct computed_part {
    const visit_output& out;
    device_block_ptr block;
    ticket made;
    std::size_t part = 0;
  };
  void submit(visit_record& v, computed_part p);
  void submit_results(visit_record& v);
  void keep_in_cache(visit_record& v, const computed_part& p);

  pipeline_state& state_;
  device_slots& slots_;
  std::shared_ptr<std::vector<std::byte>> copied_back_ = std::make_shared<std::vector<std::byte>>();
};

}  // namespace hydra
