#include "actors/device/pipeline_state.hpp"

#include "runtime/device/usable_memory.hpp"

namespace hydra {

pipeline_state::pipeline_state(device& on, const pipeline_options& with)
    : machine(on),
      options(with),
      budget(on.info().name, usable_memory(on.info())),
      cache(budget),
      operations(on),
      labels(with.labels) {}

}  // namespace hydra
