#pragma once
// A stand-in for an accelerator: LibTorch's PrivateUse1 on host memory. What its kernels compute the CPU's
// compute; but as on an accelerator a tensor of it never meets one of the CPU.

#include <ATen/core/Tensor.h>

namespace hydra::test {

inline constexpr const char* other_device = "elsewhere:0";

/// An operation that gets tensors of both throws (scalars may be the CPU's), as on any accelerator.
at::Tensor to_other_device(const at::Tensor& on_cpu);
at::Tensor to_cpu(const at::Tensor& there);

/// While one lives, whatever makes the host wait for the device throws in all threads: a copy to the CPU, a value that is
/// read, a shape that depends on values.
class no_waiting {
 public:
  no_waiting();
  ~no_waiting();
  no_waiting(const no_waiting&) = delete;
  no_waiting& operator=(const no_waiting&) = delete;
};

}  // namespace hydra::test
