#include "runtime/base/step_shape.hpp"

#include "runtime/base/fault.hpp"

#include <string>
#include <utility>

namespace hydra {

void check_shape(const step_shape& shape) {
  const auto refuse = [](std::string text) { throw fault_error{fault_code::bad_input, std::move(text)}; };
  if (shape.shards == 0 || shape.micro_batches == 0 || shape.replicas == 0 || shape.waves == 0 ||
      shape.abreast == 0) {
    refuse("a step has at least one shard, micro-batch, replica, wave and piece");
  }
  if (shape.micro_batches % shape.replicas != 0) {
    refuse(std::to_string(shape.replicas) + " replicas do not divide the " + std::to_string(shape.micro_batches) +
           " micro-batches of a step");
  }
  if (const auto each = shape.micro_batches / shape.replicas; each % shape.waves != 0) {
    refuse(std::to_string(shape.waves) + " waves do not divide the " + std::to_string(each) +
           " micro-batches of a replica");
  }
  if (shape.first_trained >= shape.shards) {
    refuse("no shard of the step is trained");
  }
  if (shape.meets > 0 && (shape.meets >= shape.shards || shape.replicas == 1 || shape.waves > 1)) {
    refuse(std::to_string(shape.replicas) + " replicas in " + std::to_string(shape.waves) +
           " waves cannot meet before shard " + std::to_string(shape.meets) + " of " + std::to_string(shape.shards));
  }
}

}  // namespace hydra
