// Bounds from staging and cache slots, against a search over all ways to load.

#include "actors/simulation/instance_bounds.hpp"
#include "runtime/base/portable_random.hpp"
#include "tests/support/depth.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <limits>

using namespace hydra;
using namespace std::chrono_literals;
using hydra::test::seeds;

namespace {

schedule_instance equal_models(std::size_t models, std::size_t devices, std::uint32_t slots) {
  schedule_instance i;
  i.devices.resize(devices);
  i.slots = slots;
  instance_model m;
  m.steps = 7;
  m.forward.assign(6, 1ms);
  m.backward.assign(6, 3ms);
  m.h2d.assign(6, 2ms);
  m.d2h_gradient.assign(6, 2ms);
  m.optimizer.assign(6, 0ms);
  i.models.assign(models, m);
  return i;
}

instance_model some_model(portable_random& random) {
  const auto some = [&](std::size_t n, std::uint32_t most) {
    std::vector<duration> times;
    for (std::size_t k = 0; k < n; ++k) {
      times.push_back(std::chrono::microseconds{random.whole(0, most)});
    }
    return times;
  };
  instance_model m;
  const auto shards = random.whole(1, 5);
  m.steps = random.whole(1, 2);
  m.forward = some(shards, 30);
  m.backward = some(shards, 60);
  m.h2d = some(shards, 90);
  m.d2h_gradient = some(shards, 30);
  m.optimizer = some(shards, 0);
  return m;
}

/// The least time by the two arguments, in us: over all sets of backward visits that load.
class least_time {
 public:
  least_time(const schedule_instance& i, completion_rule rule) : given_(i), rule_(rule) {
    for (const auto& m : i.models) {
      for (std::uint32_t step = 0; step < m.steps; ++step) {
        add_step(m);
      }
    }
  }

  double find() {
    choose(0);
    return least_;
  }

 private:
  void add_step(const instance_model& m) {
    double between = 0;
    for (auto s = m.forward.size(); s-- > 0;) {
      const auto f = us(m.forward[s]), b = us(m.backward[s]), w = us(m.h2d[s]);
      const bool last = s + 1 == m.forward.size();
      loads_.push_back(w);
      slot_time_ += f + b + w + (rule_ == completion_rule::ended ? us(m.d2h_gradient[s]) : 0);
      if (last) {
        units_.push_back(f + b);
      } else {
        units_.insert(units_.end(), {f, b});
        back_.push_back({w, between});
      }
      between += f + b;
    }
  }

  void choose(std::size_t k) {
    if (k == back_.size()) {
      least_ = std::min(least_, std::max(devices(), slot_time_ / (count() * given_.slots)));
      return;
    }
    const auto [load, held] = back_[k];
    slot_time_ += held;
    choose(k + 1);
    slot_time_ += load - held;
    loads_.push_back(load);
    choose(k + 1);
    loads_.pop_back();
    slot_time_ -= load;
  }

  double count() const { return static_cast<double>(given_.devices.size()); }

  /// The longest loads behind the longest units, whatever devices they are on.
  double devices() const {
    auto units = units_, loads = loads_;
    double sum = 0;
    if (given_.depth > 1 || !given_.prefetch) {
      for (const auto w : loads) {
        sum += w;
      }
      for (const auto p : units) {
        sum += given_.prefetch ? 0 : p;
      }
      return sum / count();
    }
    units.resize(units.size() + loads.size());
    loads.resize(units.size());
    std::ranges::sort(units, std::greater{});
    std::ranges::sort(loads, std::greater{});
    for (std::size_t k = 0; k < units.size(); ++k) {
      sum += std::max(units[k], loads[k]);
    }
    return sum / count();
  }

  static double us(duration t) { return static_cast<double>(t.count()) / 1e3; }

  struct back {
    double load, held;
  };
  const schedule_instance& given_;
  completion_rule rule_;
  std::vector<double> units_, loads_;
  std::vector<back> back_;
  double slot_time_ = 0;
  double least_ = std::numeric_limits<double>::infinity();
};

}  // namespace

TEST_CASE("loads are hidden behind units at best, the longest ones behind the longest") {
  schedule_instance i;
  i.devices.emplace_back();
  i.models.resize(2);
  const auto set = [](instance_model& m, std::uint32_t steps, duration unit, duration load) {
    m.steps = steps;
    m.forward = {0ms};
    m.backward = {unit};
    m.h2d = {load};
    m.d2h_gradient = m.optimizer = {0ms};
  };
  set(i.models[0], 4, 10ms, 1ms);
  set(i.models[1], 8, 1ms, 5ms);
  CHECK(bounds_of(i).limits.work == 48ms);
  CHECK(bounds_of(i).limits.h2d == 44ms);
  CHECK(bounds_of(i).staging.staged_work == 4 * 10ms + 4 * 5ms + 4 * 1ms);  // four loads behind short units
  i.prefetch = false;
  CHECK(bounds_of(i).staging.staged_work == 48ms + 44ms);
  i.prefetch = true;
  i.slots = 3;
  i.depth = 2;
  CHECK_FALSE(bounds_of(i).staging.staged_work);
}

TEST_CASE("only shards of one lane that are trained are loaded again or held for a backward visit") {
  schedule_instance i;
  i.devices.emplace_back();
  auto& m = i.models.emplace_back();
  const auto shards = [&](std::size_t n, duration load) {
    m.forward.assign(n, 1ms);
    m.backward.assign(n, 3ms);
    m.h2d.assign(n, load);
    m.d2h_gradient = m.optimizer = std::vector<duration>(n);
  };
  const auto slots = [&] { return bounds_of(i).staging.slots; };
  shards(2, 4ms);
  CHECK(slots() == 10ms);  // of two slots: 8 ms of units, 8 ms of loads, and 4 ms that hold or load shard 0 for B_0
  m.first_trained = 1;
  CHECK(slots() == 8ms);  // no B_0: devices wait for loads
  m.first_trained = 0;
  shards(8, 5ms);
  CHECK(slots() > 60ms);
  m.waves = 2;
  CHECK(slots() == 78ms);  // that of devices: loads of 5 ms behind 16 units of 3 ms, one for both waves
}

TEST_CASE("few slots either hold shards for their backward visits or have them loaded again") {
  // A step of each model computes for 24 ms and loads for 12 ms. With x of its five backward visits loading, the
  // devices take 24 + x ms, the slots 24 + 12 + 2 x ms and what they hold: 20, 16, 12, 8 and 4 ms for the others.
  constexpr auto steps = 7 * 12 / 8.0;
  const auto slots = [&](std::uint32_t k, completion_rule rule) {
    return seconds(bounds_of(equal_models(12, 8, k), rule).staging.slots) / steps;
  };
  CHECK(slots(2, completion_rule::written_back) == Approx(0.027));       // x = 3: (36 + 6 + 8 + 4) / 2
  CHECK(slots(2, completion_rule::ended) == Approx(0.029));              // x = 5: (36 + 10 + 12) / 2, of drains 12
  CHECK(slots(3, completion_rule::written_back) == Approx(0.024 + 0.001 * 20 / 17));  // (76 - 14 x) / 3 = 24 + x, x > 1
  CHECK(slots(8, completion_rule::written_back) == Approx(0.024));       // all fit: the devices decide
}

TEST_CASE("staging and slots take as long as the best set of loads, or the bound is a little below") {
  double sum = 0;
  const auto all = seeds(400);
  for (const std::uint32_t seed : all) {
    portable_random random{seed};
    schedule_instance i;
    i.devices.resize(random.whole(1, 2));
    i.slots = random.whole(2, 4);
    i.prefetch = random.share() < 0.8;
    i.depth = i.prefetch && random.share() < 0.3 ? i.slots - 1 : 1;
    for (auto m = random.whole(1, 2); m > 0; --m) {
      i.models.push_back(some_model(random));
    }
    for (const auto rule : {completion_rule::ended, completion_rule::written_back}) {
      const auto exact = least_time(i, rule).find();
      const auto bound = seconds(bounds_of(i, rule).staging.slots) * 1e6;
      INFO("seed " << seed);
      REQUIRE(bound <= exact + 0.001);
      sum += exact > 0 ? bound / exact : 1;
    }
  }
  CHECK(sum / (2.0 * static_cast<double>(all.size())) > 0.98);
}
