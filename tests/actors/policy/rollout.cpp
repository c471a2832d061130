#include "actors/policy/rollout.hpp"

#include "tests/actors/policy/units.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;

namespace rollout_test {

duration us(int n) { return std::chrono::microseconds{n}; }

/// Two devices, the second free in 50 us; units of 10 us.
struct two_devices {
  explicit two_devices(const std::vector<int>& remaining) : devices(2) {
    devices[1].device = device_id{1};
    devices[1].idle = false;
    devices[1].free_at = at(50);
    for (std::uint32_t i = 0; i < remaining.size(); ++i) {
      model_state m;
      m.model = model_id{i};
      m.remaining = us(remaining[i]);
      m.next_cost = us(10);
      models.push_back(m);
      candidate c;
      c.next = forward(i, 0, 0);
      c.remaining = us(remaining[i]);
      c.cost = us(10);
      c.model_at = i;
      candidates.push_back(c);
    }
  }

  std::optional<std::size_t> chosen(policy& p) const {
    return p.choose(devices[0], candidates, {.now = at(0), .devices = devices, .models = models});
  }

  std::vector<device_state> devices;
  std::vector<model_state> models;
  std::vector<candidate> candidates;
};

TEST_CASE("rollout takes the first move of the completion that ends first", "[policy]") {
  rollout p{1, 64};
  CHECK(two_devices{{50, 100}}.chosen(p) == 1);  // 100 us; 110 us if the short model goes first
  CHECK(two_devices{{100, 50}}.chosen(p) == 0);
}

TEST_CASE("rollout counts the transfer of the first move", "[policy]") {
  rollout p{1, 64};
  two_devices w{{60, 60}};
  w.candidates[0].transfer_time = us(500);
  CHECK(w.chosen(p) == 1);
}

TEST_CASE("rollout counts what runs and is staged before the models' next units", "[policy]") {
  rollout p{1, 64};
  two_devices w{{60, 100}};
  w.models[0].running = device_id{1};  // cannot start for 50 us: 150 us, instead of 110 us
  CHECK(w.chosen(p) == 1);
}

TEST_CASE("rollout makes the same choices for the same seed", "[policy]") {
  rollout a{7};
  rollout b{7};
  const two_devices w{{60, 61, 62, 63, 64}};
  for (int i = 0; i < 20; ++i) {
    CHECK(w.chosen(a) == w.chosen(b));
  }
}

TEST_CASE("rollout cuts a long rest into few pieces", "[policy]") {
  rollout p{1, 2};
  two_devices w{{2000000000, 1000000000}};
  w.models[0].next_cost = w.models[1].next_cost = duration{1};
  w.candidates[0].cost = w.candidates[1].cost = duration{1};
  CHECK(w.chosen(p));  // in units of a nanosecond this would never end
}

}  // namespace rollout_test
