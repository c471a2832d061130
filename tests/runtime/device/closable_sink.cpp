#include "runtime/device/closable_sink.hpp"

#include "runtime/device/ticket.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <memory>
#include <vector>

using namespace hydra;

namespace {

completion numbered(std::uint64_t n) { return {.operation = ticket{n}, .begin = {}, .end = {}, .error = {}}; }

}  // namespace

TEST_CASE("a sink passes completions on until it is closed") {
  std::vector<std::uint64_t> notified;
  closable_sink<completion> s;
  const auto device_side = s.sink();
  device_side(numbered(1));  // not open yet
  s.open([&](const completion& c) { notified.push_back(c.operation.value); });
  device_side(numbered(2));
  s.close();
  device_side(numbered(3));
  CHECK(notified == std::vector<std::uint64_t>{2});
}

TEST_CASE("closing a sink destroys its receiver, however long the device keeps its copy") {
  const auto held = std::make_shared<int>(0);
  completion_sink device_side;
  {
    closable_sink<completion> s;
    device_side = s.sink();
    s.open([held](const completion&) {});
    CHECK(held.use_count() == 2);
  }
  CHECK(held.use_count() == 1);
  device_side(numbered(1));
}
