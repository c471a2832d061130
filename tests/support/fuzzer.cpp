#include "tests/support/fuzzer.hpp"

#include "actors/policy/catalog.hpp"
#include "actors/simulation/simulated_device.hpp"
#include "partition/plan/plan.hpp"
#include "runtime/memory/host_arena.hpp"
#include "tests/support/eager_policy.hpp"
#include "tests/support/protocol_witness.hpp"
#include "tests/support/small_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <sstream>
#include <vector>

namespace hydra::test {

namespace {

using rng = std::mt19937;

std::uint64_t pick(rng& random, std::uint64_t from, std::uint64_t to) {
  return std::uniform_int_distribution<std::uint64_t>(from, to)(random);
}

duration length(rng& random) { return std::chrono::microseconds(pick(random, 0, 2) == 0 ? 0 : pick(random, 1, 50)); }

simulated_shard make_shard(rng& random) {
  const auto working = byte_count{512 * pick(random, 8, 40)};
  return {.forward = length(random),
          .backward = length(random),
          .update = length(random),
          .evaluate = length(random),
          .parameters = byte_count{512 * pick(random, 1, 8)},
          .activation = byte_count{512 * pick(random, 1, 4)},
          .working = working,
          .write_back = byte_count{512 * pick(random, 0, working.value() / 512)},
          .saved = byte_count{512 * pick(random, 0, 6)}};
}

/// A random subset.
void step_on_device(simulated_shard& s, rng& random) {
  if (pick(random, 0, 1) == 1) {
    s.device_update = length(random);
    s.backward += *s.device_update;
  }
}

simulated_model make_model(rng& random, std::size_t i) {
  simulated_model m;
  m.name = fmt::format("m{}", i);
  m.shards.resize(pick(random, 1, 3));
  std::ranges::generate(m.shards, [&] { return make_shard(random); });
  m.steps = static_cast<std::uint32_t>(pick(random, 1, 3));
  m.micro_batches = static_cast<std::uint32_t>(pick(random, 1, 3));
  if (pick(random, 0, 2) == 0) {
    m.evaluation = {.every = static_cast<std::uint32_t>(pick(random, 0, 2)),
                    .range = {.micro_batches = static_cast<std::uint32_t>(pick(random, 1, 5)),
                              .round = static_cast<std::uint32_t>(pick(random, 1, 3))}};
  }
  m.clips = pick(random, 0, 1) == 1;
  m.tied = pick(random, 0, 1) == 1;
  if (!m.clips && !m.tied) {
    std::ranges::for_each(m.shards, [&](simulated_shard& s) { step_on_device(s, random); });
  } else if (pick(random, 0, 1) == 1) {
    m.replicas = static_cast<std::uint32_t>(pick(random, 1, 3));
    m.waves = static_cast<std::uint32_t>(pick(random, 1, 3));
    m.micro_batches *= m.replicas * m.waves;
  }
  m.keep_best = m.evaluation.range.micro_batches > 0 && pick(random, 0, 1) == 1;
  return m;
}

/// max (P + C) + max W over all units: the least budget that must suffice, however many slots there are.
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

/// The demand of the plan without the parameters, which have no bytes at home in a simulation until a device brings
/// some.
byte_count sufficient_host(const std::vector<simulated_model>& models, std::size_t devices) {
  std::vector<model_plan> plans;
  byte_count parameters;
  for (const auto& m : models) {
    plans.push_back(make_simulated_model(m)->plan);
    for (const auto& s : m.shards) {
      parameters += s.device_update ? byte_count{} : host_charge(s.parameters);
    }
  }
  return host_demand(plans, devices) - parameters;
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

// -- disturbances of a run --------------------------------------------------------------------------------------------

/// From `silent_from` on, no completion of the victim's operations is reported. Others may arrive up to 40 us late: in
/// the order of their queue, but completions of other queues may overtake them.
void deliver(simulation& s, const fuzz_case& run, const std::shared_ptr<rng>& random) {
  const int latest = run.late_completions ? 40 : 0;
  for (std::size_t i = 0; i < s.actors().devices.size(); ++i) {
    auto last = std::make_shared<std::array<time_point, 3>>();
    const bool falls_silent = run.trouble == mishap::device_falls_silent && i == run.victim;
    auto left = std::make_shared<std::size_t>(falls_silent ? run.trouble_at : std::numeric_limits<std::size_t>::max());
    s.device_at(i).deliver_by(
        [&s, i, random, last, left, latest](queue_kind queue, duration delay, const completion& c) {
          if (*left == 0) {
            return;
          }
          --*left;
          auto& at = (*last)[static_cast<std::size_t>(queue)];
          at = std::max(at, s.now() + delay + std::chrono::microseconds(latest > 0 ? pick(*random, 0, latest) : 0));
          caf::delayed_anon_send(s.actors().devices[i], at - s.now(), operation_completed{c});
        });
  }
}

/// The `n`-th operation that is submitted to any device fails.
void fail_operation(simulation& s, std::size_t n, fault_code code) {
  auto left = std::make_shared<std::size_t>(n);
  for (std::size_t i = 0; i < s.actors().devices.size(); ++i) {
    s.device_at(i).inject([left, code](queue_kind, const operation&) {
      return (*left)-- == 0 ? fault{code, "injected"} : fault{};
    });
  }
}

/// From the `n`-th on all operations of the victim throw.
void break_device(simulation& s, std::size_t victim, std::size_t n) {
  auto left = std::make_shared<std::size_t>(n);
  s.device_at(victim).inject([left](queue_kind, const operation&) {
    return *left == 0 ? fault{fault_code::internal, "broken"} : (--*left, fault{});
  });
}

void inject(simulation& s, const fuzz_case& c) {
  if (c.trouble == mishap::operation_runs_out_of_memory || c.trouble == mishap::operation_throws) {
    fail_operation(s, c.trouble_at,
                   c.trouble == mishap::operation_throws ? fault_code::io : fault_code::out_of_memory);
  } else if (c.trouble == mishap::device_breaks) {
    break_device(s, c.victim, c.trouble_at);
  }
}

void lose(simulation& s, mishap how, std::size_t victim) {
  if (how == mishap::device_dies) {
    caf::anon_send_exit(s.actors().devices[victim], caf::exit_reason::kill);
  } else if (how == mishap::device_is_declared_lost) {
    const device_id id{static_cast<std::uint32_t>(victim)};
    post(s.actors().memory, device_lost{id, {fault_code::device_lost, "declared lost"}});
  } else if (how == mishap::controller_dies && s.actors().controller) {
    caf::anon_send_exit(s.actors().controller, caf::exit_reason::kill);
  }
}

// -- what must hold at its end ----------------------------------------------------------------------------------------

using ends = std::map<std::string, time_point>;

/// Earliest end of each computation, by its detail.
ends earliest_ends(const std::vector<span>& computations) {
  ends all;
  for (const auto& x : computations) {
    auto& end = all.try_emplace(x.detail, x.end).first->second;
    end = std::min(end, x.end);
  }
  return all;
}

std::string computation(const simulated_model& m, const unit& u, std::uint32_t k) {
  return fmt::format("{} {} {} step {} micro-batch {}", m.name, to_string(u.way), u.shard.value, u.step.value, k);
}

/// Of two units of a lane that follow each other.
bool reads_output(const unit& u, const unit& before) {
  const bool same_pass = (u.way == direction::evaluate) == (before.way == direction::evaluate);
  return same_pass && u.step == before.step && u.first_micro_batch == before.first_micro_batch;
}

using maker_map = std::multimap<std::string, std::string>;

/// The first computation of a backward unit reads the sum that the last one of the wave before has left.
void add_maker_of_sum(maker_map& all, const simulated_model& m, const unit& u) {
  if (u.way == direction::backward && u.wave.value > 0) {
    all.emplace(computation(m, u, u.first_micro_batch.value), computation(m, u, u.first_micro_batch.value - 1));
  }
}

/// For each computation that reads the output of another, that other one: the same micro-batch, one unit earlier.
/// (Units of different ranges of micro-batches read no outputs of each other but gradient sums.)
maker_map makers(const std::vector<simulated_model>& models) {
  maker_map all;
  for (const auto& m : models) {
    const auto units = units_of(model_id{}, *make_simulated_model(m));
    for (std::uint32_t lane = 0; lane < units.lanes(); ++lane) {
      for (auto p = units.begin_of(0, lane), q = units.next(p); !units.at_end(q); p = q, q = units.next(q)) {
        const auto before = units.unit_at(p, 0);
        const auto u = units.unit_at(q, 0);
        add_maker_of_sum(all, m, u);
        for (std::uint32_t i = 0; reads_output(u, before) && i < u.micro_batches; ++i) {
          const auto k = u.first_micro_batch.value + i;
          all.emplace(computation(m, u, k), computation(m, before, k));
        }
      }
    }
  }
  return all;
}

std::string computed_too_early(simulation& s, const std::vector<simulated_model>& models) {
  const auto computations = spans_of(s, "execute_shard");
  const auto end_of = earliest_ends(computations);
  const auto maker_of = makers(models);
  for (const auto& x : computations) {
    const auto [first, last] = maker_of.equal_range(x.detail);
    for (const auto& [reader, maker] : std::ranges::subrange(first, last)) {
      const auto end = end_of.find(maker);
      if (end == end_of.end() || end->second > x.begin) {
        return x.detail + " computes before the end of " + maker;
      }
    }
  }
  return {};
}

/// True if micro-batch `k` is the first of its unit.
bool begins_unit(const std::string& detail, std::size_t k, const std::vector<simulated_model>& models) {
  const auto name = detail.substr(0, detail.find(' '));
  const auto m = std::ranges::find(models, name, &simulated_model::name);
  const bool evaluates = detail.find(" evaluate ") != std::string::npos;
  return k % (evaluates ? m->evaluation.range.round : m->micro_batches / m->replicas / m->waves) == 0;
}

/// The computations of a unit are adjacent on its device, in the order of its micro-batches.
std::string interleaved(simulation& s, const std::vector<simulated_model>& models) {
  std::map<std::string, span> last;  // by track
  for (const auto& x : spans_of(s, "execute_shard")) {
    const auto at = x.detail.rfind(' ') + 1;
    const auto k = std::stoul(x.detail.substr(at));
    const auto before = x.detail.substr(0, at) + std::to_string(k - 1);
    const auto& previous = last[x.track].detail;
    if (!begins_unit(x.detail, k, models) && previous != before) {
      return x.detail + " computes after " + previous;
    }
    last[x.track] = x;
  }
  return {};
}

/// A unit that was withdrawn after a loss may still copy or compute when the last model ends: then both its device and
/// the memory manager report it. Anything else that is left over was lost or forgotten.
std::string left_over(const simulation& s, mishap trouble, std::size_t victim) {
  std::istringstream lines(s.record()->leftovers);
  const auto& text = s.record()->leftovers;
  const bool lost = trouble == mishap::device_dies || trouble == mishap::device_is_declared_lost ||
                    trouble == mishap::device_breaks || trouble == mishap::device_falls_silent;
  for (std::string line; std::getline(lines, line);) {
    const auto has = line.find(" has model ");
    const auto unit = has == std::string::npos ? "" : line.substr(has + 5, line.find(" with ") - has - 5);
    const bool of_victim = lost && line.starts_with(fmt::format("device {} ", victim));
    const bool of_device = line.starts_with("sim:") && trouble != mishap::none;
    const bool leases = line.find(" holds lease ") != std::string::npos &&
                        text.find("sim:" + line.substr(7, line.find(" holds") - 7) + ": ") != std::string::npos;
    if (!of_device && !of_victim && !leases && (unit.empty() || text.find(": " + unit + " is ") == std::string::npos)) {
      return "left over: " + line + " of " + text;
    }
  }
  return {};
}

std::string unretired(const simulation& s, mishap trouble, std::size_t victim) {
  for (std::size_t i = 0; i < s.record()->devices.size(); ++i) {
    const bool may_be_lost = trouble == mishap::device_dies || trouble == mishap::device_breaks ||
                             trouble == mishap::device_falls_silent;
    if (!s.record()->devices[i].retired && !(may_be_lost && i == victim)) {
      return fmt::format("device {} did not retire", i);
    }
  }
  return {};
}

/// For a run without mishap: the parts of each device's makespan add up to it; if messages take no time, the part of
/// the actors is zero, unless a policy keeps devices waiting or the host has no bytes left for outputs.
std::string wrong_breakdown(const simulation& s, const fuzz_case& c) {
  const auto& r = *s.record();
  const auto span = *r.last_update - *r.first_prefetch;
  for (std::size_t i = 0; i < r.devices.size(); ++i) {
    duration sum{};
    for (const auto& part : breakdown_parts) {
      sum += r.devices[i].time.*part.value;
    }
    const auto actors = r.devices[i].time.actors;
    if (sum != span || (c.prompt && actors > duration{})) {
      return fmt::format("device {}: the time breakdown adds up to {} of {} s, {} s of it actors", i, seconds(sum),
                         seconds(span), seconds(actors));
    }
  }
  return {};
}

std::string check(simulation& s, const fuzz_case& c, const std::vector<simulated_model>& models) {
  auto wrong = unfinished(s, models);
  wrong = wrong.empty() ? out_of_order(s, models) : wrong;
  wrong = wrong.empty() ? computed_too_early(s, models) : wrong;
  wrong = wrong.empty() ? interleaved(s, models) : wrong;
  wrong = wrong.empty() ? unretired(s, c.trouble, c.victim) : wrong;
  wrong = wrong.empty() && c.trouble == mishap::none ? wrong_breakdown(s, c) : wrong;
  return wrong.empty() ? left_over(s, c.trouble, c.victim) : wrong;
}

// -- cases ------------------------------------------------------------------------------------------------------------

void add_devices(fuzz_case& c, rng& random) {
  auto& s = c.setup;
  s.pipeline.slots = pick(random, 0, 3) == 0 ? static_cast<std::uint32_t>(pick(random, 2, 8)) : 1;
  s.pipeline.computing_bytes = byte_count{512 * pick(random, 0, 40)};  // any: what is saved must give way
  const auto least = sufficient(s.models, s.pipeline.staging_bytes);
  for (std::size_t i = 0, n = pick(random, 1, 3); i < n; ++i) {
    const auto extra = pick(random, 0, 2) == 0 ? pick(random, 1, 200) : 0;
    s.devices.push_back(make_device(random, i, least + byte_count{512 * extra}));
  }
  if (pick(random, 0, 1) == 0) {
    auto all = s.models;
    all.insert(all.end(), s.joiners.begin(), s.joiners.end());
    s.host_memory = sufficient_host(all, s.devices.size());
  }
}

/// As large as a model that exists: it fits where that one does.
void add_joiner(fuzz_case& c, rng random) {
  if (pick(random, 0, 2) > 0) {
    return;
  }
  auto m = c.setup.models[pick(random, 0, c.setup.models.size() - 1)];
  m.name = "recruit";
  m.steps = static_cast<std::uint32_t>(pick(random, 1, 3));
  m.terms.arrival = pick(random, 0, 1) == 0 ? duration{} : std::chrono::microseconds(pick(random, 1, 300));
  c.setup.joiners.push_back(std::move(m));
  c.join_at = pick(random, 0, 500);
}

/// The models of a case that have taken part. The joining model may have been too late, but only then it was refused.
std::string collect(const simulation& s, const fuzz_case& c, const std::vector<simulated_model>& joiners,
                    std::vector<simulated_model>& models) {
  for (const auto& j : s.joins()) {
    if (!j.why) {
      models.push_back(joiners.at(0));
    } else if (j.why.code != fault_code::refused) {
      return "the joining model is refused: " + j.why.text;
    }
  }
  const auto there = s.record() ? s.record()->models.size() : models.size();
  return there == models.size() ? "" : fmt::format("{} models in the record of {} ({})", there, models.size(), c.text);
}

void add_trouble(fuzz_case& c, rng& random) {
  const auto devices = c.setup.devices.size();
  c.trouble = static_cast<mishap>(pick(random, 0, 7));
  const bool of_device = c.trouble == mishap::device_dies || c.trouble == mishap::device_is_declared_lost ||
                         c.trouble == mishap::device_breaks || c.trouble == mishap::device_falls_silent;
  const bool of_controller = c.trouble == mishap::controller_dies;
  const auto observed = c.setup.callbacks.observed();
  const bool no_controller = !observed.steps && !observed.evaluations && !observed.others;
  if ((devices == 1 && of_device) || (of_controller && no_controller)) {
    c.trouble = mishap::none;
  }
  const bool at_message =
      c.trouble == mishap::device_dies || c.trouble == mishap::device_is_declared_lost || of_controller;
  c.trouble_at = pick(random, 0, at_message ? 600 : 100);
  if (c.trouble == mishap::device_falls_silent) {
    c.setup.watch = {.minimum = std::chrono::milliseconds(2), .factor = 20};
    c.slow_messages = false;  // a device whose messages take that long cannot be distinguished from a silent one
  }
  c.victim = pick(random, 0, devices - 1);
}

}  // namespace

namespace {

/// They may keep a slot free although a unit is ready.
bool may_wait(const std::string& policy) {
  constexpr std::array waiting{"whole-model", "level",          "band",  "band-hold",   "stay-hold",
                               "stay-pace",   "naive-pipeline", "gpipe", "one-f-one-b", "interleaved"};
  return std::ranges::find(waiting, policy) != waiting.end();
}

}  // namespace

fuzz_case make_case(std::uint32_t seed) {
  rng random(seed);
  fuzz_case c;
  auto& s = c.setup;
  for (std::size_t i = 0, n = pick(random, 1, 4); i < n; ++i) {
    s.models.push_back(make_model(random, i));
  }
  add_joiner(c, rng(seed ^ 0x9e3779b9u));
  add_devices(c, random);
  const auto& policies = built_in_policies();
  s.chosen = make_policy(policies[pick(random, 0, policies.size() - 1)].name, seed);
  if (s.pipeline.slots > 1) {
    s.chosen = std::make_unique<eager_policy>(std::move(s.chosen));
  }
  s.pipeline.double_buffer = pick(random, 0, 4) > 0;
  s.pipeline.cache = pick(random, 0, 4) > 0;
  s.optimizer_workers = static_cast<int>(pick(random, 1, 2));
  if (pick(random, 0, 3) == 0) {
    s.callbacks.add<step_completed>([](const step_completed&, control&) {});
  }
  if (pick(random, 0, 3) == 0) {
    s.callbacks.add<evaluation_completed>([](const evaluation_completed&, control&) {});
  }
  if (rng(seed ^ 0x51ed270bu)() % 4 == 0) {
    s.callbacks.add<model_ended>([](const model_ended&, control&) {});
  }
  c.slow_messages = pick(random, 0, 1) == 0;
  c.late_completions = pick(random, 0, 1) == 0;
  add_trouble(c, random);
  c.prompt = !c.slow_messages && !c.late_completions && !may_wait(s.chosen->name()) &&
             s.host_memory > byte_count{std::uint64_t{1} << 40};
  c.text = fmt::format("seed {} policy {} models {} devices {} slots {} trouble {} at {} victim {} slow {} late {}",
                       seed, s.chosen->name(), s.models.size(), s.devices.size(), s.pipeline.slots,
                       static_cast<int>(c.trouble), c.trouble_at, c.victim, c.slow_messages, c.late_completions);
  return c;
}

std::string run_case(fuzz_case c, std::uint32_t seed, std::vector<std::string>* reported) {
  const auto random = std::make_shared<rng>(seed ^ 0x5bd1e995u);
  auto models = c.setup.models;
  const auto joiners = c.setup.joiners;
  const bool observed = c.setup.callbacks.has<step_completed>() && c.trouble != mishap::controller_dies;
  const bool works_always = !may_wait(c.setup.chosen->name());
  const witness_options promises{.pipeline = c.setup.pipeline,
                                 .untroubled = c.trouble == mishap::none,
                                 .works_always = works_always,
                                 .observed = observed};
  simulation s(std::move(c.setup));
  protocol_witness witness(s, promises);
  if (c.late_completions || c.trouble == mishap::device_falls_silent) {
    deliver(s, c, random);
  }
  inject(s, c);
  constexpr std::size_t limit = 200'000;
  std::size_t n = 0;
  for (bool goes_on = true; goes_on && n < limit && witness.complaint().empty(); ++n) {
    if (c.slow_messages && pick(*random, 0, 7) == 0) {
      s.let_time_pass();
    }
    const auto choice = (*random)();
    if (const auto message = overhear(s, choice)) {
      witness.notify(*message);
      if (reported) {
        reported->push_back(to_text(*message));
      }
    } else if (!s.next()) {
      witness.rest();
    }
    goes_on = s.step(choice);
    if (n == c.join_at && !joiners.empty()) {
      s.add_model(joiners[0].name);
    }
    if (n == c.trouble_at) {
      lose(s, c.trouble, c.victim);
    }
  }
  if (!witness.complaint().empty()) {
    return c.text + ": " + witness.complaint();
  }
  if (n == limit) {
    return c.text + ": no end after " + std::to_string(limit) + " messages";
  }
  auto wrong = collect(s, c, joiners, models);
  wrong = wrong.empty() ? check(s, c, models) : wrong;
  return wrong.empty() ? wrong : c.text + ": " + wrong;
}

std::string fuzz(std::uint32_t first, std::uint32_t last) {
  for (auto seed = first; seed <= last; ++seed) {
    const auto wrong = run_case(make_case(seed), seed, nullptr);
    if (wrong.empty()) {
      continue;
    }
    std::vector<std::string> reported;
    run_case(make_case(seed), seed, &reported);
    std::erase(reported, "");
    constexpr std::size_t enough = 80;
    const auto from = reported.size() > enough ? reported.size() - enough : 0;
    return fmt::format("{}\n  {}\n", wrong,
                       fmt::join(reported.begin() + static_cast<std::ptrdiff_t>(from), reported.end(), "\n  "));
  }
  return {};
}

}  // namespace hydra::test
