// What a run leaves in memory per step and per model that has ended, in bytes of the heap: no clock, and no pages that
// malloc keeps. In deep runs only: threads keep some of it. tests/deep/flat_memory.py watches the whole process for
// half an hour.

#include "actors/session/hydra.hpp"
#include "tests/support/heap_bytes.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::literals;
using hydra::test::heap_bytes;

#ifndef __SANITIZE_ADDRESS__   // which has another heap

namespace {

model_description small(const std::string& name, std::int64_t layers, std::uint32_t steps) {
  return {.name = name,
          .chain = mlp({.layers = layers, .width = 32}),
          .data = {synthetic_classes{.validation_samples = 0}},
          .batch_size = 8,
          .steps = steps,
          .optimizer = adamw({.learning_rate = 1e-3})};
}

/// Temporary memory comes and goes: the minimum of several consecutive moments is what stays.
std::size_t least(const std::vector<std::size_t>& seen, std::size_t from, std::size_t n) {
  return *std::min_element(seen.begin() + static_cast<std::ptrdiff_t>(from),
                           seen.begin() + static_cast<std::ptrdiff_t>(from + n));
}

/// Heap after each step of two models that alternate on a device that holds neither, with a callback that makes the
/// same request every time.
std::vector<std::size_t> heap_by_step(std::uint32_t steps) {
  session s{{.log = verbosity::quiet, .keep_parameters = false}};
  s.add_devices(1, cpu_device{.memory = 36_KiB});
  s.add_model(small("a", 3, steps));
  s.add_model(small("b", 3, steps));
  std::vector<std::size_t> seen;
  seen.reserve(2 * steps);
  s.on<step_completed>([&](const step_completed&, control& c) {
    seen.push_back(heap_bytes());
    for (int i = 0; i < 20; ++i) c.stop(model_id{2});
  });
  CHECK(s.run().all_finished());
  return seen;
}

/// Heap at the end of each of some models that come one after the other. (The clock of CAF holds a task for as long as
/// a callback may take: none does.)
std::vector<std::size_t> heap_by_model(int models) {
  session s{{.log = verbosity::quiet, .stall_limit = {}, .keep_parameters = false}};
  s.add_devices(1, cpu_device{.memory = 1_MiB});
  s.add_model(small("m0", 12, 3));
  std::vector<std::size_t> seen;
  s.on<step_completed>([&](const step_completed& e, control& c) {
    if (e.done != 3) return;
    seen.push_back(heap_bytes());
    if (static_cast<int>(seen.size()) < models) c.add(small(fmt::format("m{}", seen.size()), 12, 3));
  });
  CHECK(s.run().all_finished());
  return seen;
}

}  // namespace

TEST_CASE("a step leaves no more in memory than its loss", "[.deep]") {
  const auto seen = heap_by_step(1500);
  REQUIRE(seen.size() == 3000);
  const auto first = least(seen, 500, 300), last = least(seen, 2700, 300);
  INFO("heap " << first << " bytes, then " << last);
  // A loss is kept twice, in vectors that may be twice as long; malloc counts what threads keep for their next
  // requests. One chunk of 32 bytes in each step would be more.
  CHECK(last <= first + 2200 * 24 + (32 << 10));
}

TEST_CASE("a model that has ended leaves no more in memory than its part of the report", "[.deep]") {
  const auto seen = heap_by_model(240);
  REQUIRE(seen.size() == 240);
  const auto first = least(seen, 20, 20), last = least(seen, 220, 20);
  INFO("heap " << first << " bytes, then " << last);
  CHECK(last <= first + 200 * std::size_t{5120});  // names, losses, the times of its shards and of their bases
}

#endif
