#pragma once
// Final parameters of models that have ended, for callers that ask for them after the run.

#include "partition/execute/model_update.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/ids.hpp"
#include "runtime/memory/host_arena.hpp"

#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

/// Their buffers (the model's host buffers) count in the host budget until the memory is needed for something else.
/// Thread-safe: one thread keeps parameters, another one gives them up.
class kept_parameters {
 public:
  /// One buffer per shard.
  void keep(model_id model, std::vector<host_block_ptr> shards);
  /// Gives up those that were kept first until the others take at most `most` bytes.
  void shrink_to(byte_count most);
  /// Empty if they were never kept, or were given up.
  std::vector<host_block_ptr> of(model_id model) const;

 private:
  byte_count bytes() const;

  mutable std::mutex mutex_;
  std::vector<std::pair<model_id, std::vector<host_block_ptr>>> models_;   ///< in the order kept
};

/// The masters of all shards.
std::vector<host_block_ptr> parameters_of(std::span<const shard_home> homes);

/// SHA-256 over the parameters of all shards, in chain order, without tied copies and frozen ones. Empty if there are
/// no parameters.
std::string digest_of(const sharded_model& model, std::span<const host_block_ptr> parameters);

}  // namespace hydra
