#pragma once
// Forward declaration of LibTorch's tensor, for headers that only pass it on. Sources that use a tensor include
// <ATen/core/Tensor.h>, which adds a second or more to their compile time.

namespace at {
class Tensor;
}
