#include "actors/simulation/simulated_device.hpp"

#include <catch2/catch.hpp>

#include <memory>

using namespace hydra;
using namespace std::chrono_literals;

TEST_CASE("what the closure of an operation holds stays until the operation has ended, as on a real device") {
  time_point now{};
  device_info info;
  info.memory = byte_count{1 << 20};
  simulated_device d(std::move(info), [&now] { return now; });
  d.deliver_by([](queue_kind, duration, const completion&) {});
  auto block = std::make_shared<int>(0);
  const std::weak_ptr<int> seen = block;
  const auto first = d.submit(queue_kind::compute, {.work = [] {}, .bytes = {}, .estimate = 10us, .label = {}}, {});
  d.submit(queue_kind::compute, {.work = [held = std::move(block)] {}, .bytes = {}, .estimate = 5us, .label = {}},
           {&first, 1});
  for (const auto t : {0us, 10us, 14us}) {
    now = time_point{t};
    d.release_ended(now);
    CHECK_FALSE(seen.expired());
  }
  d.release_ended(time_point{15us});
  CHECK(seen.expired());
}
