#include "actors/report/report_json.hpp"

#include "actors/report/objectives.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/storage/atomic_file.hpp"

#include <hydra/version.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

namespace hydra {

namespace {

using json = nlohmann::ordered_json;  // keys in the order of the documentation; NaN and infinities become null

// -- writing and reading have the same interface, so that each field stands once --------------------------------------

json value_of(duration d) { return seconds(d); }
json value_of(byte_count n) { return n.value(); }
json value_of(money m) { return amount_of(m); }
json value_of(const power_draw& w) { return {{"busy", w.busy}, {"idle", w.idle}}; }
template <class T>
json value_of(const T& value) {
  return value;
}

class writer {
 public:
  template <class T>
  void operator()(const char* key, const T& value) {
    out_[key] = value_of(value);
  }
  template <class T>
  void operator()(const char* key, const std::optional<T>& value) {
    if (value) (*this)(key, *value);
  }
  /// Whether the next fields are written. They are read in any case.
  bool writes(bool written) const { return written; }
  /// A value that is derived from others.
  template <class T>
  void derived(const char* key, const T& value) {
    (*this)(key, value);
  }
  /// `value` stands for a member; reading calls `set` with it.
  template <class T, class Set>
  void as(const char* key, const T& value, const Set&) {
    (*this)(key, value);
  }
  template <class Fields>
  void object(const char* key, const Fields& fields) {
    writer inner;
    fields(inner);
    out_[key] = std::move(inner.out_);
  }
  template <class T, class Fields>
  void list(const char* key, const std::vector<T>& all, const Fields& fields) {
    auto& list = out_[key] = json::array();
    for (const T& each : all) {
      writer inner;
      fields(inner, each);
      list.push_back(std::move(inner.out_));
    }
  }
  json finish() { return std::move(out_); }

 private:
  json out_ = json::object();
};

/// JSON has no NaN: it was written as null.
double number_in(const json& j) { return j.is_null() ? std::numeric_limits<double>::quiet_NaN() : j.get<double>(); }

void read(const json& j, double& into) { into = number_in(j); }
void read(const json& j, duration& into) { into = duration{std::llround(j.get<double>() * 1e9)}; }
void read(const json& j, byte_count& into) { into = byte_count{j.get<std::uint64_t>()}; }
void read(const json& j, money& into) { into = money_of(j.get<double>()); }
void read(const json& j, power_draw& into) { into = {j.at("busy").get<double>(), j.at("idle").get<double>()}; }
void read(const json& j, std::vector<float>& into) {
  for (const json& each : j) into.push_back(static_cast<float>(number_in(each)));
}
template <class T>
void read(const json& j, T& into) {
  into = j.get<T>();
}

class reader {
 public:
  /// Throws for anything but an object.
  explicit reader(const json& in) : in_(in) { static_cast<void>(in.get_ref<const json::object_t&>()); }

  template <class T>
  void operator()(const char* key, T& into) {
    if (const auto found = in_.find(key); found != in_.end()) read(*found, into);
  }
  template <class T>
  void operator()(const char* key, std::optional<T>& into) {
    if (in_.contains(key)) (*this)(key, into.emplace());
  }
  bool writes(bool) const { return true; }
  template <class T>
  void derived(const char*, const T&) {}
  template <class T, class Set>
  void as(const char* key, T value, const Set& set) {
    if (in_.contains(key)) {
      (*this)(key, value);
      set(value);
    }
  }
  template <class Fields>
  void object(const char* key, const Fields& fields) {
    if (const auto found = in_.find(key); found != in_.end()) {
      reader inner{*found};
      fields(inner);
    }
  }
  template <class T, class Fields>
  void list(const char* key, std::vector<T>& all, const Fields& fields) {
    const auto found = in_.find(key);
    if (found == in_.end()) return;
    for (const json& each : found->get_ref<const json::array_t&>()) {
      reader inner{each};
      fields(inner, all.emplace_back());
    }
  }

 private:
  const json& in_;
};

// -- the fields, in the order of the file
// -------------------------------------------------------------------------------- F is a writer or a reader; the
// struct is const for a writer.

/// A report of another version may have another status.
void set_status(model_report& m, const std::string& text) {
  for (const auto s : {model_status::finished, model_status::failed, model_status::stopped, model_status::interrupted,
                       model_status::paused}) {
    for (const bool unsaved : {false, true}) {
      m.status = s;
      m.unsaved = unsaved;
      if (status_text(m) == text) return;
    }
  }
  m.status = model_status::failed;
  m.unsaved = false;
}

void set_code(fault& f, const std::string& text) {
  for (int c = 0; c <= static_cast<int>(fault_code::internal); ++c) {
    if (text == to_string(static_cast<fault_code>(c))) f.code = static_cast<fault_code>(c);
  }
}

template <class F, class Fault>
void fault_fields(F& f, Fault& why) {
  f.as("code", to_string(why.code), [&](const auto& text) { set_code(why, text); });
  f("text", why.text);
}

template <class F, class Expense>
void expense_fields(F& f, Expense& e) {
  f("device_s", e.time);
  f("cost", e.cost);
  f("joules", e.joules);
}

template <class F, class Terms>
void price_fields(F& f, Terms& t) {
  f("price", t.price);
  f("watts", t.watts);
  if (f.writes(t.billed == billing::used))
    f.as("billing", std::string{to_string(t.billed)},
         [&](const auto& text) { t.billed = billing_of(text).value_or(billing::run); });
}

template <class F, class Device>
void device_fields(F& f, Device& d, duration makespan) {
  f("name", d.name);
  f("kind", d.kind);
  f.as("precision", to_string(d.numbers),
       [&](const auto& text) { d.numbers = text == to_string(precision::bf16) ? precision::bf16 : precision::fp32; });
  f("speed", d.speed);
  f("busy_s", d.busy);
  f.derived("utilisation", makespan > duration::zero() ? seconds(d.busy) / seconds(makespan) : 0.0);
  f("exposed_transfer_s", d.exposed_transfer);
  f.object("blame", [&](auto& inner) {
    for (const auto& part : breakdown_parts) {
      if (f.writes(part.value != &time_breakdown::bubble || d.time.bubble > duration{}))
        inner((std::string{part.name} + "_s").c_str(), d.time.*part.value);
    }
  });
  f("h2d_bytes", d.h2d_bytes);
  f("d2h_bytes", d.d2h_bytes);
  f("cache_hits", d.cache_hits);
  f("cache_misses", d.cache_misses);
  f("saved_micro_batches", d.saved);
  f("recomputed_micro_batches", d.recomputed);
  f("peak_bytes", d.peak);
  f("budget_bytes", d.budget);
  f("reserve_bytes", d.reserve);
  f.object("expense", [&](auto& inner) {
    expense_fields(inner, d.spent);
    price_fields(inner, d.terms);
    if (inner.writes(!d.energy_source.empty())) inner("energy_source", d.energy_source);
  });
  if (f.writes(!d.model.empty())) f("model", d.model);
  if (f.writes(d.lost)) {
    f("lost", d.lost);
    f("reason", d.reason);
  }
}

template <class F, class Validation>
void validation_fields(F& f, Validation& v) {
  f("step", v.step);
  f("loss", v.loss);
  f("perplexity", v.perplexity);
  f("accuracy", v.accuracy);
  f("floor", v.floor);
  f("entropy", v.entropy);
}

/// Since the start of the run.
template <class F, class Model>
void term_fields(F& f, Model& m) {
  f("priority", m.priority);
  f("deadline_s", m.deadline);
  if (f.writes(m.arrival > duration{})) f("arrival_s", m.arrival);
  f("completed_s", m.completed);
}

template <class F, class Model>
void model_fields(F& f, Model& m) {
  f("name", m.name);
  f("family", m.family);
  f("parameters", m.parameters);
  if (f.writes(m.frozen_parameters > 0)) f("frozen_parameters", m.frozen_parameters);
  f("cuts", m.cuts);
  if (f.writes(m.replicas > 1)) f("replicas", m.replicas);
  if (f.writes(m.waves > 1)) {
    f("waves", m.waves);
    f("compute_s", m.pipeline.compute);
    f("bubble_s", m.pipeline.bubble);
  }
  if (f.writes(m.pieces > 1)) {
    f("pieces", m.pieces);
    f("side_by_side", m.side_by_side);
  }
  f.as("status", status_text(m), [&](const auto& text) { set_status(m, text); });
  if (f.writes(static_cast<bool>(m.error))) f.object("fault", [&](auto& inner) { fault_fields(inner, m.error); });
  term_fields(f, m);
  if (f.writes(m.steps_before > 0)) f("steps_before", m.steps_before);
  f("steps", m.steps);
  f("tokens", m.tokens);
  f("seconds", m.elapsed);
  f.object("expense", [&](auto& inner) { expense_fields(inner, m.spent); });
  f("loss", m.loss);
  if (f.writes(!m.grad_norm.empty())) f("grad_norm", m.grad_norm);
  if (f.writes(!m.validation.empty()))
    f.list("validation", m.validation, [](auto& inner, auto& v) { validation_fields(inner, v); });
  if (f.writes(!m.digest.empty())) f("digest", m.digest);
}

template <class F, class Node>
void node_fields(F& f, Node& n) {
  f("name", n.name);
  f("devices", n.devices);
  f("joined_s", n.joined);
  f("used_s", n.used);
  f("models", n.models);
  if (f.writes(n.exchanged > byte_count{})) {
    f("exchanged_bytes", n.exchanged);
    f("exchanging_s", n.exchanging);
  }
  if (f.writes(n.failures > 0)) f("failures", n.failures);
  if (f.writes(!n.outcome.empty())) f("outcome", n.outcome);
}

template <class F, class Cluster>
void cluster_fields(F& f, Cluster& c) {
  f.list("nodes", c.nodes, [](auto& inner, auto& n) { node_fields(inner, n); });
  f("moves", c.moves);
  f("transit_s", c.transit);
  f("redone_steps", c.redone);
  f("moved_bytes", c.moved);
}

template <class F, class Bounds>
void bound_fields(F& f, Bounds& b) {
  f("work_s", b.work);
  f("chain_s", b.chain);
  f("uniform_s", b.uniform);
  f("h2d_s", b.h2d);
  f("d2h_s", b.d2h);
  f("optimizer_s", b.optimizer);
}

template <class F, class Report>
void scheduling_fields(F& f, Report& r) {
  f("decisions", r.decisions);
  f.as("mean_us", microseconds(r.decision_mean), [&](auto us) { r.decision_mean = duration{std::llround(us * 1e3)}; });
  f.as("p99_us", microseconds(r.decision_p99), [&](auto us) { r.decision_p99 = duration{std::llround(us * 1e3)}; });
  f("waited_s", r.decision_wait);
  f("replaced", r.replaced);
}

template <class F, class Report>
void host_fields(F& f, Report& r) {
  f("peak_bytes", r.host_peak);
  f("budget_bytes", r.host_budget);
  f("optimizer_s", r.optimizer_busy);
  if (f.writes(r.process_peak > byte_count{})) {
    f("process_peak_bytes", r.process_peak);
    f("trace_bytes", r.trace);
  }
  if (f.writes(r.host_spent.cost || r.host_spent.joules))
    f.object("expense", [&](auto& inner) {
      inner("cost", r.host_spent.cost);
      inner("joules", r.host_spent.joules);
      price_fields(inner, r.host_terms);
      if (inner.writes(!r.host_energy_source.empty())) inner("energy_source", r.host_energy_source);
    });
}

/// Of the run: of all its parts, all devices and the host.
template <class F, class Report>
void run_expense_fields(F& f, Report& r) {
  expense_fields(f, r.spent);
  if (f.writes(r.before != expense{})) f.object("before", [&](auto& inner) { expense_fields(inner, r.before); });
  if (f.writes(r.gone != expense{})) f.object("gone", [&](auto& inner) { expense_fields(inner, r.gone); });
  if (f.writes(r.spent_gaps != expense_gaps{}))
    f.object("incomplete", [&](auto& inner) {
      inner("cost", r.spent_gaps.cost);
      inner("joules", r.spent_gaps.joules);
    });
  if (f.writes(!r.currency.empty())) f("currency", r.currency);
  f("grams_per_kwh", r.grams_per_kwh);
  if (r.spent.joules && r.grams_per_kwh) f.derived("carbon_g", carbon_of(*r.spent.joules, *r.grams_per_kwh));
}

json json_of(const objectives& o) {
  writer f;
  f("mean_completion_s", o.mean_completion);
  f("weighted_completion_s", o.weighted_completion);
  f("missed_deadlines", o.missed_deadlines);
  if (o.left_out > 0) f("left_out", o.left_out);
  return f.finish();
}

template <class F, class Report>
void report_fields(F& f, Report& r) {
  f.derived("version", std::string{version});
  f("name", r.name);
  f("seed", r.seed);
  f("policy", r.policy);
  f("makespan_s", r.makespan);
  f.derived("bound_s", r.bound());
  f.derived("bound", r.bound_name());
  f.derived("efficiency", r.efficiency());
  f.object("bounds", [&](auto& inner) { bound_fields(inner, r.limits); });
  f.object("mean_bounds", [&](auto& inner) { bound_fields(inner, r.usual); });
  f.derived("objectives", json_of(objectives_of(r.models)));
  f.object("scheduling", [&](auto& inner) { scheduling_fields(inner, r); });
  f.object("expense", [&](auto& inner) { run_expense_fields(inner, r); });
  f("pilot_s", r.pilot);
  f("load_s", r.load);
  f("save_s", r.save);
  f.object("checkpoints", [&](auto& inner) {
    inner("saved", r.checkpoints);
    inner("seconds", r.checkpoint_time);
  });
  f("interrupted", r.interrupted);
  f("notes", r.notes);
  if (f.writes(!r.cluster.nodes.empty())) f.object("cluster", [&](auto& inner) { cluster_fields(inner, r.cluster); });
  f.list("devices", r.devices, [&](auto& inner, auto& d) { device_fields(inner, d, r.makespan); });
  f.object("host", [&](auto& inner) { host_fields(inner, r); });
  f.list("models", r.models, [](auto& inner, auto& m) { model_fields(inner, m); });
  if (f.writes(!r.callbacks_lost.empty())) f("callbacks_lost", r.callbacks_lost);
}

}  // namespace

std::string to_json(const report& r) {
  writer f;
  report_fields(f, r);
  return json_text(f.finish(), 2) + "\n";  // texts of exceptions need not be UTF-8: that must not prevent the report
}

void write_report(const report& r, const std::filesystem::path& file) { write_atomically(file, to_json(r)); }

report report_of(const json& written) {
  report r;
  reader f{written};
  report_fields(f, r);
  return r;
}

}  // namespace hydra
