#include "actors/device/pipeline_state.hpp"

namespace hydra {

pipeline_state::pipeline_state(device& on, const pipeline_options& with)
    : machine(on),
      options(with),
      budget(on.info().name, on.info().usable()),
      cache(budget),
      operations(on),
      labels(with.labels) {}

std::optional<reservation> pipeline_state::make_room(const visit_record& v, byte_count n) {
  const bool first = visits.all_before(v, [](const visit_record&) { return false; });
  return cache.make_room(n, first ? block_cache::evicts::all : block_cache::evicts::all_but_saved);
}

}  // namespace hydra
