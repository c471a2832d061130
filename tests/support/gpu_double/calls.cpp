#include "tests/support/gpu_double/calls.hpp"

#include "tests/support/gpu_double/streams.hpp"

#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <utility>

// Failures on request: GPU_DOUBLE_FAIL=cuMemMap@3=2,cudaEventRecord@10=700 lets the third call of the one and the tenth of the
// other return these errors. @0: every call.

namespace gpu_double {

namespace {

using failures = std::map<std::string, std::map<std::uint64_t, int>>;

failures wanted_failures() {
  failures all;
  const char* const given = std::getenv("GPU_DOUBLE_FAIL");
  std::istringstream list{given != nullptr ? given : ""};
  for (std::string name, number, error;
       std::getline(list, name, '@') && std::getline(list, number, '=') && std::getline(list, error, ',');) {
    all[name][std::stoull(number)] = std::stoi(error);
  }
  return all;
}

/// After these every further call on the device returns them.
bool is_lasting(int e) { return (e >= 700 && e <= 720 && e != 704 && e != 705 && e != 712 && e != 713) || e == 999; }

int wanted_failure(const std::string& call, std::uint64_t n) {
  static const auto all = wanted_failures();
  const auto of_call = all.find(call);
  if (of_call == all.end()) return 0;
  for (const auto number : {n, std::uint64_t{0}}) {
    if (const auto e = of_call->second.find(number); e != of_call->second.end()) return e->second;
  }
  return 0;
}

thread_local cudaError_t last_error = cudaSuccess;

}  // namespace

std::mutex& mutex() {
  static auto* const it = new std::mutex;
  return *it;
}

int& current_device() noexcept {
  thread_local int device = 0;
  return device;
}

bool& in_host_function() noexcept {
  thread_local bool inside = false;
  return inside;
}

cudaError_t& lasting_error(int device) {
  static auto* const all = new std::map<int, cudaError_t>;
  return (*all)[device];
}

int failure_of(const char* call) {
  count(call);
  if (in_host_function()) {
    complain("forbidden call", std::string{call} + " was called by a host function");
    return cudaErrorNotPermitted;
  }
  auto& lasting = lasting_error(current_device());
  if (lasting != cudaSuccess) return lasting;
  const int wanted = wanted_failure(call, counted(call));
  if (wanted != 0) count("failures on request");
  if (is_lasting(wanted)) {
    lasting = static_cast<cudaError_t>(wanted);
    wake_all();
  }
  return wanted;
}

void remember(cudaError_t e) noexcept {
  if (e != cudaSuccess) last_error = e;
}

}  // namespace gpu_double

using namespace gpu_double;

extern "C" {

cudaError_t cudaGetLastError() {
  const lock l{mutex()};
  return std::exchange(last_error, lasting_error(current_device()));
}
cudaError_t cudaPeekAtLastError() { return last_error; }
const char* cudaGetErrorName(cudaError_t e) {
  static const std::map<cudaError_t, const char*> names{
      {cudaErrorInvalidValue, "cudaErrorInvalidValue"}, {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation"},
      {cudaErrorNotReady, "cudaErrorNotReady"}, {cudaErrorIllegalAddress, "cudaErrorIllegalAddress"}};
  const auto found = names.find(e);
  return found == names.end() ? "cudaErrorOfTheDouble" : found->second;
}
const char* cudaGetErrorString(cudaError_t e) { return cudaGetErrorName(e); }

}  // extern "C"
