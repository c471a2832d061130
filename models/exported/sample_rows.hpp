#pragma once
// The inputs of an exported model, from samples.

#include "models/exported/graph.hpp"
#include "models/sample_parts.hpp"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace hydra {

/// True for one input of real numbers in `numbers`, or of i64: samples are that tensor. Otherwise they are rows of
/// bits.
bool is_plain(const std::vector<graph_part>& inputs, precision numbers);

/// What a sample has to have for each input, whose first dimension is that of the samples. Throws
/// fault_error{bad_input} for an input of which that is not true.
std::vector<sample_part> parts_of_sample(const std::vector<graph_part>& inputs);

/// One sample.
tensor_spec sample_spec(const std::vector<graph_part>& inputs, precision numbers);

/// The inputs, each with its strides, from a batch of such samples.
std::vector<at::Tensor> inputs_of(const std::vector<graph_part>& inputs, const at::Tensor& batch);

}  // namespace hydra
