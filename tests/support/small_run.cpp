#include "tests/support/small_run.hpp"

#include "actors/model/resumed_position.hpp"
#include "actors/policy/catalog.hpp"
#include "partition/plan/cursor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace hydra::test {

namespace {

/// "model 0 step 1 forward 0", whichever attempt.
std::string visit_name(unit u) {
  u.attempt = 0;
  return to_string(u);
}

std::string without_attempt(const std::string& detail) { return detail.substr(0, detail.find(" attempt")); }

/// The number behind such a word, 0 without it.
unsigned long number_after(const std::string& detail, const std::string& word) {
  const auto found = detail.find(word);
  return found == std::string::npos ? 0 : std::stoul(detail.substr(found + word.size()));
}

/// Of a unit as "model 0 replica 1 wave 2 step 0 forward 0".
std::size_t lane_of(const std::string& detail, std::uint32_t waves) {
  return number_after(detail, " replica ") * waves + number_after(detail, " wave ");
}

std::string lane_out_of_order(const std::vector<span>& spans, const simulated_model& m, const cursor& units,
                              unit_position next) {
  for (const auto& s : spans) {
    if (s.track != "model " + m.name || lane_of(s.detail, m.waves) != next.lane) {
      continue;
    }
    const auto expected = units.at_end(next) ? "nothing more" : visit_name(units.unit_at(next, 0));
    if (without_attempt(s.detail) != expected) {
      return fmt::format("{}: {} completed, expected {}", m.name, s.detail, expected);
    }
    next = units.next(next);
  }
  return units.at_end(next) ? ""
                            : fmt::format("{}: lane {} stops before {}", m.name, next.lane,
                                          to_string(units.unit_at(next, 0)));
}

std::string out_of_order(const std::vector<span>& spans, const simulated_model& m, std::uint32_t id,
                         std::uint32_t steps, const model_standing& begins) {
  auto units = units_of(model_id{id}, *make_simulated_model(m));
  units.truncate(steps);
  for (const auto& next : first_units(begins, units)) {
    if (auto wrong = lane_out_of_order(spans, m, units, next); !wrong.empty()) {
      return wrong;
    }
  }
  return "";
}

}  // namespace

device_info roomy_device(std::size_t i, double speed) {
  device_info d;
  d.name = fmt::format("sim:{}", i);
  d.kind = "simulated";
  d.speed = speed;
  d.memory = byte_count{std::uint64_t{1} << 40};
  d.link = one_byte_per_ns;
  return d;
}

simulated_model even_model(const std::string& name, std::size_t shards, std::uint32_t steps, duration visit,
                           duration copy) {
  simulated_model m{.name = name, .shards = {}, .steps = steps};
  m.shards.resize(shards, {.forward = visit,
                           .backward = visit,
                           .update = {},
                           .parameters = bytes_of(copy),
                           .activation = {},
                           .working = {}});
  return m;
}

simulation_setup even_run(std::vector<simulated_model> models, std::size_t devices) {
  simulation_setup setup;
  for (std::size_t i = 0; i < devices; ++i) {
    setup.devices.push_back(roomy_device(i));
  }
  setup.models = std::move(models);
  setup.chosen = make_policy("sharded-lrtf", 0);
  return setup;
}

std::unique_ptr<simulation> finished(simulation_setup setup) {
  auto s = std::make_unique<simulation>(std::move(setup));
  s->run();
  if (!s->record()) {
    throw std::runtime_error("the run hangs: no record");
  }
  return s;
}

duration makespan(const simulation& s) {
  const auto& r = s.record().value();
  return r.last_update.value() - r.first_prefetch.value();
}

std::vector<span> spans_of(simulation& s, const std::string& name, const std::string& track) {
  auto all = s.spans().spans();
  std::erase_if(all, [&](const span& x) { return x.name != name || (!track.empty() && x.track != track); });
  std::ranges::stable_sort(all, {}, [](const span& x) { return std::pair{x.begin, x.end}; });
  return all;
}

std::size_t evaluations_of(const simulated_model& m) {
  const auto units = units_of(model_id{}, *make_simulated_model(m));
  std::size_t n = 0;
  for (std::uint32_t step = 1; step <= m.steps; ++step) {
    n += units.evaluates_after(step) ? 1 : 0;
  }
  return n;
}

std::string unfinished(const simulation& s, const std::vector<simulated_model>& models) {
  if (!s.record()) {
    return "the run hangs: no record";
  }
  for (std::size_t i = 0; i < models.size(); ++i) {
    const auto& out = s.record()->models[i];
    const auto evaluations = evaluations_of(models[i]);
    if (!out.ended || out.why || out.steps != models[i].steps || out.history.losses.size() != models[i].steps ||
        out.history.evaluations.size() != evaluations) {
      return fmt::format("model {} ended after {} of {} steps, {} losses, {} of {} evaluations: {}", i, out.steps,
                         models[i].steps, out.history.losses.size(), out.history.evaluations.size(), evaluations,
                         out.why.text);
    }
  }
  return {};
}

std::string out_of_order(simulation& s, const std::vector<simulated_model>& models,
                         const std::vector<model_checkpoint>& begins) {
  const auto spans = spans_of(s, "shard_completed");
  for (std::uint32_t i = 0; i < models.size(); ++i) {
    if (auto wrong = out_of_order(spans, models[i], i, s.record()->models[i].steps,
                                      begins.empty() ? model_standing{} : begins[i].standing); !wrong.empty()) {
      return wrong;
    }
  }
  return {};
}

}  // namespace hydra::test
