// Random events against the schedule tracker; a second, slower tracker (`world`) has the expected results.

#include "actors/policy/schedule_tracker.hpp"

#include "runtime/base/step_graph.hpp"
#include "tests/actors/policy/units.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <vector>

using namespace hydra;
using namespace hydra::test;

namespace {

constexpr std::uint32_t model_count = 4;
constexpr std::uint32_t device_count = 3;

/// A small model task: what it has announced, what is in flight, where it rewinds to.
struct task {
  std::vector<unit> chain;
  std::size_t next = 0;  ///< first unit of the chain that is neither announced nor in flight nor complete
  std::size_t completed = 0;
  std::uint32_t attempt = 0;
  std::optional<ready_unit> announced;
  std::vector<flight> flights;  ///< of neighbours in the chain, the first one is chain[completed]

  bool flies_on(device_id d) const { return std::ranges::count(flights, d, &flight::device) > 0; }
  bool may_be_staged_on(device_id d) const {
    return announced && (!announced->after || *announced->after == d || !flies_on(*announced->after));
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

  explicit world(std::uint32_t seed) : rng(seed), tasks(model_count) {}
  std::size_t pick(std::size_t n) { return rng() % n; }
  bool chance(std::size_t in) { return pick(in) == 0; }
};

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
        expected.push_back(t.announced->next);
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
    const auto& t = w_.tasks[c.next.model.value];
    const auto& after = t.announced->after;
    REQUIRE(c.chained == (after && t.flies_on(*after)));
    REQUIRE((c.transfer == byte_count{}) == w_.devices.at(d).cache.contains(parameters(c.next)));
  }

  void check(const policy_view& v) const {
    REQUIRE(v.models.size() == w_.tasks.size());
    for (const auto& m : v.models) {
      const auto& t = w_.tasks[m.model.value];
      REQUIRE((m.candidate == t.announced.has_value() && m.flights == t.flights.size()));
    }
  }

  /// The choice takes effect in the world at once: it is asked again within the same decision.
  std::size_t take(device_id d, std::span<const candidate> shown) const {
    const auto choice = w_.pick(shown.size());
    const auto& u = shown[choice].next;
    auto& t = w_.tasks[u.model.value];
    REQUIRE(w_.placed.insert(u).second);  // never twice in one attempt
    const bool predecessor_is_done = t.flights.empty();
    REQUIRE(
        (predecessor_is_done || !t.announced->after || !t.flies_on(*t.announced->after) || *t.announced->after == d));
    t.flights.push_back({.what = u, .device = d, .cost = t.announced->cost});
    t.announced.reset();
    --w_.devices.at(d).credits;
    ++w_.devices.at(d).slots_taken;
    return choice;
  }

  world& w_;
};

// -- events ----------------------------------------------------------------------------------------------------------

void announce(world& w) {
  auto& t = w.tasks[w.pick(model_count)];
  if (t.announced || t.next == t.chain.size()) {
    return;
  }
  auto u = t.chain[t.next++];
  u.attempt = t.attempt;
  const bool follows = !t.flights.empty() && !w.chance(8);
  const auto after = follows ? std::optional{t.flights.back().device} : std::nullopt;
  t.announced = ready(u, after);
  REQUIRE(w.under_test->unit_ready(*t.announced, at(0)));
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
  auto& t = w.tasks[w.pick(model_count)];
  if (t.flights.empty()) {
    return;
  }
  REQUIRE(w.under_test->unit_completed(t.flights.front().what, at(1)));
  CHECK_FALSE(w.under_test->unit_completed(t.flights.front().what, at(1)));
  t.flights.erase(t.flights.begin());
  ++t.completed;
}

/// The loss must contain what the task has in flight from its first lost unit on; the task rewinds.
void check_and_rewind(world& w, const model_loss& loss, std::size_t first) {
  auto& t = w.tasks[loss.model.value];
  const std::vector expected(t.flights.begin() + static_cast<std::ptrdiff_t>(first), t.flights.end());
  REQUIRE(units_of(loss.lost) == units_of(expected));
  for (const auto& f : expected) {
    REQUIRE(w.lost.insert(f.what).second);  // reported once
    REQUIRE(f.what.attempt < loss.next_attempt);
  }
  REQUIRE(loss.next_attempt > t.attempt);
  REQUIRE(w.under_test->attempt_of(loss.model) == loss.next_attempt);
  t.flights.resize(first);
  t.next = t.completed + first;
  t.announced.reset();
  t.attempt = loss.next_attempt;
  w.losses_seen += expected.size();
  auto stale = t.chain[t.next];
  stale.attempt = loss.next_attempt - 1;
  CHECK_FALSE(w.under_test->unit_ready(ready(stale), at(0)));
}

std::vector<unit> without(std::vector<unit> units, const std::function<bool(const unit&)>& unwanted) {
  std::erase_if(units, unwanted);
  return units;
}

void fail(world& w) {
  auto& t = w.tasks[w.pick(model_count)];
  if (t.flights.empty() || !w.chance(4)) {
    return;
  }
  const auto first = w.pick(t.flights.size());
  const auto failed = t.flights[first].what;
  const auto lost = w.under_test->unit_failed(failed);
  REQUIRE(lost.size() == 1);
  CHECK(units_of(lost[0].withdraw) == without(units_of(lost[0].lost), [&](const unit& u) { return u == failed; }));
  check_and_rewind(w, lost[0], first);
  CHECK(w.under_test->unit_failed(failed).empty());
  CHECK_FALSE(w.under_test->unit_completed(failed, at(1)));
}

void lose_device(world& w) {
  if (!w.chance(40)) {
    return;
  }
  const auto dead = std::next(w.devices.begin(), static_cast<std::ptrdiff_t>(w.pick(w.devices.size())))->first;
  std::map<model_id, std::size_t> first;
  for (std::uint32_t m = 0; m < model_count; ++m) {
    const auto& flights = w.tasks[m].flights;
    const auto hit = std::ranges::find(flights, dead, &flight::device);
    if (hit != flights.end()) {
      first[model_id{m}] = static_cast<std::size_t>(hit - flights.begin());
    }
  }
  w.devices.erase(dead);
  const auto lost = w.under_test->device_lost(dead);
  REQUIRE(lost.size() == first.size());
  for (const auto& loss : lost) {
    for (const auto& f : loss.withdraw) {
      CHECK(f.device != dead);
    }
    CHECK(loss.withdraw.size() + static_cast<std::size_t>(std::ranges::count(loss.lost, dead, &flight::device)) ==
          loss.lost.size());
    check_and_rewind(w, loss, first.at(loss.model));
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
  const auto& t = w.tasks[w.pick(model_count)];
  const auto block = parameters(t.chain[std::min(t.next, t.chain.size() - 1)]);
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
  for (std::uint32_t m = 0; m < model_count; ++m) {
    REQUIRE(units_of(w.under_test->flights_of(model_id{m})) == units_of(w.tasks[m].flights));
    flights += w.tasks[m].flights.size();
    announced += w.tasks[m].announced ? 1 : 0;
  }
  for (const auto& [id, d] : w.devices) {
    REQUIRE(w.under_test->credits(id) == d.credits);
  }
  REQUIRE(w.under_test->flight_count() == flights);
  REQUIRE(w.under_test->ready_count() == announced);
}

bool finished(const world& w) {
  return std::ranges::all_of(w.tasks, [](const task& t) { return t.completed == t.chain.size(); });
}

}  // namespace

TEST_CASE("random events never break the rules of the schedule tracker, and every model ends", "[schedule-tracker]") {
  std::size_t losses = 0;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    INFO("seed " << seed);
    world w{seed};
    schedule_tracker b{std::make_unique<inspector>(w)};
    w.under_test = &b;
    for (std::uint32_t m = 0; m < model_count; ++m) {
      w.tasks[m].chain = chain_of(m, 1 + static_cast<std::uint32_t>(w.pick(4)), 4);
      b.add_model(model_id{m});
    }
    std::uint32_t next_device = 0;
    for (int event = 0; event < 20000 && !finished(w); ++event) {
      add_device(w, next_device);
      const std::vector<void (*)(world&)> events{announce, announce, give_credit, give_credit,
                                                 complete, fail,     lose_device, cache};
      events[w.pick(events.size())](w);
      for (const auto& p : b.decide(at(0))) {
        REQUIRE(w.placed.contains(p.next));
      }
      check_tracker(w);
    }
    CHECK(finished(w));
    losses += w.losses_seen;
  }
  CHECK(losses > 500);  // the events were not all harmless
}
