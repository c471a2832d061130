#include "actors/device/pipeline_state.hpp"

namespace hydra {

namespace {

byte_count usable(const device_info& info) {
  return info.memory > info.reserve ? info.memory - info.reserve : byte_count{};
}

}  // namespace

pipeline_state::pipeline_state(device& on, const pipeline_options& with)
    : machine(on),
      options(with),
      budget(on.info().name, usable(on.info())),
      cache(budget),
      operations(on),
      labels(with.labels) {}

}  // namespace hydra
