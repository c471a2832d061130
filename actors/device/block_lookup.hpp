#pragma once
// Finds the blocks that a unit reads: in the cache, at a unit that computes here, else in host memory.

#include "actors/device/pipeline_state.hpp"
#include "actors/device/visit_record.hpp"
#include "runtime/base/block_id.hpp"
#include "runtime/base/bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace hydra {

/// nowhere: a unit here has yet to compute it or to submit its copy in, or it has left the device before that unit was
/// demoted: the host may not have it yet; cache: it is pinned there for the unit that reads it; unit: computed here and
/// still held by somebody.
enum class block_source : std::uint8_t { nowhere, cache, unit, host };

struct found_block {
  visit_input* input;
  block_id id;
  byte_count bytes;
  staged_block where{};          ///< none if it must be copied from the host
  block_source source = block_source::nowhere;
};

class block_lookup {
 public:
  /// `state` outlives this.
  explicit block_lookup(pipeline_state& state) : state_(state) {}

  /// What is fetched with the claim of a unit, and with its first micro-batch. None, and nothing is pinned, if
  /// one of the former is nowhere.
  std::optional<std::vector<found_block>> find_claimed(visit_record& v);
  /// What is fetched with micro-batch `k` and not there. None, and nothing is pinned, if one of them is nowhere.
  std::optional<std::vector<found_block>> find_inputs(visit_record& v, std::size_t k);
  /// Undoes find_claimed() and find_inputs().
  void unpin(const std::vector<found_block>& blocks);

 private:
  static void add_inputs(visit_record& v, fetch_time when, std::size_t k, std::vector<found_block>& to);
  bool find(const visit_record& v, found_block& b);

  pipeline_state& state_;
};

}  // namespace hydra
