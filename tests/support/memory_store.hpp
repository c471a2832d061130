#pragma once
// Checkpoints of simulated models, kept in memory.

#include "actors/simulation/simulation.hpp"
#include "partition/checkpoint/checkpoint.hpp"
#include "runtime/memory/host_arena.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace hydra::test {

/// Keeps everything but bytes, of which a simulation has none; of gradient sums, which there are.
class memory_store final : public checkpoint_store {
 public:
  void save(const model_checkpoint& c, const std::function<void(shard_index)>& saved) override {
    for (auto s = c.what->size(); s-- > 0;) {
      saved(shard_index{static_cast<std::uint32_t>(s)});
    }
    auto kept = c;
    kept.memory.homes = homes_without_bytes(c.what->plan);
    for (std::size_t s = 0; s < c.memory.homes.size(); ++s) {
      std::ranges::transform(c.memory.homes[s].gradients, kept.memory.homes[s].gradients.begin(),
                             [&](const host_block_ptr& sum) { return sum ? present_ : nullptr; });
    }
    for (auto& [id, bytes] : kept.memory.boundaries) {
      bytes.reset();
    }
    (c.best ? best_ : all_)[c.what->name].push_back(std::move(kept));
  }

  /// In the order of saving.
  const std::vector<model_checkpoint>& of(const std::string& model) { return all_[model]; }
  const std::vector<model_checkpoint>& best_of(const std::string& model) { return best_[model]; }

 private:
  std::unique_ptr<host_arena> arena_ = make_accounting_arena(byte_count{1} * 4096);
  host_block_ptr present_ = arena_->allocate(byte_count{1}, "a gradient sum");
  std::map<std::string, std::vector<model_checkpoint>> all_, best_;
};

/// Nothing can be saved.
struct full_disk final : checkpoint_store {
  void save(const model_checkpoint&, const std::function<void(shard_index)>&) override {
    throw fault_error(fault_code::io, "no space left");
  }
};

}  // namespace hydra::test
