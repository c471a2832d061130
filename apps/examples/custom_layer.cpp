// A layer of one's own, and a chain made of it.

#include <hydra/hydra.hpp>

#include <ATen/ops/linear.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/sigmoid.h>
#include <fmt/format.h>

#include <cmath>

using namespace hydra::literals;

/// A gated linear unit: y = (x A^T) * sigmoid(x B^T), [samples, in] -> [samples, out].
class gated_linear final : public hydra::layer {
 public:
  gated_linear(std::int64_t in, std::int64_t out) : in_{in}, out_{out} {}

  std::vector<hydra::parameter_spec> parameters() const override {
    const hydra::initial_value initial{hydra::initial_value::kind::uniform, 1 / std::sqrt(static_cast<double>(in_))};
    return {{"value.weight", {out_, in_}, initial, {}}, {"gate.weight", {out_, in_}, initial, {}}};
  }

  hydra::tensor_spec output(const hydra::tensor_spec& input) const override {
    if (input.shape.size() == 2 && input.shape[1] == in_) return {{input.shape[0], out_}, hydra::element::f32};
    throw hydra::fault_error{hydra::fault_code::bad_input,
                             fmt::format("gated_linear takes [samples, {}], not {}", in_, to_string(input))};
  }

  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& x,
                     const hydra::layer_context&) const override {
    const at::Tensor value = at::linear(x, parameters[0]);
    const at::Tensor gate = at::sigmoid(at::linear(x, parameters[1]));
    return at::mul(value, gate);
  }

  std::string signature() const override { return fmt::format("gated_linear in={} out={}", in_, out_); }

 private:
  std::int64_t in_, out_;
};

/// Three gated layers from the data's features to its classes.
hydra::chain gated_mlp(std::int64_t width, const hydra::data_source& data) {
  const std::int64_t features = data.sample_input().shape.at(0);
  hydra::chain c{"gated-mlp", data.sample_input(), hydra::cross_entropy()};
  c.add("0.", std::make_shared<gated_linear>(features, width));
  c.add("1.", std::make_shared<gated_linear>(width, width));
  c.add("2.", std::make_shared<gated_linear>(width, data.classes()));
  return c;
}

int main() {
  hydra::session s;
  s.add_devices(1, hydra::cpu_device{.memory = 1_MiB});
  s.add_model({.name = "gated",
               .chain = {"gated-mlp", 0, [](const hydra::data_source& data) { return gated_mlp(64, data); }},
               .data = {hydra::synthetic_classes{}},
               .batch_size = 32,
               .steps = 20,
               .optimizer = hydra::adamw({.learning_rate = 1e-2})});
  const auto report = s.run();
  fmt::print("{}", hydra::to_table(report));
  return report.all_finished() ? 0 : 1;
}
