#include "partition/plan/least_memory.hpp"

#include "models/moment_layout.hpp"
#include "models/parameter_layout.hpp"

#include <algorithm>

namespace hydra {

namespace {

/// As they are copied from a device.
byte_count gradients_of(const chain& model, const parameter_layout& layout) {
  return model.gradients() == precision::bf16 ? layout.device_bytes() : layout.bytes();
}

byte_count state_of(const parameter_layout& layout, const update_options& rule) {
  auto sum = layout.device_bytes() == layout.bytes() ? byte_count{} : layout.bytes();
  const moment_layout moments(layout, rule);
  for (std::size_t i = 0; i < moments.buffers(); ++i) {
    sum += moments.bytes(i);
  }
  return sum;
}

}  // namespace

least_memory least_memory_of(const chain& model, const update_options& rule, std::uint32_t replicas,
                             std::size_t devices) {
  const parameter_layout whole(model, 0, model.size());
  least_memory least{.parameters = whole.device_bytes() + whole.base_bytes(),
                     .gradients = gradients_of(model, whole) * replicas,
                     .state = state_of(whole, rule)};
  byte_count attempt;
  for (std::size_t i = 0; i < model.size(); ++i) {
    attempt = std::max(attempt, gradients_of(model, parameter_layout(model, i, i + 1)));
  }
  least.gradients += attempt * (2 * devices);
  return least;
}

}  // namespace hydra
