#pragma once
// A layer written from models/layer.hpp. tests/apps/examples/conformance.cpp runs the conformance suite on it.

#include "models/layer.hpp"
#include "runtime/base/fault.hpp"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include <cmath>

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
    const at::Tensor value = x.matmul(parameters[0].t());
    const at::Tensor gate = x.matmul(parameters[1].t()).sigmoid();
    return value.mul(gate);
  }

  std::string signature() const override { return fmt::format("gated_linear in={} out={}", in_, out_); }

 private:
  std::int64_t in_, out_;
};
