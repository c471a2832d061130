#pragma once
// Errors of the CUDA runtime as faults.

#include "runtime/base/fault.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

namespace hydra {

/// After these errors every further call on the device fails.
inline bool is_final(cudaError_t e) noexcept {
  switch (e) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorAssert:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorExternalDevice:
    case cudaErrorContextIsDestroyed:
    case cudaErrorDevicesUnavailable:
    case cudaErrorMpsConnectionFailed:
    case cudaErrorMpsRpcFailure:
    case cudaErrorMpsServerNotReady:
    case cudaErrorMpsClientTerminated:
    case cudaErrorUnknown:
      return true;
    default:
      return false;
  }
}

/// Throws a fault whose text includes `what`. Clears the runtime's last error, so that the next call does not report it
/// again.
inline void cuda_check(cudaError_t e, const char* what) {
  if (e == cudaSuccess) {
    return;
  }
  cudaGetLastError();
  const auto code = is_final(e)                          ? fault_code::device_lost
                    : e == cudaErrorMemoryAllocation     ? fault_code::out_of_memory
                                                         : fault_code::internal;
  throw fault_error(code, fmt::format("CUDA: {}: {} ({})", what, cudaGetErrorString(e), cudaGetErrorName(e)));
}

}  // namespace hydra
