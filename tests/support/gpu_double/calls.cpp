#include "tests/support/gpu_double/calls.hpp"

#include "tests/support/gpu_double/streams.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <utility>

#include <sys/syscall.h>
#include <unistd.h>

namespace gpu_double {

namespace {

constexpr int status_of_complaints = 87;
constexpr std::uint64_t most_lines = 10;   ///< of one kind of complaint

auto& counts = *new std::map<std::string, std::uint64_t>;

/// After these every further call on the device returns them.
bool is_lasting(int e) { return (e >= 700 && e <= 720 && e != 704 && e != 705 && e != 712 && e != 713) || e == 999; }

/// GPU_DOUBLE_FAIL=cuMemMap@3=2,cudaEventRecord@10=700: the third call of the one and the tenth of the other.
int wanted_failure(const std::string& call) {
  static const auto list = ',' + setting("FAIL", "");
  const auto wanted = ',' + call + '@' + std::to_string(counted(call)) + '=';
  const auto at = list.find(wanted);
  return at == std::string::npos ? 0 : std::stoi(list.substr(at + wanted.size()));
}

/// For a program that ends: its status if nothing was complained of. Writes the report.
int status_at_end(int status) {
  const lock l{mutex};
  if (static bool reported = false; !std::exchange(reported, true)) {
    std::ofstream report{setting("REPORT", ""), std::ios::app};
    for (const auto& [what, n] : counts) report << n << ' ' << what << '\n';
  }
  return status == 0 && counted("complaints") > 0 ? status_of_complaints : status;
}

}  // namespace

std::string setting(const std::string& name, const std::string& otherwise) {
  const char* const text = std::getenv(("GPU_DOUBLE_" + name).c_str());
  return text != nullptr && *text != '\0' ? text : otherwise;
}

std::size_t setting(const std::string& name, std::size_t otherwise) {
  return std::stoull(setting(name, std::to_string(otherwise)));
}

void count(const std::string& what) { ++counts[what]; }

std::uint64_t counted(const std::string& what) { return counts.contains(what) ? counts.at(what) : 0; }

void complain(const std::string& kind, const std::string& text) {
  count("complaints");
  count("complaint: " + kind);
  if (counted("complaint: " + kind) <= most_lines)
    std::fprintf(stderr, "gpu-double: %s: %s\n", kind.c_str(), text.c_str());
}

int failure_of(const std::string& call) {
  count(call);
  if (in_host_function) {
    complain("forbidden call", call + " was called by a host function");
    return cudaErrorNotPermitted;
  }
  auto& lasting = lasting_errors[current_device];
  if (lasting != cudaSuccess) return lasting;
  const int wanted = wanted_failure(call);
  if (wanted != 0) count("failures on request");
  if (is_lasting(wanted)) {
    lasting = static_cast<cudaError_t>(wanted);
    wake_all();
  }
  return wanted;
}

}  // namespace gpu_double

using namespace gpu_double;

extern "C" {

cudaError_t cudaGetLastError() {
  const lock l{mutex};
  return std::exchange(last_error, lasting_errors[current_device]);
}
cudaError_t cudaPeekAtLastError() { return last_error; }
const char* cudaGetErrorName(cudaError_t) { return "an error of the double"; }
const char* cudaGetErrorString(cudaError_t e) { return cudaGetErrorName(e); }

/// For tests: what has been counted so far.
std::uint64_t gpu_double_count(const char* what) {
  const lock l{mutex};
  return counted(what);
}

/// For programs that end by it, as hydra does, which runs no destructors. They preload this library.
[[noreturn]] void _exit(int status) {
  syscall(SYS_exit_group, status_at_end(status));
  __builtin_unreachable();
}

}  // extern "C"

[[maybe_unused]] static const int at_end = std::atexit([] {
  if (const int status = status_at_end(0)) {
    std::fflush(nullptr);
    _exit(status);
  }
});
