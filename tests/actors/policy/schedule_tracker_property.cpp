// Random events against the schedule tracker; a second, slower tracker (`world`) has the expected results.

#include "actors/policy/schedule_tracker.hpp"

#include "tests/actors/policy/units.hpp"
#include "tests/support/shape_graphs.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <vector>

using namespace hydra;
using namespace hydra::test;

namespace schedule_tracker_property_test {

constexpr std::uint32_t model_count = 4;
constexpr std::uint32_t device_count = 3;

/// One lane of a small model task: what it has announced, what is in flight, where it rewinds to.
struct task {
  std::uint32_t model = 0;
  std::uint32_t lane = 0;
  std::vector<std::size_t> others{};      ///< other lanes of the model
  const task* before = nullptr;         ///< the wave before; null: the first
  model_graphs_ptr graphs{};
  std::vector<unit> chain{};
  std::size_t step_length = 0;
  std::size_t next = 0;  ///< first unit of the chain that is neither announced nor in flight nor complete
  std::size_t completed = 0;
  std::uint32_t attempt = 0;
  std::optional<unit_ready> announced{};
  std::vector<flight> flights{};  ///< of neighbours in the chain, the first one is chain[completed]

  bool has(const unit& u) const {
    const auto& mine = chain.front();
    return u.model == mine.model && u.replica == mine.replica && u.wave == mine.wave;
  }
  /// A unit of this lane that follows one of another lane.
  bool follows(const unit& u, const unit& other) const {
    const auto& step = graphs->step;
    return u.model == other.model && u.step == other.step && step.follows(*step.find(u), *step.find(other));
  }
  bool flies_on(device_id d) const { return std::ranges::count(flights, d, &flight::device) > 0; }
  /// Of the wave before, if this is a backward unit: same position in the chain, because all lanes have the same units.
  std::optional<flight> pending_sum(std::size_t at) const {
    if (before == nullptr || chain[at].way != direction::backward || before->completed > at ||
        before->completed + before->flights.size() <= at) {
      return std::nullopt;
    }
    return before->flights[at - before->completed];
  }
  bool sum_is_missing(std::size_t at) const {
    return before != nullptr && chain[at].way == direction::backward &&
           before->completed + before->flights.size() <= at;
  }
  bool is_bound_to(device_id d) const {
    const auto sum = pending_sum(completed + flights.size());
    return flies_on(d) || (sum && sum->device == d);
  }
  bool may_be_staged_on(device_id d) const {
    return announced && (!announced->after || *announced->after == d || !is_bound_to(*announced->after));
  }
};

struct device {
  std::uint32_t credits = 0;
  std::uint32_t slots_taken = 0;  ///< staged units, lost or not, whose credit has not been returned
  std::set<block_id> cache;
};

struct world {
  std::mt19937 rng;
  std::vector<task> tasks;
  std::map<device_id, device> devices;
  std::set<unit> placed;
  std::set<unit> lost;
  std::size_t losses_seen = 0;
  schedule_tracker* under_test = nullptr;

  explicit world(std::uint32_t seed) : rng(seed) {}
  task& pick_task() { return tasks[pick(tasks.size())]; }
  task& task_of(const unit& u) {
    return *std::ranges::find_if(tasks, [&](const task& t) { return t.has(u); });
  }
  std::size_t pick(std::size_t n) { return rng() % n; }
  bool chance(std::size_t in) { return pick(in) == 0; }
};

/// All lanes of a model read the same.
block_id shared_parameters(const unit& u) { return parameters(in_lane(u, 0)); }

/// Chooses at random, sometimes nothing, and checks its arguments.
class inspector final : public policy {
 public:
  explicit inspector(world& w) : w_(w) {}
  std::string name() const override { return "inspector"; }

  std::optional<std::size_t> choose(const device_state& d, std::span<const candidate> shown,
                                    const policy_view& v) override {
    REQUIRE(w_.devices.at(d.device).credits > 0);
    std::vector<unit> expected;
    for (const auto& t : w_.tasks) {
      if (t.may_be_staged_on(d.device)) {
        expected.push_back(t.announced->what);
      }
    }
    std::vector<unit> units;
    for (const auto& c : shown) {
      units.push_back(c.next);
      check(c, d.device);
    }
    REQUIRE(units == expected);
    check(v);
    return w_.chance(3) ? std::nullopt : std::optional{take(d.device, shown)};
  }

 private:
  void check(const candidate& c, device_id d) const {
    const auto& t = w_.task_of(c.next);
    const auto& after = t.announced->after;
    REQUIRE(c.chained == (after && t.is_bound_to(*after)));
    REQUIRE((c.transfer == byte_count{}) == w_.devices.at(d).cache.contains(shared_parameters(c.next)));
  }

  void check(const policy_view& v) const {
    REQUIRE(v.models.size() == w_.tasks.size());
    for (std::size_t i = 0; i < v.models.size(); ++i) {
      const auto& m = v.models[i];
      const auto& t = w_.tasks[i];
      REQUIRE((m.model.value == t.model && m.lane == t.lane));
      REQUIRE((m.candidate == t.announced.has_value() && m.flights == t.flights.size()));
    }
  }

  /// The choice takes effect in the world at once: it is asked again within the same decision.
  std::size_t take(device_id d, std::span<const candidate> shown) const {
    const auto choice = w_.pick(shown.size());
    const auto& u = shown[choice].next;
    auto& t = w_.task_of(u);
    REQUIRE(w_.placed.insert(u).second);  // never twice in one attempt
    REQUIRE(t.may_be_staged_on(d));
    t.flights.push_back({.what = u, .device = d, .cost = t.announced->cost});
    t.announced.reset();
    --w_.devices.at(d).credits;
    ++w_.devices.at(d).slots_taken;
    return choice;
  }

  world& w_;
};

// -- events ----------------------------------------------------------------------------------------------------------

/// The first of a step waits for the step before of all other lanes.
bool other_lanes_are_behind(const world& w, const task& t) {
  const auto step = t.chain[t.next].step.value;
  const auto least = step * t.step_length;
  return std::ranges::any_of(t.others, [&](std::size_t i) { return w.tasks[i].completed < least; });
}

void announce(world& w) {
  auto& t = w.pick_task();
  if (t.announced || t.next == t.chain.size() || t.sum_is_missing(t.next) || other_lanes_are_behind(w, t)) {
    return;
  }
  const auto sum = t.pending_sum(t.next);
  auto after = t.flights.empty() ? std::nullopt : std::optional{t.flights.back().device};
  if (sum && after && sum->device != *after) {
    return;
  }
  after = sum ? sum->device : after;
  auto u = t.chain[t.next++];
  u.attempt = t.attempt;
  t.announced = ready(u, w.chance(8) ? std::nullopt : after);
  REQUIRE(w.under_test->announce(*t.announced, at(0)));
}

void give_credit(world& w) {
  auto d = std::next(w.devices.begin(), static_cast<std::ptrdiff_t>(w.pick(w.devices.size())));
  if (d->second.slots_taken == 0) {
    return;
  }
  --d->second.slots_taken;
  ++d->second.credits;
  w.under_test->device_freed(d->first, 1, std::nullopt, at(0));
}

void complete(world& w) {
  auto& t = w.pick_task();
  if (t.flights.empty() || t.pending_sum(t.completed)) {
    return;
  }
  REQUIRE(w.under_test->unit_completed(t.flights.front().what, at(1)));
  CHECK_FALSE(w.under_test->unit_completed(t.flights.front().what, at(1)));
  t.flights.erase(t.flights.begin());
  ++t.completed;
}

/// The loss must contain what the task has in flight from its first lost unit on; the task rewinds.
void check_and_rewind(world& w, const model_loss& loss, std::size_t first) {
  auto& t = w.task_of(loss.first);
  const std::vector expected(t.flights.begin() + static_cast<std::ptrdiff_t>(first), t.flights.end());
  REQUIRE(units_of(loss.lost) == units_of(expected));
  for (const auto& f : expected) {
    REQUIRE(w.lost.insert(f.what).second);  // reported once
    REQUIRE(f.what.attempt < loss.next_attempt);
  }
  REQUIRE(loss.next_attempt > t.attempt);
  const auto where = std::ranges::find_if(t.chain, [&](const unit& u) { return same_visit(u, loss.first); });
  REQUIRE(where - t.chain.begin() >= static_cast<std::ptrdiff_t>(t.completed + first));
  t.flights.resize(first);
  t.next = t.completed + first;
  t.announced.reset();
  t.attempt = loss.next_attempt;
  w.losses_seen += expected.size();
  if (t.next == t.chain.size()) {
    return;
  }
  auto stale = t.chain[t.next];
  stale.attempt = loss.next_attempt - 1;
  CHECK_FALSE(w.under_test->announce(ready(stale), at(0)));
}

std::vector<unit> without(std::vector<unit> units, const std::function<bool(const unit&)>& unwanted) {
  std::erase_if(units, unwanted);
  return units;
}

/// The lanes that lose something: for each the first flight that is lost, or the number of its flights if it loses only
/// its announcement. By what follows what, flight by flight.
std::map<std::size_t, std::size_t> lost_lanes(const world& w, const std::function<bool(const flight&)>& lost) {
  std::map<std::size_t, std::size_t> first;
  std::vector<unit> causes;
  for (std::size_t i = 0; i < w.tasks.size(); ++i) {
    const auto& t = w.tasks[i];
    const auto is_lost = [&](const flight& f) {
      return lost(f) || std::ranges::any_of(causes, [&](const unit& cause) { return t.follows(f.what, cause); });
    };
    const auto hit = std::ranges::find_if(t.flights, is_lost);
    const auto of_replica = [&](const unit& u) {
      return u.model.value == t.model && u.replica == t.chain.front().replica;
    };
    if (hit != t.flights.end() || std::ranges::any_of(causes, of_replica)) {
      first[i] = static_cast<std::size_t>(hit - t.flights.begin());
    }
    if (hit != t.flights.end()) {
      causes.push_back(hit->what);
    }
  }
  return first;
}

void fail(world& w) {
  const auto& t = w.pick_task();
  if (t.flights.empty() || !w.chance(4)) {
    return;
  }
  const auto failed = t.flights[w.pick(t.flights.size())].what;
  const auto expected = lost_lanes(w, [&](const flight& f) { return f.what == failed; });
  const auto lost = w.under_test->unit_failed(failed);
  REQUIRE(lost.size() == expected.size());
  REQUIRE(same_visit(lost.front().first, failed));
  auto lane = expected.begin();
  for (const auto& loss : lost) {
    CHECK(units_of(loss.withdraw) == without(units_of(loss.lost), [&](const unit& u) { return u == failed; }));
    REQUIRE(&w.task_of(loss.first) == &w.tasks[lane->first]);
    check_and_rewind(w, loss, (lane++)->second);
  }
  CHECK(w.under_test->unit_failed(failed).empty());
  CHECK_FALSE(w.under_test->unit_completed(failed, at(1)));
}

void lose_device(world& w) {
  if (!w.chance(40)) {
    return;
  }
  const auto dead = std::next(w.devices.begin(), static_cast<std::ptrdiff_t>(w.pick(w.devices.size())))->first;
  const auto expected = lost_lanes(w, [&](const flight& f) { return f.device == dead; });
  w.devices.erase(dead);
  const auto lost = w.under_test->device_lost(dead);
  REQUIRE(lost.size() == expected.size());
  auto lane = expected.begin();
  for (const auto& loss : lost) {
    const auto there = static_cast<std::size_t>(std::ranges::count(loss.lost, dead, &flight::device));
    CHECK(std::ranges::count(loss.withdraw, dead, &flight::device) == 0);
    CHECK(loss.withdraw.size() + there == loss.lost.size());
    REQUIRE(&w.task_of(loss.first) == &w.tasks[lane->first]);
    check_and_rewind(w, loss, (lane++)->second);
  }
  CHECK(w.under_test->device_lost(dead).empty());
}

void add_device(world& w, std::uint32_t& next_device) {
  if (w.devices.size() >= device_count) {
    return;
  }
  const device_id id{next_device++};
  w.devices[id].credits = 1;
  w.under_test->add_device(id, 1.0 / static_cast<double>(1 + w.pick(3)));
  w.under_test->device_freed(id, 1, std::nullopt, at(0));
}

void cache(world& w) {
  auto& [id, d] = *std::next(w.devices.begin(), static_cast<std::ptrdiff_t>(w.pick(w.devices.size())));
  const auto& t = w.pick_task();
  const auto block = shared_parameters(t.chain[std::min(t.next, t.chain.size() - 1)]);
  std::vector<block_id> cached;
  std::vector<block_id> dropped;
  (d.cache.contains(block) ? dropped : cached).push_back(block);
  if (!d.cache.insert(block).second) {
    d.cache.erase(block);
  }
  w.under_test->blocks_cached(id, cached, dropped);
}

void check_tracker(const world& w) {
  std::size_t flights = 0;
  std::size_t announced = 0;
  std::map<std::uint32_t, std::vector<unit>> by_model;
  for (const auto& t : w.tasks) {
    std::ranges::copy(units_of(t.flights), std::back_inserter(by_model[t.model]));
    flights += t.flights.size();
    announced += t.announced ? 1 : 0;
  }
  for (const auto& [model, units] : by_model) {
    REQUIRE(units_of(w.under_test->flights_of(model_id{model})) == units);
  }
  for (const auto& [id, d] : w.devices) {
    REQUIRE(w.under_test->credits(id) == d.credits);
  }
  REQUIRE(w.under_test->flight_count() == flights);
  REQUIRE(w.under_test->ready_count() == announced);
}

/// The chain of one lane.
std::vector<unit> units_of_lane(std::uint32_t model, const work_graph& graph, std::uint32_t lane, std::uint32_t steps) {
  std::vector<unit> units;
  for (std::uint32_t step = 0; step < steps; ++step) {
    for (const auto n : graph.lane(lane)) {
      auto u = graph.at(n).what;
      u.model = model_id{model};
      u.step = step_index{step};
      units.push_back(u);
    }
  }
  return units;
}

void add_model(world& w, std::uint32_t model, const step_shape& shape, std::uint32_t steps) {
  const auto graphs = graphs_of_shape(shape);
  const auto first = w.tasks.size();
  for (std::uint32_t lane = 0; lane < graphs->step.lanes(); ++lane) {
    task t{.model = model, .lane = lane, .graphs = graphs, .chain = units_of_lane(model, graphs->step, lane, steps),
           .step_length = static_cast<std::uint32_t>(graphs->step.lane(lane).size())};
    for (std::uint32_t other = 0; other < graphs->step.lanes(); ++other) {
      if (other != lane) {
        t.others.push_back(first + other);
      }
    }
    w.tasks.push_back(std::move(t));
  }
  w.under_test->add_model(model_id{model}, {.shape = shape, .graphs = graphs});
}

/// When no lane is added any more.
void link_waves(world& w) {
  for (std::size_t i = 1; i < w.tasks.size(); ++i) {
    w.tasks[i].before = w.tasks[i].chain.front().wave.value > 0 ? &w.tasks[i - 1] : nullptr;
  }
}

bool finished(const world& w) {
  return std::ranges::all_of(w.tasks, [](const task& t) { return t.completed == t.chain.size(); });
}

namespace {

/// Runs until all models end; returns how many flights were lost.
std::size_t run_random_events(world& w) {
  std::uint32_t next_device = 0;
  for (int event = 0; event < 40000 && !finished(w); ++event) {
    add_device(w, next_device);
    const std::vector<void (*)(world&)> events{announce, announce, give_credit, give_credit,
                                               complete, fail,     lose_device, cache};
    events[w.pick(events.size())](w);
    for (const auto& p : w.under_test->decide(at(0))) {
      REQUIRE(w.placed.contains(p.next));
    }
    check_tracker(w);
  }
  CHECK(finished(w));
  return w.losses_seen;
}

}  // namespace

TEST_CASE("random events never break the rules of the schedule tracker, and every model ends", "[schedule-tracker]") {
  std::size_t losses = 0;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    INFO("seed " << seed);
    world w{seed};
    schedule_tracker b{std::make_unique<inspector>(w)};
    w.under_test = &b;
    const bool in_lanes = seed % 2 == 1;
    for (std::uint32_t m = 0; m < model_count; ++m) {
      const auto shards = 1 + static_cast<std::uint32_t>(w.pick(4));
      const auto replicas = in_lanes ? 1 + static_cast<std::uint32_t>(w.pick(2)) : 1;
      const auto waves = in_lanes ? 1 + static_cast<std::uint32_t>(w.pick(4)) : 1;
      add_model(w, m, {.shards = shards, .micro_batches = replicas * waves, .replicas = replicas, .waves = waves},
                in_lanes ? 2 : 4);
    }
    link_waves(w);
    losses += run_random_events(w);
  }
  CHECK(losses > 500);  // the events were not all harmless
}

}  // namespace schedule_tracker_property_test
