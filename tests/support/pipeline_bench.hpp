#pragma once
// A device pipeline between a scripted device and a port that records its messages.

#include "actors/device/device_pipeline.hpp"
#include "actors/simulation/simulation.hpp"
#include "tests/support/scripted_device.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hydra::test {

struct recording_port final : pipeline_port {
  struct question {
    ticket lease;
    unit what;
    std::vector<block_id> reads;
    std::vector<block_id> outputs;
    bool answered = false;
    bool granted = false;
  };
  struct state_reported {
    std::uint32_t credits;
    std::optional<unit> running;
    std::vector<block_id> cached;
    std::vector<block_id> dropped;
  };
  struct failure {
    unit what;
    fault why;
  };

  void lease(ticket lease, const unit& u, std::vector<block_id> reads, std::vector<block_id> outputs) override;
  void return_lease(ticket lease) override { returned.push_back(lease); }
  void demoted(const unit& u, const visit_times&) override { demotions.push_back(u); }
  void failed(const unit& u, const fault& why) override { failures.push_back({u, why}); }
  void freed(std::uint32_t credits, const std::optional<unit>& running, std::vector<block_id> cached,
             std::vector<block_id> dropped) override;

  std::uint32_t credits() const;                ///< returned so far
  std::size_t ends_of(const unit& u) const;     ///< how often it was reported, demoted or failed
  const fault* failure_of(const unit& u) const;
  /// What a unit has asked to read, over all its leases.
  std::vector<block_id> reads_of(const unit& u) const;

  std::vector<question> questions;
  std::vector<ticket> returned;
  std::vector<unit> demotions;
  std::vector<failure> failures;
  std::vector<state_reported> states;
};

/// Shards of equal size: `working` bytes to compute, `parameters`, `activation` (multiples of 512).
struct even_model {
  std::string name = "a";
  std::uint32_t id = 0;
  std::uint32_t shards = 2;
  std::uint32_t micro_batches = 1;
  byte_count parameters{1024};
  byte_count activation{512};
  byte_count working{4096};
  byte_count write_back{4096};   ///< part of it that is free only after the unit's write-back
  byte_count saved{};
  bool steps = false;         ///< every shard on its device
};

/// A simulated model with its units.
class bench_model {
 public:
  explicit bench_model(const even_model& m);
  unit forward(std::uint32_t shard, std::uint32_t attempt = 0) const {
    return make(direction::forward, shard, attempt);
  }
  unit backward(std::uint32_t shard, std::uint32_t attempt = 0) const {
    return make(direction::backward, shard, attempt);
  }
  const sharded_model_ptr& what() const noexcept { return what_; }

 private:
  unit make(direction way, std::uint32_t shard, std::uint32_t attempt) const;
  model_id id_;
  sharded_model_ptr what_;
};

class pipeline_bench {
 public:
  explicit pipeline_bench(byte_count memory, const pipeline_options& options = {});

  /// Both messages of a placement.
  void place(const bench_model& m, const unit& u);
  /// Places the unit and answers its first lease.
  void stage(const bench_model& m, const unit& u);
  /// Grants the oldest open lease of a unit.
  void grant(const unit& u);
  void refuse(const unit& u, fault_code why);
  bool waits_for_lease(const unit& u) const;
  /// Completes and grants everything until nothing happens any more.
  void run_out();

  recording_port port;
  scripted_device machine;
  device_pipeline pipeline;

 private:
  recording_port::question* open_question(const unit& u);
};

}  // namespace hydra::test
