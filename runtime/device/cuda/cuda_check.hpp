#pragma once
// Errors of CUDA, and of LibTorch's CUDA libraries, as faults: what was being done, what CUDA says, what to do.

#include "runtime/base/fault.hpp"

#include <cuda_runtime_api.h>

#include <exception>

namespace hydra {

/// After these errors every further call on the device fails.
bool is_final(cudaError_t e) noexcept;

/// What usually helps after it: a sentence without its full stop.
const char* advice_on(cudaError_t e) noexcept;

/// For a call whose failure changes nothing. The runtime keeps an error for its thread until somebody takes it: the
/// next operator that LibTorch launches there would be taken for the one that has failed.
void cuda_ignore(cudaError_t e) noexcept;

/// Throws a fault that says `what` cannot be done: device_lost for a final error, out_of_memory, or internal. `advice`:
/// what to do; null: advice_on. Takes the runtime's last error, as cuda_ignore.
void cuda_check(cudaError_t e, const char* what, const char* advice = nullptr);

/// Of a device that nothing works on any more, whatever the error: device_lost, in the words of cuda_check.
fault lost_to(cudaError_t e, const char* what);

/// As to_fault. An error of CUDA that LibTorch has thrown becomes what cuda_check would have thrown, without LibTorch's
/// advice to programmers.
fault cuda_fault(const std::exception_ptr& e) noexcept;

}  // namespace hydra
