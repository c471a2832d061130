#pragma once
// What every function of the runtime does first: takes the lock, counts the call, and fails if it has to.

#include <mutex>

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace gpu_double {

/// Guards everything. Never destroyed.
std::mutex& mutex();
using lock = std::unique_lock<std::mutex>;

/// Of the calling thread.
int& current_device() noexcept;
bool& in_host_function() noexcept;

// -- with the lock held ---

/// The error that nothing on this GPU gets rid of any more.
cudaError_t& lasting_error(int device);
/// Counts a call. The error that it has to return at once: of a GPU that has failed, or one that was asked for.
cudaError_t failure_of(const char* call);
/// Of the calling thread: what cudaGetLastError returns.
cudaError_t remembered(cudaError_t e) noexcept;

template <class F>
cudaError_t called(const char* name, const F& f) {
  lock l{mutex()};
  const auto failure = failure_of(name);
  return remembered(failure != cudaSuccess ? failure : f(l));
}

template <class F>
CUresult driver_called(const char* name, const F& f) {
  const lock l{mutex()};
  const auto failure = failure_of(name);
  return failure != cudaSuccess ? static_cast<CUresult>(failure) : f();
}

}  // namespace gpu_double
