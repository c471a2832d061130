#pragma once
// The pipeline of one device: turns messages and completions into operations and answers. No actor, no thread, no
// clock: the DEVICE actor only passes it messages and sends its answers. Sources: device_pipeline.cpp (messages, the
// loop), _staging, _computing, _stepping, _ends.

#include "actors/device/pipeline_options.hpp"
#include "actors/device/pipeline_port.hpp"
#include "actors/device/visit_record.hpp"
#include "runtime/memory/block_cache.hpp"
#include "runtime/memory/byte_budget.hpp"
#include "runtime/device/device.hpp"
#include "runtime/trace/trace.hpp"

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace hydra {

struct pipeline_counters {
  duration busy{};
  duration exposed_transfer{};     ///< compute queue idle, the next computation waited for copies
  byte_count h2d_bytes;
  byte_count d2h_bytes;
  std::uint64_t hits = 0;          ///< parameters found in the cache
  std::uint64_t misses = 0;
};

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
  ~device_pipeline();

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
  const pipeline_counters& counters() const noexcept { return counters_; }
  const byte_budget& budget() const noexcept { return budget_; }
  /// Units that have not ended.
  std::size_t visits() const noexcept;
  /// True if nothing is held: no visit, no operation, no claim beyond clean cached blocks.
  bool quiet() const;
  std::string describe() const;

 private:
  enum class op_kind : std::uint8_t {
    promote, promote_input, compute, step, demote_output, demote_gradients, demote_loss, demote_parameters, demote_state, copy_back
  };
  struct operation_record {
    visit_record* owner = nullptr;
    op_kind kind = op_kind::compute;
    std::size_t batch = 0;
    ticket lease;                  ///< of a promotion
    byte_count bytes;
    operation_label label;
  };
  struct lease_record {
    visit_record* owner = nullptr;
    std::vector<block_id> reads;
    std::vector<block_id> outputs;
    std::size_t batch = 0;         ///< micro-batch of a streaming lease
    bool staging = false;
    std::size_t copies = 0;        ///< not yet completed
  };
  /// When a copy ran, to compute exposed transfers.
  struct copy_interval {
    time_point begin;
    time_point end;
  };
  struct wanted_block {
    block_id id;
    byte_count bytes;
    staged_block found;
    bool hit = false;              ///< in the cache, pinned for this visit
    bool home = false;             ///< must be copied from the host
  };

  // -- records -----------------------------------------------------------------------------------------------------
  visit_record& record(const unit& u);
  void advance();
  bool step(visit_record& v);
  void erase_ended();

  // -- staging -----------------------------------------------------------------------------------------------------
  template <class Predicate>
  bool all_before(const visit_record& v, Predicate holds) const;
  bool first_to_claim(const visit_record& v) const;
  bool try_claim(visit_record& v);
  std::vector<wanted_block> wanted(const visit_record& v, std::size_t k) const;
  bool resolve(const visit_record& v, wanted_block& w);
  void unpin_all(std::vector<wanted_block>& wants);
  void take(visit_record& v, wanted_block& w, reservation& claim);
  void request_lease(visit_record& v, std::vector<block_id> reads, std::vector<block_id> outputs, std::size_t k, bool staging);
  bool produced_here(const block_id& id, std::size_t shards) const;
  std::optional<staged_block> live_output(const block_id& id) const;
  void submit_promotion(lease_record& lease, ticket id, const block_id& block, const host_block_ptr& home);

  // -- computing ---------------------------------------------------------------------------------------------------
  bool try_working(visit_record& v);
  bool collect_working(visit_record& v, byte_count need, working_bytes& got);
  visit_record* predecessor_with_room(const visit_record& v) const;
  bool first_to_submit(const visit_record& v) const;
  bool fetch(visit_record& v, std::size_t k);
  bool pump(visit_record& v);
  void submit_compute(visit_record& v, std::size_t k);
  void submit_demotions(visit_record& v, std::size_t k, const device_block_ptr& output);
  void demote(visit_record& v, op_kind kind, std::size_t k, const block_id& id, device_block_ptr from, ticket after);
  void copy_back(visit_record& v);
  void end_copy_back(const visit_record& v);
  void keep_output(visit_record& v, const block_id& id, const device_block_ptr& block, ticket ready);

  // -- stepping ----------------------------------------------------------------------------------------------------
  bool fetch_state(visit_record& v);
  bool try_step(visit_record& v);
  ticket submit_step(visit_record& v, const device_block_ptr& stepped);
  void demote_stepped(visit_record& v, const device_block_ptr& stepped, const std::vector<staged_block>& state);

  // -- events ------------------------------------------------------------------------------------------------------
  void count(const operation_record& op, const completion& c);
  void on_promoted(const operation_record& op);
  void on_computed(visit_record& v, const operation_record& op, const completion& c);
  void on_written_back(visit_record& v, const operation_record& op);
  void finish_compute(visit_record& v);
  void expose(visit_record& v, time_point begin);
  void fail(visit_record& v, const fault& why);
  void fail_behind(ticket failed);
  void fail_successors(const visit_record& v);
  bool fail_with_predecessor(visit_record& v);
  bool may_end(const visit_record& v) const;
  void end_failed(visit_record& v);
  void end_demoted(visit_record& v);
  void release(visit_record& v);
  void mark_started();
  void say_state();
  void enter(visit_record& v, visit_phase next);
  bool occupies_slot(visit_phase phase) const noexcept;
  operation_label label(const char* name, const visit_record& v, const block_id& id) const;
  operation_label label(const char* name, const visit_record& v, std::size_t k) const;
  ticket submit(queue_kind queue, operation op, std::span<const ticket> after, operation_record record);
  bool done(ticket t) const { return !operations_.contains(t.value); }

  device& machine_;
  pipeline_port& port_;
  trace* spans_;
  pipeline_options options_;
  byte_budget budget_;
  block_cache cache_;
  std::deque<std::unique_ptr<visit_record>> visits_;   ///< in the order of placement
  std::unordered_map<std::uint64_t, operation_record> operations_;
  std::unordered_set<std::uint64_t> failed_;           ///< tickets: the contents of their blocks are never used
  std::unordered_map<std::uint64_t, lease_record> leases_;
  std::uint64_t last_lease_ = 0;
  std::uint32_t credits_due_ = 0;
  std::optional<unit> running_;
  bool running_changed_ = false;
  bool advancing_ = false;
  std::vector<block_id> newly_cached_;
  std::optional<time_point> last_compute_end_;
  std::vector<copy_interval> copies_in_;  ///< completed since the last computation ended
  std::vector<copy_interval> copies_out_;
  std::shared_ptr<std::vector<std::byte>> copied_back_ = std::make_shared<std::vector<std::byte>>();
  pipeline_counters counters_;
};

template <class Predicate>
bool device_pipeline::all_before(const visit_record& v, Predicate holds) const {
  for (const auto& other : visits_) {
    if (other.get() == &v) {
      return true;
    }
    if (other->alive() && !holds(*other)) {
      return false;
    }
  }
  return true;
}

}  // namespace hydra
