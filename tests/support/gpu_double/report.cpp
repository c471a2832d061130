// What has happened, for the end of the program.

#include "tests/support/gpu_double/calls.hpp"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>

#include <unistd.h>

namespace gpu_double {

namespace {

constexpr int complained = 87;
constexpr std::uint64_t most_lines = 10;   ///< of one kind of complaint

struct totals {
  std::map<std::string, std::uint64_t> counts, complaints;
};

/// Never destroyed: streams count until the process ends.
totals& all() {
  static auto* const it = new totals;
  return *it;
}

void write_report() {
  const char* const file = std::getenv("GPU_DOUBLE_REPORT");
  if (file == nullptr || all().counts.empty()) return;
  if (std::FILE* const to = std::fopen(file, "a")) {
    for (const auto& [what, n] : all().counts) std::fprintf(to, "%10ju %s\n", std::uintmax_t{n}, what.c_str());
    for (const auto& [kind, n] : all().complaints) std::fprintf(to, "%10ju complaint: %s\n", std::uintmax_t{n}, kind.c_str());
    std::fclose(to);
  }
}

int status_at_end(int status) {
  const lock l{mutex()};
  if (static bool once = false; !std::exchange(once, true)) write_report();
  return status == 0 && !all().complaints.empty() ? complained : status;
}

struct at_exit {
  ~at_exit() {
    if (const int status = status_at_end(0)) {
      std::fflush(nullptr);
      _exit(status);
    }
  }
} const reporter;

}  // namespace

std::int64_t setting(const std::string& name, std::int64_t otherwise) {
  const char* const text = std::getenv(("GPU_DOUBLE_" + name).c_str());
  return text != nullptr && *text != '\0' ? std::atoll(text) : otherwise;
}

void count(const std::string& what, std::uint64_t n) { all().counts[what] += n; }

std::uint64_t counted(const std::string& what) {
  const auto& t = all();
  const auto found = t.counts.find(what);
  return found == t.counts.end() ? 0 : found->second;
}

void complain(const std::string& kind, const std::string& text) {
  if (all().complaints[kind]++ < most_lines) std::fprintf(stderr, "gpu-double: %s: %s\n", kind.c_str(), text.c_str());
}

}  // namespace gpu_double

/// For tests: what has been counted so far.
extern "C" std::uint64_t gpu_double_count(const char* what) {
  const gpu_double::lock l{gpu_double::mutex()};
  return gpu_double::counted(what);
}

/// The status of a program that ends by _exit, which runs no destructors (exit.cpp).
extern "C" int gpu_double_end(int status) { return gpu_double::status_at_end(status); }
