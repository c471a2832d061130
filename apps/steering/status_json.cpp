#include "apps/steering/status_json.hpp"

#include "actors/report/expense_json.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>

namespace hydra::apps {

namespace {

using nlohmann::ordered_json;

constexpr std::array phase_names{"waiting", "training", "pausing", "paused", "finished", "stopped", "failed"};

const char* name_of(model_phase p) { return phase_names.at(static_cast<std::size_t>(p)); }

template <class Number>
ordered_json number_or_null(const std::optional<Number>& n) {
  return n ? ordered_json(*n) : ordered_json(nullptr);
}

ordered_json to_json(const model_now& m) {
  ordered_json j{{"name", m.name},
         {"state", name_of(m.phase)},
         {"steps", m.steps},
         {"of", number_or_null(m.of)},
         {"loss", number_or_null(m.loss)},
         {"validation", number_or_null(m.validation)}};
  if (m.learning_rate) j["learning_rate"] = *m.learning_rate;
  if (m.step_work > duration{}) j["step_s"] = seconds(m.step_work);
  if (!m.note.empty()) j["note"] = m.note;
  add_expense(j, m.spent);
  return j;
}

ordered_json to_json(const device_now& d) {
  return {{"name", d.name},
          {"busy", d.busy},
          {"memory", d.memory.used.value()},
          {"peak", d.memory.peak.value()},
          {"budget", d.memory.budget.value()}};
}

model_phase phase_of(model_status s) {
  switch (s) {
    case model_status::finished:
      return model_phase::finished;
    case model_status::stopped:
      return model_phase::stopped;
    case model_status::paused:
    case model_status::interrupted:
      return model_phase::paused;
    case model_status::under_way:
      return model_phase::training;
    case model_status::failed:
      return model_phase::failed;
  }
  return model_phase::failed;
}

model_now status_of(const model_report& m) {
  model_now now{.name = m.name, .phase = phase_of(m.status), .steps = m.steps, .spent = m.spent};
  if (!m.loss.empty()) now.loss = m.loss.back();
  if (!m.validation.empty()) now.validation = m.validation.back().loss;
  if (m.status == model_status::failed) now.note = m.error.text;
  if (m.status == model_status::interrupted) now.note = "until the run is resumed";
  return now;
}

}  // namespace

nlohmann::ordered_json to_json(const run_status& s) {
  ordered_json j{{"models", ordered_json::array()}, {"devices", ordered_json::array()}};
  for (const model_now& m : s.models) j["models"].push_back(to_json(m));
  for (const device_now& d : s.devices) j["devices"].push_back(to_json(d));
  j["host"] = {{"used", s.host.used.value()}, {"peak", s.host.peak.value()}, {"budget", s.host.budget.value()}};
  j["elapsed_s"] = seconds(s.elapsed);
  add_expense(j, s.spent);
  if (!s.currency.empty()) j["currency"] = s.currency;
  return j;
}

run_status last_status(const report& r) {
  run_status s{.host = {.used = {}, .peak = r.host_peak, .budget = r.host_budget}, .elapsed = r.makespan,
               .spent = r.spent, .currency = r.currency};
  for (const model_report& m : r.models) s.models.push_back(status_of(m));
  for (const device_report& d : r.devices)
    s.devices.push_back({.name = d.name,
                         .busy = r.makespan > duration{} ? seconds(d.busy) / seconds(r.makespan) : 0,
                         .memory = {.used = {}, .peak = d.peak, .budget = d.budget}});
  return s;
}

}  // namespace hydra::apps
