#pragma once
// What forward visits leave on the device for their backward visits, in memory that neither staging nor computing
// needs.

#include "actors/device/pipeline_state.hpp"
#include "actors/device/visit_record.hpp"
#include "partition/execute/saved_graph.hpp"
#include "runtime/base/bytes.hpp"

#include <cstddef>
#include <memory>

namespace hydra {

/// Blocks of the cache. Of a model what was saved first is dropped first: in a chain it is needed last. Whatever is not
/// there is computed again.
class saved_tensors {
 public:
  /// `state` outlives this.
  explicit saved_tensors(pipeline_state& state) : state_(state) {}

  /// For micro-batch `k` of a visit that is submitted now: pinned until the visit ends. Null: no room, or nothing that
  /// another visit reads.
  std::shared_ptr<saved_graph> make(visit_record& v, std::size_t k);
  /// For micro-batch `k` of a visit that reads some and is submitted now: pinned and then dropped with the visit. Null:
  /// it was not saved here, or was dropped.
  std::shared_ptr<saved_graph> take(visit_record& v, std::size_t k);

 private:
  /// Drops older ones; false if there cannot be so much room.
  bool clear_room(const unit& u, byte_count bytes);
  void drop_older(const unit& u);

  pipeline_state& state_;
};

}  // namespace hydra
