#include "runtime/device/cuda/cuda_check.hpp"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <optional>
#include <string>

namespace hydra {

namespace {

constexpr const char* gpu_is_full =
    "the GPU has no memory left beside what its devices have reserved: nvidia-smi shows who uses it; give the devices "
    "less (memory in [[device]]), or end what else uses the GPU";
constexpr const char* ask_the_driver = "nvidia-smi, and the kernel's log (dmesg, lines with \"Xid\"), may say why";
constexpr const char* gpu_is_gone =
    "this process cannot use the GPU any more: nvidia-smi, and the kernel's log (dmesg, lines with \"Xid\"), may say "
    "why";
constexpr const char* of_operator = "an operator of LibTorch has failed";

fault_code code_of(cudaError_t e) noexcept {
  if (is_final(e)) {
    return fault_code::device_lost;
  }
  return e == cudaErrorMemoryAllocation ? fault_code::out_of_memory : fault_code::internal;
}

std::string text_of(cudaError_t e, const char* what, const char* advice) {
  return fmt::format("CUDA: {}: {} ({}); {}", what, cudaGetErrorString(e), cudaGetErrorName(e), advice);
}

/// What LibTorch says first; then it advises those who program with it.
std::string first_line(const c10::Error& e) {
  const std::string text = e.what_without_backtrace();
  return text.substr(0, text.find('\n'));
}

/// LibTorch's allocator says on one line how much was wanted and how much there is, and goes on with its own settings.
fault of_allocator(const c10::OutOfMemoryError& e) {
  const auto line = first_line(e);
  const auto own = line.starts_with("CUDA out of memory");
  const auto text = line.substr(0, line.find(". If reserved"));
  return {fault_code::out_of_memory, own ? fmt::format("CUDA: LibTorch's allocator: {}; {}", text, gpu_is_full) : line};
}

/// What cuBLAS and cuDNN say if they get no memory of the GPU; cuDNN has another word for the host's.
bool is_of_memory(const std::string& line) {
  return line.find("CUBLAS_STATUS_ALLOC_FAILED") != line.npos || line.find("DEVICE_ALLOCATION_FAILED") != line.npos;
}

/// cuBLAS, cuDNN and others; none: not of CUDA.
std::optional<fault> of_library(const c10::Error& e) {
  const auto line = first_line(e);
  if (!line.starts_with("CUDA error") && !line.starts_with("cuDNN error")) {
    return std::nullopt;
  }
  const auto full = is_of_memory(line);
  return fault{full ? fault_code::out_of_memory : fault_code::internal,
               fmt::format("CUDA: {}: {}; {}", of_operator, line, full ? gpu_is_full : ask_the_driver)};
}

fault translate(const std::exception_ptr& e) {
  try {
    std::rethrow_exception(e);
  } catch (const c10::AcceleratorError& x) {
    const auto code = static_cast<cudaError_t>(x.get_error_code());
    return {code_of(code), text_of(code, of_operator, advice_on(code))};
  } catch (const c10::OutOfMemoryError& x) {
    return of_allocator(x);
  } catch (const c10::Error& x) {
    return of_library(x).value_or(to_fault(e));
  } catch (...) {
    return to_fault(e);
  }
}

}  // namespace

bool is_final(cudaError_t e) noexcept {
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

const char* advice_on(cudaError_t e) noexcept {
  if (is_final(e)) {
    return gpu_is_gone;
  }
  return e == cudaErrorMemoryAllocation ? gpu_is_full : ask_the_driver;
}

void cuda_ignore(cudaError_t e) noexcept {
  if (e != cudaSuccess) {
    cudaGetLastError();
  }
}

void cuda_check(cudaError_t e, const char* what, const char* advice) {
  if (e == cudaSuccess) {
    return;
  }
  cuda_ignore(e);
  throw fault_error(code_of(e), text_of(e, what, advice != nullptr ? advice : advice_on(e)));
}

fault lost_to(cudaError_t e, const char* what) { return {fault_code::device_lost, text_of(e, what, gpu_is_gone)}; }

fault cuda_fault(const std::exception_ptr& e) noexcept {
  try {
    return translate(e);
  } catch (...) {
    return to_fault(e);  // the text could not be allocated
  }
}

}  // namespace hydra
