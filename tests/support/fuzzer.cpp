#include "tests/support/fuzzer.hpp"

#include "actors/policy/catalog.hpp"
#include "actors/simulation/simulated_device.hpp"
#include "partition/cursor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace hydra::test {

namespace {

using rng = std::mt19937;

std::uint64_t pick(rng& random, std::uint64_t from, std::uint64_t to) {
  return std::uniform_int_distribution<std::uint64_t>(from, to)(random);
}

duration length(rng& random) { return std::chrono::microseconds(pick(random, 0, 2) == 0 ? 0 : pick(random, 1, 50)); }

simulated_shard make_shard(rng& random) {
  return {.forward = length(random),
          .backward = length(random),
          .update = length(random),
          .parameters = byte_count{512 * pick(random, 1, 8)},
          .activation = byte_count{512 * pick(random, 1, 4)},
          .working = byte_count{512 * pick(random, 8, 40)}};
}

simulated_model make_model(rng& random, std::size_t i) {
  simulated_model m;
  m.name = fmt::format("m{}", i);
  m.shards.resize(pick(random, 1, 3));
  std::ranges::generate(m.shards, [&] { return make_shard(random); });
  m.steps = static_cast<std::uint32_t>(pick(random, 1, 3));
  m.micro_batches = static_cast<std::uint32_t>(pick(random, 1, 3));
  m.clips = pick(random, 0, 1) == 1;
  m.tied = pick(random, 0, 1) == 1;
  return m;
}

/// max (P + C) + max W over all units: the least budget that must suffice.
byte_count sufficient(const std::vector<simulated_model>& models, byte_count& staging) {
  byte_count computing;
  for (const auto& m : models) {
    const auto plan = make_simulated_model(m)->plan;
    for (const auto& s : plan.shards) {
      staging = std::max({staging, s.forward.staging(), s.backward.staging()});
      computing = std::max({computing, s.forward.computing(), s.backward.computing()});
    }
  }
  return staging + computing;
}

device_info make_device(rng& random, std::size_t i, byte_count budget) {
  device_info d;
  d.name = fmt::format("sim:{}", i);
  d.kind = "simulated";
  d.speed = pick(random, 0, 1) == 0 ? 1.0 : 0.5;
  d.memory = budget;
  d.link = byte_rate{pick(random, 0, 2) == 0 ? 0.0 : 1e8};
  d.latency = pick(random, 0, 1) == 0 ? duration{} : std::chrono::microseconds(3);
  return d;
}

/// "model 0 step 1 forward 0", whichever attempt.
std::string visit_name(unit u) {
  u.attempt = 0;
  return to_string(u);
}

std::string without_attempt(const std::string& detail) { return detail.substr(0, detail.find(" attempt")); }

/// Every unit of the model committed once, each after its predecessor.
std::string check_order(const std::vector<span>& spans, const simulated_model& m, std::uint32_t id) {
  const cursor units(model_id{id}, static_cast<std::uint32_t>(m.shards.size()), m.steps, m.micro_batches);
  unit_position next;
  for (const auto& s : spans) {
    if (s.name != "shard_completed" || s.track != "model " + m.name) {
      continue;
    }
    const auto expected = units.at_end(next) ? "nothing more" : visit_name(units.unit_at(next, 0));
    if (without_attempt(s.detail) != expected) {
      return fmt::format("model {}: {} completed, expected {}", id, s.detail, expected);
    }
    next = units.next(next);
  }
  return units.at_end(next) ? "" : fmt::format("model {}: stops at step {} index {}", id, next.step, next.index);
}

std::string check(simulation& s, mishap trouble, const std::vector<simulated_model>& models) {
  const auto& record = s.record();
  if (!record) {
    return "the run hangs: no record";
  }
  for (std::uint32_t i = 0; i < models.size(); ++i) {
    const auto& out = record->models[i];
    if (!out.ended || out.why || out.steps != models[i].steps || out.losses.size() != models[i].steps) {
      return fmt::format("model {} ended after {} of {} steps, {} losses: {}", i, out.steps, models[i].steps,
                         out.losses.size(), out.why.text);
    }
    if (auto wrong = check_order(s.spans().spans(), models[i], i); !wrong.empty()) {
      return wrong;
    }
  }
  // After a loss a withdrawn unit may still compute when the last model ends.
  return trouble == mishap::none && !record->leftovers.empty() ? "left over: " + record->leftovers : "";
}

}  // namespace

fuzz_case make_case(std::uint32_t seed) {
  rng random(seed);
  fuzz_case c;
  auto& s = c.setup;
  for (std::size_t i = 0, n = pick(random, 1, 4); i < n; ++i) {
    s.models.push_back(make_model(random, i));
  }
  byte_count staging;
  const auto least = sufficient(s.models, staging);
  const auto devices = pick(random, 1, 3);
  for (std::size_t i = 0; i < devices; ++i) {
    s.devices.push_back(make_device(random, i, least + byte_count{512 * pick(random, 0, 1) * pick(random, 0, 200)}));
  }
  const auto& policies = built_in_policies();
  s.chosen = policies[pick(random, 0, policies.size() - 1)].make(seed);
  s.pipeline.staging_room = staging;
  s.pipeline.double_buffer = pick(random, 0, 4) > 0;
  s.pipeline.cache = pick(random, 0, 4) > 0;
  s.optimizer_workers = static_cast<int>(pick(random, 1, 2));
  if (pick(random, 0, 3) == 0) {
    s.callbacks.push_back([](const step_completed&, control&) {});
  }
  if (devices > 1 && pick(random, 0, 1) == 1) {
    c.trouble = pick(random, 0, 1) == 0 ? mishap::device_dies : mishap::device_is_declared_lost;
    c.trouble_at = pick(random, 0, 600);
    c.victim = pick(random, 0, devices - 1);
  }
  c.text = fmt::format("seed {} policy {} models {} devices {} trouble {} at {} victim {}", seed, s.chosen->name(),
                       s.models.size(), devices, static_cast<int>(c.trouble), c.trouble_at, c.victim);
  return c;
}

std::string run_case(fuzz_case c, std::uint32_t seed) {
  rng random(seed ^ 0x5bd1e995u);
  const auto models = c.setup.models;
  const auto text = c.text;
  simulation s(std::move(c.setup));
  constexpr std::size_t limit = 200'000;
  std::size_t n = 0;
  for (; n < limit && s.step(random()); ++n) {
    if (c.trouble == mishap::device_dies && n == c.trouble_at) {
      caf::anon_send_exit(s.actors().devices[c.victim], caf::exit_reason::kill);
    }
    if (c.trouble == mishap::device_is_declared_lost && n == c.trouble_at) {
      post(s.actors().memory, device_lost{device_id{static_cast<std::uint32_t>(c.victim)},
                                          {fault_code::device_lost, "declared lost"}});
    }
  }
  if (n == limit) {
    return text + ": no end after " + std::to_string(limit) + " messages";
  }
  const auto wrong = check(s, c.trouble, models);
  return wrong.empty() ? wrong : text + ": " + wrong;
}

}  // namespace hydra::test
