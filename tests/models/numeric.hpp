#pragma once
// Tensors and derivatives for the tests of models/.

#include "models/layer.hpp"

#include <ATen/core/Tensor.h>

#include <functional>
#include <span>
#include <vector>

namespace hydra::test {

/// Normal values that depend only on `seed`.
at::Tensor random_tensor(const std::vector<std::int64_t>& shape, std::uint64_t seed, at::ScalarType type = at::kFloat);
/// Values in [0, limit).
at::Tensor random_ids(const std::vector<std::int64_t>& shape, std::int64_t limit, std::uint64_t seed);
at::Tensor zeros(const std::vector<std::int64_t>& shape, at::ScalarType type = at::kFloat);

/// The elements of a contiguous fp32 tensor on the CPU.
std::span<float> values(const at::Tensor& t);
std::vector<float> copy_of(const at::Tensor& t);

/// Whether both have the same shape and the same bits.
bool same_bits(const at::Tensor& a, const at::Tensor& b);
/// Largest absolute difference.
double distance(const at::Tensor& a, const at::Tensor& b);
double number(const at::Tensor& scalar);

/// One leaf per parameter of the layer, with random values and requires_grad.
std::vector<at::Tensor> random_parameters(const layer& l, std::uint64_t seed, at::ScalarType type = at::kFloat);

/// Largest difference between autograd's gradient and the central difference, over some elements of each leaf, of a
/// scalar function of these double leaves, relative to 1 + |gradient|.
double gradient_error(const std::function<at::Tensor()>& f, std::span<const at::Tensor> leaves);

}  // namespace hydra::test
