#pragma once
// LibTorch's tensor by name: for headers that only pass it on. What looks into one includes <ATen/core/Tensor.h>, which costs
// every source a second and more.

namespace at {
class Tensor;
}
