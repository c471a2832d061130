#pragma once
// A fake accelerator: LibTorch's PrivateUse1 on host memory. The CPU's kernels compute for it, but as on an accelerator
// its tensors cannot be mixed with those of the CPU.

#include <ATen/core/Tensor.h>

namespace hydra::test {

inline constexpr const char* other_device = "elsewhere:0";

/// An operation that gets tensors of both throws (scalars may be the CPU's), as on any accelerator.
at::Tensor to_other_device(const at::Tensor& on_cpu);
at::Tensor to_cpu(const at::Tensor& there);

/// While one exists, everything that makes the host wait for the device throws in all threads: a copy to the CPU,
/// reading a value, a shape that depends on values.
class no_waiting {
 public:
  no_waiting();
  ~no_waiting();
  no_waiting(const no_waiting&) = delete;
  no_waiting& operator=(const no_waiting&) = delete;
};

}  // namespace hydra::test
