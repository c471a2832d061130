#pragma once
// Checkpoints of simulated models, kept in memory.

#include "actors/simulation/simulation.hpp"
#include "partition/checkpoint/checkpoint.hpp"

#include <map>
#include <string>
#include <vector>

namespace hydra::test {

/// Keeps everything but bytes, of which a simulation has none.
class memory_store final : public checkpoint_store {
 public:
  void save(const model_checkpoint& c, const std::function<void(shard_index)>& saved) override {
    for (auto s = c.what->size(); s-- > 0;) {
      saved(shard_index{static_cast<std::uint32_t>(s)});
    }
    auto kept = c;
    kept.memory.homes = homes_without_bytes(c.what->plan);
    for (auto& [id, bytes] : kept.memory.boundaries) {
      bytes.reset();
    }
    (c.best ? best_ : all_)[c.what->name].push_back(std::move(kept));
  }

  /// In the order of saving.
  const std::vector<model_checkpoint>& of(const std::string& model) { return all_[model]; }
  const std::vector<model_checkpoint>& best_of(const std::string& model) { return best_[model]; }

 private:
  std::map<std::string, std::vector<model_checkpoint>> all_, best_;
};

}  // namespace hydra::test
