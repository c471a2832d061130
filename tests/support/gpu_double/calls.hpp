#pragma once
// What every function of the runtime does first: takes the lock, counts the call, and fails if it has to. And what is counted.

#include <cstdint>
#include <mutex>
#include <string>
#include <type_traits>

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace gpu_double {

/// Guards everything. Never destroyed.
std::mutex& mutex();
using lock = std::unique_lock<std::mutex>;

/// Of the calling thread.
int& current_device() noexcept;
bool& in_host_function() noexcept;

/// GPU_DOUBLE_<name> in the environment, or `otherwise`.
std::int64_t setting(const std::string& name, std::int64_t otherwise);

// -- with the lock held ---

void count(const std::string& what, std::uint64_t n = 1);
std::uint64_t counted(const std::string& what);
/// Something that a GPU would not have forgiven, or by chance only: the program ends with status 87.
void complain(const std::string& kind, const std::string& text);

/// The error that nothing on this GPU gets rid of any more.
cudaError_t& lasting_error(int device);
/// Counts a call. The error that it has to return at once: of a GPU that has failed, or one that was asked for.
int failure_of(const char* call);
/// For cudaGetLastError on the calling thread.
void remember(cudaError_t e) noexcept;

/// `f` takes the lock if it waits, and returns an error if it may fail.
template <class Error = cudaError_t, class F>
Error called(const char* name, const F& f) {
  lock l{mutex()};
  const auto run = [&] {
    if constexpr (std::is_invocable_v<F>) return f();
    else return f(l);
  };
  auto e = static_cast<Error>(failure_of(name));
  if (e == Error{}) {
    if constexpr (std::is_void_v<decltype(run())>) run();
    else e = run();
  }
  if constexpr (std::is_same_v<Error, cudaError_t>) remember(e);
  return e;
}

}  // namespace gpu_double
