// Guarantees about time, to the nanosecond: messages take no time, so only real waits show.

#include "actors/policy/catalog.hpp"
#include "actors/simulation/simulated_device.hpp"
#include "tests/support/depth.hpp"
#include "tests/support/fuzzer.hpp"
#include "tests/support/overhear.hpp"
#include "tests/support/small_run.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

using namespace hydra;
using namespace hydra::test;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

/// Two shards, two steps, every visit 2 ms, every shard 1 ms to copy.
std::vector<simulated_model> even_models(std::size_t n) {
  std::vector<simulated_model> models;
  for (std::size_t i = 0; i < n; ++i) {
    models.push_back(even_model("m" + std::to_string(i), 2, 2, 2ms, 1ms));
  }
  return models;
}

/// The study's row "1 model x 1 device, rho .5": six shards, backward three times forward, a copy as long as a forward.
simulated_model study_model(std::uint32_t steps) {
  auto m = even_model("m", 6, steps, 1ms, 1ms);
  for (auto& s : m.shards) {
    s.backward = 3ms;
    s.activation = bytes_of(100us);
  }
  m.shards.back().backward = 4ms;  // forward, loss and backward are one unit
  return m;
}

/// Sum of the times between consecutive computations of device 0.
duration gaps(simulation& s) {
  const auto all = spans_of(s, "execute_shard", "sim:0 compute");
  duration sum{};
  for (std::size_t i = 1; i < all.size(); ++i) {
    CHECK(all[i].begin >= all[i - 1].end);
    sum += all[i].begin - all[i - 1].end;
  }
  return sum;
}

/// Device 0 is notified of every completion that much later.
void notify_late(simulation& s, duration late) {
  s.device_at(0).deliver_by([&s, late](queue_kind, duration delay, const completion& c) {
    caf::delayed_anon_send(s.actors().devices[0], delay + late, operation_completed{c});
  });
}

duration exposed(const simulation& s) { return s.record()->devices[0].counters.exposed_transfer; }

bounds bounds_of(simulation& s) {
  std::vector<unit_times> smallest;
  for (const auto& m : s.record()->models) {
    smallest.push_back(m.smallest);
  }
  resources machines{.speeds = {}, .optimizer_workers = s.record()->optimizer_workers, .memory = {}};
  for (std::size_t d = 0; d < s.record()->devices.size(); ++d) {
    const auto& info = s.device_at(d).info();
    machines.speeds.push_back(info.speed);
    machines.memory += info.usable();
  }
  return lower_bounds(smallest, machines);
}

/// On two devices without transfers, where nothing is staged ahead: the scheduling problem of the theory.
duration late_makespan(const std::vector<simulated_model>& models, const std::string& policy) {
  auto setup = even_run(models, 2);
  setup.chosen = make_policy(policy, 0);
  setup.pipeline.double_buffer = false;
  const auto s = finished(std::move(setup));
  CHECK(makespan(*s) >= bounds_of(*s).best());
  return makespan(*s);
}

using plain_span = std::tuple<std::string, std::string, time_point, time_point, std::string>;

std::vector<plain_span> plain_spans(simulation& s) {
  std::vector<plain_span> all;
  for (const auto& x : s.spans().spans()) {
    all.emplace_back(x.name, x.track, x.begin, x.end, x.detail);
  }
  return all;
}

}  // namespace

// -- transfers --------------------------------------------------------------------------------------------------------

TEST_CASE("copies of half a computation are hidden by computations: only the first is exposed", "[time]") {
  const auto s = finished(even_run(even_models(4), 1));
  CHECK(gaps(*s) == 0ns);
  CHECK(exposed(*s) == 1ms);
  CHECK(makespan(*s) ==
        1ms + 4 * 2 * 3 * 2ms + 1ms);  // first parameters up, 4 models x 2 steps x 3 units, last gradients down
}

TEST_CASE("a lone model is double-buffered: its next shard is copied during the current one", "[time]") {
  const auto s = finished(even_run({study_model(1)}, 1));
  std::map<std::string, span> computations;
  for (const auto& x : spans_of(*s, "execute_shard")) {
    computations[x.detail] = x;
  }
  std::map<std::string, span> copies;
  for (const auto& x : spans_of(*s, "prefetch_shard")) {
    copies[x.detail] = x;
  }
  for (int shard = 1; shard < 6; ++shard) {
    const auto next = std::string(shard == 5 ? "backward " : "forward ") + std::to_string(shard);
    const auto& copy = copies.at("parameters of m " + next + " step 0");
    const auto& present = computations.at("m forward " + std::to_string(shard - 1) + " step 0 micro-batch 0");
    INFO(next);
    CHECK(copy.begin >= present.begin);
    CHECK(copy.end <= present.end);
  }
}

TEST_CASE("a lone model waits only at each step boundary, as its chain bound says", "[time]") {
  constexpr int steps = 5;
  const auto s = finished(even_run({study_model(steps)}, 1));
  CHECK(makespan(*s) == steps * 26ms);  // 24 ms of computations; gradients of shard 0 down, its next version up
  CHECK(bounds_of(*s).work == steps * 24ms);
  CHECK(bounds_of(*s).chain == makespan(*s));
}

TEST_CASE("a step that is clipped waits for the last gradient, one that is not only for that of shard 0", "[time]") {
  auto m = study_model(2);
  for (auto& s : m.shards) {
    s.update = 1ms;
  }
  CHECK(makespan(*finished(even_run({m}, 1))) == 2 * 26ms + 2 * 1ms);
  m.clips = true;
  const auto clipped = finished(even_run({m}, 1));
  // All six updates start when the last gradient is written back, shard 0 first; shard 0 continues after 1 ms, the last
  // version of the run is there 6 ms after its last gradient.
  CHECK(makespan(*clipped) == 2 * 26ms + 1ms + 6ms);
}

TEST_CASE("of updates that wait that of the lowest shard comes first, because the next step begins with it", "[time]") {
  auto m = even_model("m", 3, 2, 2ms, 0ms);
  for (auto& s : m.shards) {
    s.update = 5ms;
  }
  auto setup = even_run({m}, 1);
  setup.optimizer_workers = 1;
  // Gradients arrive 6, 8 and 10 ms after the step has begun, those of shard 0 last: shard 2 is updated after 11, shard
  // 0 after 16, shard 1 after 21 ms. Meanwhile shard 0 begins the next step, whose units are thus only 15 ms later.
  CHECK(makespan(*finished(std::move(setup))) == 21ms + 4ms + 15ms + 2 * 4ns);  // and the losses are copied
}

// -- no actor between two units ---------------------------------------------------------------------------------------

TEST_CASE("the staged unit is on the compute queue before the current one ends", "[time]") {
  simulation s(even_run(even_models(4), 1));
  std::vector<time_point> submitted;
  s.device_at(0).inject([&](queue_kind queue, const operation&) {
    if (queue == queue_kind::compute) {
      submitted.push_back(s.now());
    }
    return fault{};
  });
  s.run();
  const auto all = spans_of(s, "execute_shard", "sim:0 compute");
  REQUIRE(all.size() == submitted.size());
  for (std::size_t i = 1; i < all.size(); ++i) {
    INFO(all[i].detail);
    CHECK(submitted[i] == all[i - 1].begin);
    CHECK(all[i].begin == all[i - 1].end);
  }
}

TEST_CASE("completions that are reported 500 us late delay no computation", "[time]") {
  simulation s(even_run(even_models(4), 1));
  notify_late(s, 500us);
  s.run();
  CHECK(gaps(s) == 0ns);
  CHECK(makespan(s) == 1ms + 24 * 2ms + 1ms + 500us);
}

namespace {

/// Four models on a device of exactly (P + C) + W; each completion is reported 500 us late. `write_back` of C is free
/// only when the copies to the host have ended. Checks the gap between a backward unit and a unit of another model
/// behind it.
void check_gap_after_backward(duration write_back, duration gap) {
  constexpr auto copy = 1024us;  // 2000 x 512 bytes
  std::vector<simulated_model> models;
  for (const auto* name : {"a", "b", "c", "d"}) {
    models.push_back(even_model(name, 2, 2, 2ms, copy));
    for (auto& shard : models.back().shards) {
      shard.working = bytes_of(3 * copy);
      shard.write_back = bytes_of(write_back);
    }
  }
  auto setup = even_run(models, 1);
  setup.devices[0].memory = bytes_of(copy + 3 * copy) + bytes_of(copy);
  setup.pipeline.staging_bytes = bytes_of(copy);
  simulation s(std::move(setup));
  notify_late(s, 500us);
  s.run();
  const auto all = spans_of(s, "execute_shard");
  REQUIRE(all.size() == 24);
  for (std::size_t i = 1; i < all.size(); ++i) {
    INFO(all[i - 1].detail << ", then " << all[i].detail);
    if (all[i].detail[0] != all[i - 1].detail[0]) {
      const auto has = [&](const char* what) { return all[i - 1].detail.find(what) != std::string::npos; };
      const auto loss = gap > 0ns && has("backward 1") ? 4ns : 0ns;  // four bytes that are written back, too
      CHECK(all[i].begin - all[i - 1].end == (has("backward") ? gap + loss : 0ns));
    }
  }
}

}  // namespace

TEST_CASE("on a device that is just large enough bytes pass from unit to unit without a message", "[time]") {
  check_gap_after_backward(0us, 0us);
}

TEST_CASE("write-back bytes pass to the next unit when they are written back, without a message", "[time]") {
  check_gap_after_backward(3 * 1024us, 1024us);
}

// -- ablations --------------------------------------------------------------------------------------------------------

TEST_CASE("without a double buffer every copy of parameters is exposed", "[time]") {
  auto setup = even_run(even_models(4), 1);
  setup.pipeline.double_buffer = false;
  const auto s = finished(std::move(setup));
  // Forward 0 and backward 1 load their shard; backward 0 finds what forward 0 has loaded.
  CHECK(gaps(*s) == (4 * 2 * 2 - 1) * 1ms);
  CHECK(exposed(*s) == 1ms + gaps(*s));
  CHECK(makespan(*s) == 4 * 2 * (3 * 2ms + 2 * 1ms) + 1ms);
}

TEST_CASE("without a cache backward visits load again what forward visits had loaded", "[time]") {
  auto setup = even_run(even_models(4), 1);
  const auto with = finished(even_run(even_models(4), 1));
  setup.pipeline.cache = false;
  const auto without = finished(std::move(setup));
  const auto& counters = without->record()->devices[0].counters;
  CHECK(counters.hits == 0);
  CHECK(counters.h2d_bytes == bytes_of(4 * 2 * 3 * 1ms));
  CHECK(with->record()->devices[0].counters.h2d_bytes == bytes_of(4 * 2 * 2 * 1ms));
}

TEST_CASE("without a cache a unit still reads its boundary where the unit before produced it", "[time]") {
  auto m = even_model("m", 2, 1, 2ms, 1ms);
  m.shards[0].activation = bytes_of(500us);
  auto setup = even_run({m}, 1);
  setup.pipeline.cache = false;
  const auto s = finished(std::move(setup));
  CHECK(makespan(*s) == 1ms + 3 * 2ms + 1ms);
  CHECK(s->record()->devices[0].counters.h2d_bytes == bytes_of(3 * 1ms));  // each unit its parameters, no boundary
}

// -- determinism, policies, bounds ------------------------------------------------------------------------------------

TEST_CASE("the same setup gives the same trace, to the nanosecond", "[time]") {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    auto first = finished(make_case(seed).setup);
    auto second = finished(make_case(seed).setup);
    CHECK(plain_spans(*first) == plain_spans(*second));
  }
}

TEST_CASE("sharded-lrtf starts the model that has most left", "[time]") {
  std::vector models{even_model("light", 2, 1, 1ms, 1ms), even_model("heavy", 2, 3, 1ms, 1ms),
                     even_model("middle", 2, 2, 1ms, 1ms)};
  const auto s = finished(even_run(models, 1));
  const auto all = spans_of(*s, "execute_shard");
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK_THAT(all[i].detail, Contains("heavy"));  // although the light one was announced first
  }
  CHECK_THAT(all[3].detail, Contains("middle"));  // the step boundary of the heavy one
}

TEST_CASE("three equal models on two devices: sharded-lrtf is near the bound, whole-model takes 4/3 of it", "[time]") {
  const std::vector models(3, even_model("m", 2, 40, 1ms, 0ms));  // each 120 ms
  CHECK(late_makespan(models, "sharded-lrtf") == 180ms);
  CHECK(late_makespan(models, "whole-model") == 240ms);
}

TEST_CASE("models of lengths 1:2:3:4 separate fifo from sharded-lrtf as theory says", "[time]") {
  std::vector<simulated_model> models;
  for (std::uint32_t k = 1; k <= 4; ++k) {
    models.push_back(even_model("m", 8, 8 * k, 1ms, 0ms));
  }
  CHECK(late_makespan(models, "sharded-lrtf") == 600ms);  // 10 * 120 ms of work on two devices
  // Fifo shares evenly: model 1 ends at 2, model 2 at 3.5, model 3 at 4.5 and model 4 alone at 5.5 times 120 ms.
  const auto took = late_makespan(models, "fifo");
  CHECK(took >= 660ms);
  CHECK(took <= 660ms + 4ms);  // it cannot share units
}

TEST_CASE("every built-in policy finishes every model, in order", "[time]") {
  const auto models = even_models(5);
  for (const auto& entry : built_in_policies()) {
    INFO(entry.name);
    auto setup = even_run(models, 2);
    setup.chosen = make_policy(entry.name, 7);
    const auto s = finished(std::move(setup));
    CHECK(unfinished(*s, models) == "");
    CHECK(out_of_order(*s, models) == "");
    CHECK(s->record()->policy == entry.name);
    CHECK(s->record()->leftovers == "");
  }
}

TEST_CASE("no run is shorter than its bounds", "[time]") {
  for (const std::uint32_t seed : seeds(400)) {
    INFO("seed " << seed);
    auto setup = make_case(seed).setup;
    for (auto& d : setup.devices) {
      d.link = setup.devices[0].link;  // a copy that takes no time counts as not measured
      d.latency = setup.devices[0].latency;
    }
    const auto s = finished(std::move(setup));
    REQUIRE(bounds_of(*s).best() <= makespan(*s));
  }
}

// -- controllers ------------------------------------------------------------------------------------------------------

TEST_CASE("a model that is not observed does not wait for a controller", "[time]") {
  simulation s(even_run(even_models(1), 1));
  bool observed = false;
  do {
    const auto m = overhear(s);
    observed = observed || (m && (m->get<step_observed>() || m->get<step_acknowledged>()));
  } while (s.step());
  CHECK_FALSE(observed);
  CHECK(s.record()->models[0].steps == 2);
}

TEST_CASE("a callback's stop ends its model exactly after that step, and no other model", "[time]") {
  const std::vector models{even_model("a", 2, 6, 2ms, 1ms), even_model("b", 2, 6, 2ms, 1ms)};
  auto setup = even_run(models, 2);
  setup.callbacks.add<step_completed>([](const step_completed& m, control& wishes) {
    if (m.name == "a" && m.done == 3) {
      wishes.stop(m.model);
    }
  });
  const auto s = finished(std::move(setup));
  const auto& a = s->record()->models[0];
  CHECK((a.stopped && a.steps == 3 && a.history.losses.size() == 3));
  CHECK_FALSE(s->record()->models[1].stopped);
  CHECK(s->record()->models[1].steps == 6);
  CHECK(out_of_order(*s, models) == "");
  CHECK(s->record()->leftovers == "");
}

// -- policies that misbehave ------------------------------------------------------------------------------------------

namespace {

/// Does well for `good` decisions, then what `then` does.
class spoiled_policy final : public policy {
 public:
  using decision = std::optional<std::size_t> (*)(std::size_t candidates);
  spoiled_policy(int good, decision then) : good_(good), then_(then) {}

  std::string name() const override { return "spoiled"; }
  std::optional<std::size_t> choose(const device_state&, std::span<const candidate> candidates,
                                    const policy_view&) override {
    return good_-- > 0 ? std::optional<std::size_t>(0) : then_(candidates.size());
  }

 private:
  int good_;
  decision then_;
};

}  // namespace

TEST_CASE("a policy that throws, chooses what is not there or stays silent is replaced, and the run finishes",
          "[time]") {
  const auto throws = [](std::size_t) -> std::optional<std::size_t> { throw std::runtime_error("no idea"); };
  const auto invents = [](std::size_t candidates) { return std::optional(candidates); };
  const auto is_silent = [](std::size_t) { return std::optional<std::size_t>(); };
  for (const auto then :
       {spoiled_policy::decision(throws), spoiled_policy::decision(invents), spoiled_policy::decision(is_silent)}) {
    for (const int good : {0, 1, 5, 12}) {
      const auto models = even_models(3);
      auto setup = even_run(models, 2);
      setup.chosen = std::make_unique<spoiled_policy>(good, then);
      const auto s = finished(std::move(setup));
      INFO("after " << good << " good decisions");
      CHECK(unfinished(*s, models) == "");
      CHECK(out_of_order(*s, models) == "");
      CHECK(s->record()->policy == "sharded-lrtf");
    }
  }
}
