#include "actors/simulation/event_loop.hpp"

#include "actors/policy/books.hpp"
#include "actors/policy/sharded_lrtf.hpp"
#include "actors/simulation/instance_chain.hpp"
#include "actors/simulation/loop_device.hpp"
#include "runtime/fault.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <tuple>
#include <utility>

namespace hydra {

namespace {

/// Of one instant in this order; of one kind by `a`, then `b`.
enum class event_kind : std::uint8_t { unit_ended, landed, gradients_landed, version_ready, copies_ended, arrived, died };

struct event {
  duration at{};
  event_kind kind = event_kind::unit_ended;
  std::uint32_t a = 0;         ///< device or model
  std::uint32_t b = 0;         ///< shard
  std::uint32_t attempt = 0;   ///< of the model
  bool operator>(const event& o) const { return std::tie(at, kind, a, b) > std::tie(o.at, o.kind, o.a, o.b); }
};

/// A unit that is staged or computes.
struct visit {
  std::uint32_t model = 0;
  std::uint32_t step = 0;
  std::uint32_t index = 0;
  unit what;
  duration ready{};            ///< its copies have ended
  duration begun{};
  std::size_t slot = 0;
  bool hit = false;
};

/// A boundary on a device: whose staging used it last.
struct boundary_place {
  device_id device;
  std::uint64_t staged = 0;    ///< 0: nowhere
};

struct loop_model {
  explicit loop_model(const instance_model& m, model_id id)
      : given(&m), chain(m, id), versions(m.forward.size()), made(m.forward.size()), read(m.forward.size()) {}

  const instance_model* given;
  instance_chain chain;
  std::vector<std::uint32_t> versions;    ///< READY, per shard
  std::uint32_t step = 0;                 ///< of the next unit to announce
  std::uint32_t index = 0;
  std::uint32_t attempt = 0;
  bool here = false;                      ///< it has arrived
  bool announced = false;                 ///< that unit is announced, or staged and not begun
  bool predecessor_ended = true;
  bool predecessor_landed = true;
  device_id device;                       ///< where the predecessor computes, or did
  std::uint64_t staged = 0;               ///< its staging there
  duration output_home{};                 ///< when the predecessor's output is
  std::vector<boundary_place> made;       ///< by shard: where its activation was made in this step, ...
  std::vector<boundary_place> read;       ///< ... and read by the shard above
  std::size_t last_ready = 0;             ///< shards with the last version
};

struct loop_device {
  explicit loop_device(const schedule_instance& i, double v) : speed(v), cache(i.slots) {}

  double speed;
  bool alive = true;
  slot_cache cache;
  copy_queue in;
  copy_queue out;
  std::optional<visit> staged;
  std::optional<visit> computing;
};

/// Uniform in [0, 1) from what names a unit: the same whatever the order of events.
double unit_noise(std::uint64_t seed, std::uint32_t model, std::uint32_t step, std::uint32_t index) {
  auto x = seed * 0x9E3779B97F4A7C15ULL + (std::uint64_t{model} << 40 | std::uint64_t{step} << 12 | index);
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

class event_loop {
 public:
  event_loop(const schedule_instance& instance, std::unique_ptr<policy> chosen, const loop_options& options);
  simulated_run run();

 private:
  // -- events ------------------------------------------------------------------------------------------------------
  void apply(const event& e);
  void on_unit_ended(std::uint32_t device);
  void on_landed(const event& e);
  void on_gradients_landed(const event& e);
  void on_version_ready(std::uint32_t model, std::uint32_t shard);
  void on_arrived(std::uint32_t model);
  void on_died(std::uint32_t device);
  void rewind(const model_loss& loss);

  // -- what follows ------------------------------------------------------------------------------------------------
  void announce(std::uint32_t model);
  void decide();
  void stage(const placement& p);
  struct missing {
    bool parameters = false;
    bool checkpoint = false;
    bool boundary = false;
  };
  missing missing_on(device_id device, const visit& v) const;
  bool is_there(const boundary_place& place, device_id device) const;
  void note_boundaries(const visit& v, device_id device, const missing& what);
  duration copy_inputs(const visit& v, loop_device& d, const missing& what, duration slot_from);
  void start_if_ready(std::uint32_t device);
  void copy_outputs(const visit& v, loop_device& d);
  void drop_old_version(const visit& v, std::uint32_t device);
  void report_cache(std::uint32_t device, const std::optional<shard_version>& cached, const std::optional<shard_version>& dropped);
  duration length_of(const visit& v, const loop_device& d) const;
  void push(duration at, event_kind kind, std::uint32_t a, std::uint32_t b = 0, std::uint32_t attempt = 0) {
    events_.push({at, kind, a, b, attempt});
  }
  time_point clock() const { return time_point{now_}; }
  bool finished() const { return models_over_ == models_.size(); }
  void replace_policy();

  const schedule_instance& instance_;
  loop_options options_;
  books books_;
  std::vector<loop_model> models_;
  std::vector<loop_device> devices_;
  std::vector<duration> workers_;
  std::priority_queue<event, std::vector<event>, std::greater<>> events_;
  books::placement_sink on_placed_;
  duration now_{};
  std::size_t models_over_ = 0;
  simulated_run result_;
};

event_loop::event_loop(const schedule_instance& instance, std::unique_ptr<policy> chosen, const loop_options& options)
    : instance_(instance),
      options_(options),
      books_(std::move(chosen)),
      workers_(instance.host_workers),
      on_placed_([this](const placement& p) { stage(p); }) {
  for (std::uint32_t d = 0; d < instance.devices.size(); ++d) {
    devices_.emplace_back(instance, instance.devices[d].speed);
    books_.add_device(device_id{d}, instance.devices[d].speed, instance_link);
    books_.device_freed(device_id{d}, 1, std::nullopt, clock());
    if (instance.devices[d].fails) {
      push(*instance.devices[d].fails, event_kind::died, d);
    }
  }
  for (std::uint32_t m = 0; m < instance.models.size(); ++m) {
    models_.emplace_back(instance.models[m], model_id{m});
    push(instance.models[m].arrival, event_kind::arrived, m);
  }
  result_.finished.resize(models_.size());
}

simulated_run event_loop::run() {
  while (!finished()) {
    if (events_.empty()) {
      replace_policy();  // it says nothing although nothing else will ever happen
    } else {
      now_ = events_.top().at;
      while (!events_.empty() && events_.top().at == now_) {
        const auto e = events_.top();
        events_.pop();
        apply(e);
      }
      for (std::uint32_t d = 0; d < devices_.size(); ++d) {
        start_if_ready(d);
      }
    }
    decide();
  }
  result_.decisions = books_.decisions();
  return std::move(result_);
}

// -- events --------------------------------------------------------------------------------------------------------------

void event_loop::apply(const event& e) {
  switch (e.kind) {
    case event_kind::unit_ended: return on_unit_ended(e.a);
    case event_kind::landed: return on_landed(e);
    case event_kind::gradients_landed: return on_gradients_landed(e);
    case event_kind::version_ready: return on_version_ready(e.a, e.b);
    case event_kind::copies_ended: return;
    case event_kind::arrived: return on_arrived(e.a);
    case event_kind::died: return on_died(e.a);
  }
}

void event_loop::on_unit_ended(std::uint32_t device) {
  auto& d = devices_[device];
  if (!d.computing || !d.alive) {
    return;  // it died
  }
  const auto v = *std::exchange(d.computing, std::nullopt);
  auto& m = models_[v.model];
  d.cache.unpin(v.slot);
  m.predecessor_ended = true;
  result_.compute_end = now_;
  if (options_.record_order) {
    result_.units.push_back({model_id{v.model}, v.step, v.index, device_id{device}, v.begun, now_, v.hit});
  }
  copy_outputs(v, d);
  if (!m.chain.is_forward(v.index)) {
    drop_old_version(v, device);
  }
  books_.device_freed(device_id{device}, instance_.prefetch ? 0 : 1, std::nullopt, clock());
  if (options_.completion == completion_rule::ended) {
    books_.unit_completed(v.what, clock());
  }
  if (m.step == m.chain.steps()) {
    books_.remove_model(model_id{v.model});
  } else {
    announce(v.model);
  }
}

/// The output first, then the gradients: the copies of a unit end in this order.
void event_loop::copy_outputs(const visit& v, loop_device& d) {
  auto& m = models_[v.model];
  const auto s = m.chain.shard_of(v.index);
  const bool forward = m.chain.is_forward(v.index);
  auto landed = now_;
  if (!m.chain.ends_step(v.index)) {
    landed = m.output_home = d.out.copy(now_, now_, m.given->activation);
  }
  if (forward && instance_.copy_back_clean) {
    landed = d.out.copy(now_, now_, m.given->h2d[s]);
    d.cache.drain(v.slot, landed);
  }
  if (!forward) {
    landed = d.out.copy(now_, now_, m.given->d2h_gradient[s]);
    d.cache.stale(v.slot);
    if (options_.completion == completion_rule::ended) {
      d.cache.drain(v.slot, landed);
      push(landed, event_kind::gradients_landed, v.model, s);
    }
  }
  if (options_.completion == completion_rule::landed) {
    push(landed, event_kind::landed, v.model, v.index, m.attempt);
  }
}

void event_loop::on_landed(const event& e) {
  auto& m = models_[e.a];
  if (e.attempt != m.attempt) {
    return;  // lost with its device
  }
  const auto flights = books_.flights_of(model_id{e.a});
  for (const auto& f : flights) {
    if (f.phase == flight_phase::landing && m.chain.index_of(f.what) == e.b) {
      books_.unit_completed(f.what, clock());
      m.predecessor_landed = m.predecessor_landed || (m.predecessor_ended && flights.size() == 1);
      break;
    }
  }
  if (!m.chain.is_forward(e.b)) {
    on_gradients_landed({now_, event_kind::gradients_landed, e.a, m.chain.shard_of(e.b), 0});
  }
}

void event_loop::on_gradients_landed(const event& e) {
  auto& worker = *std::ranges::min_element(workers_);
  worker = std::max(worker, now_) + models_[e.a].given->optimizer[e.b];
  push(worker, event_kind::version_ready, e.a, e.b);
}

void event_loop::on_version_ready(std::uint32_t model, std::uint32_t shard) {
  auto& m = models_[model];
  m.last_ready += ++m.versions[shard] == m.chain.steps() ? 1 : 0;
  if (m.last_ready == m.chain.shards()) {
    ++models_over_;
    result_.finished[model] = result_.makespan = now_;
  }
  announce(model);
}

void event_loop::on_arrived(std::uint32_t model) {
  const auto& given = *models_[model].given;
  model_traits traits{.priority = given.priority};
  if (given.deadline) {
    traits.deadline = time_point{*given.deadline};
  }
  books_.add_model(model_id{model}, traits);
  models_[model].here = true;
  announce(model);
}

void event_loop::on_died(std::uint32_t device) {
  auto& d = devices_[device];
  d.alive = false;
  d.staged.reset();
  d.computing.reset();
  if (std::ranges::none_of(devices_, &loop_device::alive)) {
    throw fault_error{fault_code::device_lost, instance_.name + ": all devices are lost after " + to_string(now_)};
  }
  for (const auto& loss : books_.device_lost(device_id{device})) {
    rewind(loss);
  }
}

void event_loop::rewind(const model_loss& loss) {
  auto& m = models_[loss.model.value];
  const auto& first = loss.lost.front().what;
  m.step = first.step.value;
  m.index = m.chain.index_of(first);
  m.attempt = loss.next_attempt;
  m.announced = false;
  m.predecessor_ended = m.predecessor_landed = true;
  m.staged = 0;
  announce(loss.model.value);
}

// -- what follows --------------------------------------------------------------------------------------------------------

/// The next unit, if its version is ready and its predecessor computes or has ended.
void event_loop::announce(std::uint32_t model) {
  auto& m = models_[model];
  if (!m.here || m.announced || m.step == m.chain.steps()) {
    return;
  }
  const bool ready = !m.chain.opens_version(m.index) || m.versions[m.chain.shard_of(m.index)] == m.step;
  if (!ready || (m.index == 0 && !m.predecessor_ended)) {
    return;
  }
  auto u = m.chain.announcement(m.step, m.index, m.attempt);
  u.after = m.device;  // void if no flight of the model is there
  m.announced = true;
  books_.unit_ready(u, clock());
}

void event_loop::decide() {
  try {
    books_.decide(clock(), on_placed_);
  } catch (...) {
    replace_policy();
    books_.decide(clock(), on_placed_);
  }
}

void event_loop::replace_policy() {
  ++result_.replaced;
  books_.replace_policy(std::make_unique<sharded_lrtf>());
}

void event_loop::stage(const placement& p) {
  auto& d = devices_[p.device.value];
  auto& m = models_[p.next.model.value];
  const shard_version wanted{p.next.model.value, p.next.shard.value, p.next.step.value};
  visit v{.model = p.next.model.value, .step = m.step, .index = m.index, .what = p.next};
  duration from = now_;
  auto what = missing_on(p.device, v);
  if (const auto slot = d.cache.find(wanted)) {
    v.slot = *slot;
    v.hit = true;
    ++result_.hits;
  } else {
    what.parameters = true;
    const auto given = d.cache.give(wanted, now_);
    v.slot = given.slot;
    from = given.from;
    ++result_.loads;
    report_cache(p.device.value, wanted, given.evicted);
  }
  d.cache.pin(v.slot, v.hit);
  v.ready = copy_inputs(v, d, what, from);
  note_boundaries(v, p.device, what);
  d.staged = v;
  start_if_ready(p.device.value);
  if (d.staged && v.ready > now_) {
    push(v.ready, event_kind::copies_ended, p.device.value);
  }
}

/// Besides its parameters. By the rules of `ended` a checkpoint is always copied, and the output of a unit that ran here
/// is always here. A real device keeps both until its cache evicts them; what has not landed is not evicted.
event_loop::missing event_loop::missing_on(device_id device, const visit& v) const {
  const auto& m = models_[v.model];
  missing what{.checkpoint = m.chain.reads_checkpoint(v.index), .boundary = v.index > 0 && m.device != device};
  if (options_.completion == completion_rule::ended) {
    return what;
  }
  if (what.checkpoint) {
    const auto below = m.chain.shard_of(v.index) - 1;
    what.checkpoint = !is_there(m.made[below], device) && !is_there(m.read[below], device);
  }
  if (v.index > 0 && !what.boundary && m.predecessor_landed) {
    what.boundary = !is_there({m.device, m.staged}, device);
  }
  return what;
}

bool event_loop::is_there(const boundary_place& place, device_id device) const {
  return place.staged > 0 && place.device == device &&
         place.staged >= devices_[device.value].cache.evicted_before();
}

void event_loop::note_boundaries(const visit& v, device_id device, const missing& what) {
  auto& m = models_[v.model];
  const auto& cache = devices_[device.value].cache;
  m.device = device;
  m.staged = cache.inserted();
  if (v.index < m.chain.shards()) {
    m.made[v.index] = {device, m.staged};
  }
  if (v.index > 0 && v.index < m.chain.shards()) {
    m.read[v.index - 1] = {device, what.boundary ? cache.inserted() : cache.found()};
  }
}

duration event_loop::copy_inputs(const visit& v, loop_device& d, const missing& what, duration slot_from) {
  const auto& m = models_[v.model];
  auto ready = now_;
  if (what.parameters) {
    ready = d.in.copy(now_, slot_from, m.given->h2d[m.chain.shard_of(v.index)]);
  }
  if (what.checkpoint) {
    ready = std::max(ready, d.in.copy(now_, now_, m.given->activation));
  }
  if (what.boundary) {
    ready = std::max(ready, d.in.copy(now_, m.output_home, m.given->activation));
  }
  return ready;
}

void event_loop::start_if_ready(std::uint32_t device) {
  auto& d = devices_[device];
  if (!d.staged || d.computing || d.staged->ready > now_ || !models_[d.staged->model].predecessor_ended) {
    return;
  }
  d.computing = std::exchange(d.staged, std::nullopt);
  auto& v = *d.computing;
  auto& m = models_[v.model];
  v.begun = now_;
  push(now_ + length_of(v, d), event_kind::unit_ended, device);
  m.announced = m.predecessor_ended = m.predecessor_landed = false;
  m.index = m.chain.ends_step(v.index) ? 0 : v.index + 1;
  m.step = m.index == 0 ? v.step + 1 : v.step;
  books_.device_freed(device_id{device}, instance_.prefetch ? 1 : 0, v.what, clock());
  announce(v.model);
}

duration event_loop::length_of(const visit& v, const loop_device& d) const {
  auto cost = static_cast<double>(models_[v.model].chain.cost(v.index).count());
  if (instance_.noise > 0) {
    cost *= 1 + instance_.noise * (2 * unit_noise(instance_.seed, v.model, v.step, v.index) - 1);
  }
  return duration{std::llround(cost / d.speed)};
}

/// What was stepped is of no use on any device. A real one does not hear of what others do: it keeps it until it needs the
/// room.
void event_loop::drop_old_version(const visit& v, std::uint32_t device) {
  const shard_version old{v.model, models_[v.model].chain.shard_of(v.index), v.step};
  for (std::uint32_t other = 0; other < devices_.size(); ++other) {
    auto& cache = devices_[other].cache;
    const bool hears = options_.completion == completion_rule::ended && other != device;
    const auto slot = hears ? cache.find(old) : std::nullopt;
    if (slot) {
      cache.stale(*slot);
    }
    if (slot || other == device) {
      report_cache(other, std::nullopt, old);
    }
  }
}

void event_loop::report_cache(std::uint32_t device, const std::optional<shard_version>& cached,
                              const std::optional<shard_version>& dropped) {
  const auto name = [](const shard_version& v) {
    return block_id{.model = model_id{v.model}, .replica = {}, .step = step_index{v.version},
                    .shard = shard_index{v.shard}, .micro_batch = {}};
  };
  const block_id in = cached ? name(*cached) : block_id{};
  const block_id out = dropped ? name(*dropped) : block_id{};
  books_.blocks_cached(device_id{device}, {&in, cached ? 1U : 0U}, {&out, dropped ? 1U : 0U});
}

}  // namespace

simulated_run run_in_loop(const schedule_instance& instance, std::unique_ptr<policy> chosen, const loop_options& options) {
  validate(instance);
  return event_loop{instance, std::move(chosen), options}.run();
}

namespace {

/// `weight` of each model.
template <class Weight>
duration mean_of(const schedule_instance& instance, const simulated_run& run, const Weight& weight) {
  double sum = 0;
  double weights = 0;
  for (std::size_t m = 0; m < instance.models.size(); ++m) {
    const auto w = weight(instance.models[m]);
    sum += w * static_cast<double>((run.finished[m] - instance.models[m].arrival).count());
    weights += w;
  }
  return duration{std::llround(sum / weights)};
}

}  // namespace

duration mean_completion(const schedule_instance& instance, const simulated_run& run) {
  return mean_of(instance, run, [](const instance_model&) { return 1.0; });
}

duration weighted_completion(const schedule_instance& instance, const simulated_run& run) {
  return mean_of(instance, run, [](const instance_model& m) { return m.priority; });
}

}  // namespace hydra
