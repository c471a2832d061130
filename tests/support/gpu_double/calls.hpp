#pragma once
// What every function of the runtime does first: takes the lock, counts the call, and fails if it has to. And what is
// counted.

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <type_traits>

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace gpu_double {

// What is shared is never destroyed: streams run until the process ends.
inline auto& mutex = *new std::mutex;                            ///< guards everything
inline auto& lasting_errors = *new std::map<int, cudaError_t>;   ///< by GPU: what nothing gets rid of any more

using lock = std::unique_lock<std::mutex>;

// Of the calling thread.
inline thread_local int current_device = 0;
inline thread_local bool in_host_function = false;
inline thread_local cudaError_t last_error = cudaSuccess;

/// GPU_DOUBLE_<name> in the environment, or `otherwise`.
std::string setting(const std::string& name, const std::string& otherwise);
std::size_t setting(const std::string& name, std::size_t otherwise);

// -- with the lock held ---

void count(const std::string& what);
std::uint64_t counted(const std::string& what);
/// Something that a GPU would not have forgiven, or by chance only: the program ends with status 87.
void complain(const std::string& kind, const std::string& text);

/// Counts a call. The error that it has to return at once: of a GPU that has failed, or one that was asked for.
int failure_of(const std::string& call);

/// What a function of NVIDIA's returns whose work is `f`, which is called with the lock.
template <class Error, class F>
Error called(const char* name, const F& f) {
  lock l{mutex};
  auto e = static_cast<Error>(failure_of(name));
  if (e == Error{}) e = f(l);
  if constexpr (std::is_same_v<Error, cudaError_t>) last_error = e == cudaSuccess ? last_error : e;
  return e;
}

/// Defines such a function. At the end of its body it has succeeded.
#define CALL(Error, name, parameters, ...)                                                               \
  Error name parameters {                                                                                \
    return called<Error>(#name, [&]([[maybe_unused]] lock& l) -> Error { __VA_ARGS__ return Error{}; }); \
  }

}  // namespace gpu_double
