#include "models/exported/sample_rows.hpp"

#include "models/exported/boundary.hpp"
#include "models/exported/stored_types.hpp"
#include "models/exported/value_scalar.hpp"
#include "runtime/base/refuse.hpp"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

namespace hydra {

namespace {

std::vector<std::int64_t> shape_of_sample(const graph_part& input) {
  if (const auto shape = sizes_of_sample(input.shape)) return *shape;
  refuse(fmt::format("input \"{}\": its first dimension, and no other, has to count the samples", input.name));
}

bool is_bits(const at::Tensor& batch) { return batch.scalar_type() == at::kDouble; }

}  // namespace

bool is_plain(const std::vector<graph_part>& inputs, precision numbers) {
  const value_type real = numbers == precision::bf16 ? value_type::bf16 : value_type::f32;
  return inputs.size() == 1 && (inputs[0].type == real || inputs[0].type == value_type::i64);
}

std::vector<sample_part> parts_of_sample(const std::vector<graph_part>& inputs) {
  std::vector<sample_part> parts;
  for (const graph_part& input : inputs)
    parts.push_back(
        {input.name, std::string{to_string(stored_as(input.type))}, width_of(input.type), shape_of_sample(input)});
  return parts;
}

tensor_spec sample_spec(const std::vector<graph_part>& inputs, precision numbers) {
  const std::vector<sample_part> parts = parts_of_sample(inputs);
  if (!is_plain(inputs, numbers)) return row_of(parts);
  return {parts[0].shape, inputs[0].type == value_type::i64 ? element::i64 : element::f32};
}

std::vector<at::Tensor> inputs_of(const std::vector<graph_part>& inputs, const at::Tensor& batch) {
  const std::int64_t samples = batch.size(0);
  if (!is_bits(batch)) return {with_strides(batch, evaluate(inputs.at(0).strides, samples))};
  const at::NoGradGuard none;
  const at::Tensor rows = batch.detach().view(at::kByte);
  std::vector<at::Tensor> all;
  std::int64_t begin = 0;
  for (const graph_part& input : inputs) {
    const std::vector<std::int64_t> shape = evaluate(input.shape, samples);
    const std::int64_t bytes =
        c10::multiply_integers(shape) / samples * static_cast<std::int64_t>(width_of(input.type));
    const at::Tensor own = rows.narrow(1, begin, bytes).clone(at::MemoryFormat::Contiguous);
    all.push_back(
        with_strides(own.view({-1}).view(scalar_type(input.type)).view(shape), evaluate(input.strides, samples)));
    begin += padded_part(bytes);
  }
  return all;
}

}  // namespace hydra
