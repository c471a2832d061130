#pragma once
// Tensors of a given size, cheap to compile.

#include "runtime/base/bytes.hpp"

#include <ATen/core/Tensor.h>

#include <string>

namespace hydra::test {

/// An uninitialised tensor of `n` bytes on a LibTorch device ("cpu", "cuda:0").
at::Tensor tensor_of(byte_count n, const std::string& where = "cpu");

}  // namespace hydra::test
