#include "tests/support/random_profile.hpp"

#include "models/loss.hpp"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

namespace hydra::test {

namespace {

class idle_layer final : public layer {
 public:
  std::vector<parameter_spec> parameters() const override { return {}; }
  tensor_spec output(const tensor_spec& input) const override { return input; }
  at::Tensor forward(std::span<const at::Tensor>, const at::Tensor& x, const layer_context&) const override {
    return x;
  }
  std::string signature() const override { return "idle"; }
};

duration some_time(std::mt19937& random) {
  return std::chrono::microseconds(std::uniform_int_distribution<int>(1, 5)(random));
}

}  // namespace

byte_count some_bytes(std::mt19937& random, std::uint64_t most) {
  return byte_count{512 * std::uniform_int_distribution<std::uint64_t>(1, most)(random)};
}

chain_profile random_profile(std::mt19937& random, std::size_t layers) {
  chain_profile p;
  p.layers.resize(layers);
  auto boundary = some_bytes(random, 30);
  for (auto& layer : p.layers) {
    layer.parameters = some_bytes(random, 10);
    layer.input = boundary;
    layer.output = boundary = some_bytes(random, 30);
    layer.saved = some_bytes(random, 20);
    layer.forward_transient = some_bytes(random, 8);
    layer.backward_transient = some_bytes(random, 8);
    layer.forward = some_time(random);
    layer.backward = some_time(random);
  }
  p.targets = some_bytes(random, 2);
  p.loss_saved = some_bytes(random, 2);
  p.loss_transient = some_bytes(random, 4);
  p.samples = 1;
  return p;
}

std::shared_ptr<const chain> idle_chain(std::size_t layers) {
  auto c = std::make_shared<chain>("idle", tensor_spec{{1}, element::f32}, cross_entropy());
  for (std::size_t i = 0; i < layers; ++i) {
    c->add(fmt::format("{}.", i), std::make_shared<idle_layer>());
  }
  return c;
}

}  // namespace hydra::test
