#pragma once
// The pipeline of one device: turns messages and completions into operations and answers. No actor, no thread, no
// clock: the DEVICE actor only passes it messages and sends its answers. Its parts: staging, computing, write-back,
// failing, ending; slots and accounting.

#include "actors/device/device_slots.hpp"
#include "actors/device/operation_table.hpp"
#include "actors/device/pipeline_accounting.hpp"
#include "actors/device/pipeline_options.hpp"
#include "actors/device/pipeline_port.hpp"
#include "actors/device/pipeline_state.hpp"
#include "actors/device/visit_computing.hpp"
#include "actors/device/visit_ending.hpp"
#include "actors/device/visit_failing.hpp"
#include "actors/device/visit_record.hpp"
#include "actors/device/visit_staging.hpp"
#include "actors/device/visit_write_back.hpp"
#include "runtime/device/device.hpp"
#include "runtime/memory/byte_budget.hpp"
#include "runtime/trace/trace.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace hydra {

/// When a unit could have been placed here, and when it was.
struct placement_times {
  time_point available{};
  time_point placed{};
};

/// Order of claims: W (staging) -> lease -> copies; C (computing) when all computations before it are submitted:
/// reserved, or passed on by the unit before. What that unit needs only to compute is free when the compute queue
/// reaches this unit; if that is not enough, its write-back bytes are taken, too, and the first computation waits by
/// ticket for its write-back copies. Either way no message is needed between two staged units.
class device_pipeline {
 public:
  /// `machine`, `port` and `spans` (may be null) outlive the pipeline.
  device_pipeline(device& machine, pipeline_port& port, trace* spans, const pipeline_options& options);
  device_pipeline(const device_pipeline&) = delete;
  device_pipeline& operator=(const device_pipeline&) = delete;

  /// Offers the credits of all slots.
  void start();

  // -- messages ----------------------------------------------------------------------------------------------------
  void prefetch(const unit& u, const placement_times& when = {});
  void execute(const unit& u, sharded_model_ptr model, std::size_t targets);
  void leased(ticket lease, std::span<const host_block_ptr> reads, std::span<const host_block_ptr> outputs);
  void refused(ticket lease, const fault& why);
  void withdraw(const unit& u, bool unless_started = false);
  void completed(const completion& c);
  /// Drops what is cached of a model that has ended.
  void forget(model_id model);

  // -- facts -------------------------------------------------------------------------------------------------------
  const pipeline_counters& counters() const noexcept { return accounts_.counters(); }
  const byte_budget& budget() const noexcept { return state_.budget; }
  /// Units that have not ended.
  std::size_t visits() const noexcept { return state_.visits.open(); }
  /// True if nothing is held: no visit, no operation, no claim beyond clean cached blocks.
  bool quiet() const;
  std::string describe() const;

 private:
  void advance();
  bool step(visit_record& v);
  void mark_started();
  void on_computed(const operation_record& op, const completion& c);

  pipeline_state state_;
  device_slots slots_;
  pipeline_accounting accounts_;
  visit_staging staging_;
  visit_write_back write_back_;
  visit_computing computing_;
  visit_failing failing_;
  visit_ending ending_;
  bool advancing_ = false;
};

}  // namespace hydra
