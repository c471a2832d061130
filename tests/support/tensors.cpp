#include "tests/support/tensors.hpp"

#include <ATen/ops/empty_ops.h>

namespace hydra::test {

at::Tensor tensor_of(byte_count n, const std::string& where) {
  const c10::SymInt size{static_cast<std::int64_t>(n.value())};
  return at::_ops::empty_memory_format::call(size, at::kByte, std::nullopt, at::Device{where}, std::nullopt,
                                             std::nullopt);
}

}  // namespace hydra::test
