#include "tests/conformance/policy.hpp"

#include "actors/simulation/event_loop.hpp"
#include "actors/simulation/generator.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <random>
#include <utility>

namespace hydra::test {

namespace {

constexpr std::uint32_t instances = 40;
constexpr std::uint32_t divided = 10;   ///< of them also in lanes: these are longer

struct tally {
  std::size_t decisions = 0;
  std::size_t foreign = 0;      ///< choices that are not candidates
  std::size_t different = 0;    ///< different answers of two objects to the same request
};

/// Two objects of the policy, which get the same calls.
class twins final : public policy {
 public:
  twins(std::unique_ptr<policy> a, std::unique_ptr<policy> b, tally& counts)
      : a_{std::move(a)}, b_{std::move(b)}, counts_{counts} {
    meet_strangers();
  }

  std::string name() const override { return a_->name(); }

  std::optional<std::size_t> choose(const device_state& device, std::span<const candidate> candidates,
                                    const policy_view& view) override {
    const auto choice = a_->choose(device, candidates, view);
    ++counts_.decisions;
    counts_.different += choice == b_->choose(device, candidates, view) ? 0 : 1;
    counts_.foreign += choice && *choice >= candidates.size() ? 1 : 0;
    return choice;
  }

  void model_left(model_id m) override { both([m](policy& p) { p.model_left(m); }); }
  void unit_avoids(model_id m, device_id d) override { both([m, d](policy& p) { p.unit_avoids(m, d); }); }
  void device_left(device_id d) override {
    both([d](policy& p) { p.device_left(d); });
    meet_strangers();
  }

 private:
  template <class Event>
  void both(Event event) {
    event(*a_);
    event(*b_);
  }

  void meet_strangers() {
    both([](policy& p) {
      p.model_left(model_id{4711});
      p.unit_avoids(model_id{4712}, device_id{4713});
      p.device_left(device_id{4714});
    });
  }

  std::unique_ptr<policy> a_, b_;
  tally& counts_;
};

/// Small, so that there are many.
instance_recipe random_recipe(std::uint32_t seed) {
  std::mt19937 random{seed};
  const auto pick = [&](std::uint32_t least, std::uint32_t most) {
    return least + static_cast<std::uint32_t>(random() % (most - least + 1));
  };
  const auto one_of = [&](std::initializer_list<double> all) { return all.begin()[random() % all.size()]; };
  instance_recipe r{.models = pick(1, 7), .seed = seed};
  r.family = std::array{instance_family::equal, instance_family::hetero, instance_family::skewed}[random() % 3];
  r.speeds.resize(pick(1, 4));
  std::ranges::generate(r.speeds, [&] { return one_of({1.0, 1.0, 0.5, 0.1}); });
  r.rho = one_of({0, 0.5, 1, 3});
  r.optimizer = one_of({0, 1});
  r.length = 0.1;
  r.prefetch = pick(0, 3) > 0;
  r.slots = pick(r.prefetch ? 2 : 1, 4);
  r.copy_back_clean = pick(0, 3) == 0;
  r.noise = one_of({0, 0.3});
  r.arrivals = one_of({0, 0.5});
  r.failures = pick(0, static_cast<std::uint32_t>(r.speeds.size()) - 1);
  return r;
}

/// The same instance with its steps divided: each model into up to 3 replicas of up to 4 waves.
schedule_instance in_lanes(schedule_instance instance, std::uint32_t seed) {
  std::mt19937 random{seed};
  for (auto& m : instance.models) {
    m.replicas = 1 + static_cast<std::uint32_t>(random() % 3);
    m.waves = 1 + static_cast<std::uint32_t>(random() % 4);
    m.steps = std::min(m.steps, 3U);
  }
  return instance;
}

void finishes(const schedule_instance& instance, const std::function<std::unique_ptr<policy>()>& make, tally& counts) {
  INFO(instance.name << ", " << instance.models.front().replicas << " replicas, " << instance.models.front().waves
                     << " waves of the first model");
  for (const auto completion : {completion_rule::ended, completion_rule::written_back}) {
    const auto run = run_in_loop(instance, std::make_unique<twins>(make(), make(), counts), {.completion = completion});
    CHECK(run.replacements.empty());
    CHECK(std::ranges::none_of(run.finished, [](duration end) { return end == duration{}; }));
  }
}

}  // namespace

void conforms(const std::function<std::unique_ptr<policy>()>& make) {
  tally counts;
  for (std::uint32_t seed = 1; seed <= instances; ++seed) {
    const auto instance = generate(random_recipe(seed));
    finishes(instance, make, counts);
    if (seed <= divided) {
      finishes(in_lanes(instance, seed), make, counts);
    }
  }
  CHECK(counts.foreign == 0);
  CHECK(counts.different == 0);
  CHECK(counts.decisions > 5000);
}

}  // namespace hydra::test
