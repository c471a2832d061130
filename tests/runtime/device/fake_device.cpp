#include "tests/support/fake_device.hpp"

#include "tests/support/completion_log.hpp"
#include "tests/conformance/device.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace hydra;
using namespace hydra::literals;
using namespace std::chrono_literals;
using hydra::test::fake_device;

namespace {

/// A fake device that is stepped by hand; its operations write their names.
struct by_hand {
  by_hand() { dev.on_completion(log.sink()); }

  ticket submit(queue_kind queue, char name, duration estimate = {}, std::vector<ticket> after = {}) {
    operation op;
    op.work = [this, name] { ran += name; };
    op.estimate = estimate;
    return dev.submit(queue, std::move(op), after);
  }

  std::string ran;
  test::completion_log log;
  fake_device dev{test::fake_info(1_MiB), fake_device::drive::by_hand};
};

}  // namespace

TEST_CASE("the fake device conforms to the device interface, except for overlapping queues") {
  const auto make = [](byte_count budget) { return std::make_unique<fake_device>(test::fake_info(budget)); };
  test::conforms(make, {.concurrent_queues = false});
}

TEST_CASE("by hand, operations run in the order of submission") {
  by_hand h;
  h.submit(queue_kind::d2h, 'a');
  h.submit(queue_kind::compute, 'b');
  h.submit(queue_kind::h2d, 'c');
  REQUIRE(h.ran.empty());
  REQUIRE(h.dev.step());
  REQUIRE(h.ran == "a");
  REQUIRE(h.dev.drain() == 2);
  REQUIRE(h.ran == "abc");
  REQUIRE_FALSE(h.dev.step());
}

TEST_CASE("by hand, one queue can be stepped while the others wait") {
  by_hand h;
  const ticket copy = h.submit(queue_kind::h2d, 'a');
  h.submit(queue_kind::compute, 'b', {}, {copy});
  h.submit(queue_kind::d2h, 'c');
  REQUIRE_FALSE(h.dev.step(queue_kind::compute));
  REQUIRE(h.dev.step(queue_kind::d2h));
  REQUIRE(h.dev.step(queue_kind::h2d));
  REQUIRE(h.dev.step(queue_kind::compute));
  REQUIRE(h.ran == "cab");
  REQUIRE(h.dev.pending() == 0);
}

TEST_CASE("the times of a fake device are its estimates") {
  by_hand h;
  h.submit(queue_kind::compute, 'a', 5ms);
  h.submit(queue_kind::h2d, 'b');
  h.dev.drain();
  const auto all = h.log.all();
  REQUIRE(all[0].end - all[0].begin == 5ms);
  REQUIRE(all[1].begin == all[0].end);
  REQUIRE(all[1].end - all[1].begin == 1us);
}
