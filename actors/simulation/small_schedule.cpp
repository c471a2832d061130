#include "actors/simulation/small_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

namespace hydra {

namespace {

/// Of a step.
std::vector<small_instance::unit_cost> units_of(const instance_model& m) {
  std::vector<small_instance::unit_cost> units;
  const auto last = static_cast<std::uint32_t>(m.forward.size()) - 1;
  for (std::uint32_t s = 0; s < last; ++s) {
    units.push_back({.shard = s, .length = m.forward[s]});
  }
  units.push_back({.shard = last, .length = m.forward.back() + m.backward.back(), .steps = true});
  for (auto s = last; s-- > 0;) {
    units.push_back({.shard = s, .length = m.backward[s], .steps = true});
  }
  return units;
}

}  // namespace

std::string beyond_small_schedule(const schedule_instance& instance) {
  if (instance.depth > 1) {
    return fmt::format("depth = {}", instance.depth);
  }
  if (instance.noise > 0) {
    return "noise";
  }
  for (const auto& d : instance.devices) {
    if (d.fails) {
      return "a device that fails";
    }
  }
  for (const auto& m : instance.models) {
    if (shape_of(m).lanes() > 1) {
      return fmt::format("model {} with several lanes", m.name);
    }
    if (m.first_trained > 0 || std::ranges::any_of(m.base_h2d, [](duration d) { return d > duration{}; })) {
      return fmt::format("model {} with frozen shards", m.name);
    }
    const auto is_empty = [](const small_instance::unit_cost& u) { return u.length == duration{}; };
    if (std::ranges::any_of(units_of(m), is_empty)) {
      return fmt::format("model {} with a unit that takes no time", m.name);
    }
    if (m.arrival > duration{}) {
      return fmt::format("model {} with an arrival", m.name);
    }
  }
  return "";
}

small_instance::small_instance(const schedule_instance& instance) : given(instance) {
  const auto fastest = std::ranges::max(instance.devices, {}, &instance_device::speed).speed;
  for (const auto& m : instance.models) {
    model_costs costs{.times = &m, .units = units_of(m), .total = 0, .rest = {}};
    costs.total = m.steps * static_cast<std::uint32_t>(costs.units.size());
    costs.rest.assign(costs.units.size() + 1, duration{});
    for (auto u = costs.units.size(); u-- > 0;) {
      auto& unit = costs.units[u];
      unit.shortest = duration{static_cast<duration::rep>(static_cast<double>(unit.length.count()) / fastest)};
      costs.rest[u] = costs.rest[u + 1] + unit.length;
    }
    models.push_back(std::move(costs));
  }
}

small_schedule::small_schedule(const small_instance& instance)
    : instance_(&instance),
      devices_(instance.given.devices.size()),
      models_(instance.models.size()),
      workers_(instance.given.host_workers) {
  for (std::size_t m = 0; m < models_.size(); ++m) {
    const auto shards = instance.models[m].shards();
    models_[m].versions.assign(shards, 0);
    models_[m].gradients.assign(shards, duration{});
  }
}

// -- questions and answers --------------------------------------------------------------------------------------------

std::optional<std::uint32_t> small_schedule::next(std::vector<std::uint32_t>& models) {
  for (;;) {
    if (!in_pass_) {
      begin_pass();
    }
    for (; asked_ < pass_.size(); ++asked_) {
      const auto device = pass_[asked_];
      models.clear();
      for (std::uint32_t m = 0; may_ask(devices_[device]) && m < models_.size(); ++m) {
        if (is_candidate(device, m)) {
          models.push_back(m);
        }
      }
      if (!models.empty()) {
        return device;
      }
    }
    in_pass_ = false;
    if (placed_) {
      continue;
    }
    if (events_.empty()) {
      return std::nullopt;
    }
    handle_events();
  }
}

/// Devices that do nothing come first, then faster ones, then lower ids.
void small_schedule::begin_pass() {
  pass_.resize(devices_.size());
  std::iota(pass_.begin(), pass_.end(), 0U);
  std::ranges::stable_sort(pass_, {}, [this](std::uint32_t d) {
    const bool busy = devices_[d].computing >= 0 || devices_[d].staged >= 0;
    return std::pair{busy, -instance_->given.devices[d].speed};
  });
  asked_ = 0;
  placed_ = false;
  in_pass_ = true;
}

bool small_schedule::may_ask(const device_record& d) const {
  return !d.holds && d.staged < 0 && (d.computing < 0 || instance_->given.prefetch);
}

bool small_schedule::is_candidate(std::size_t device, std::size_t model) const {
  const auto& m = models_[model];
  const auto unit = next_unit(model);
  const bool elsewhere = m.computing >= 0 && m.computing != static_cast<std::int32_t>(device);
  if (m.staged >= 0 || elsewhere || unit == instance_->models[model].total) {
    return false;
  }
  const auto& cost = cost_of(model, unit);
  const bool reads_new = unit % instance_->models[model].units.size() < m.versions.size();  // its forward visit has not
  return !reads_new || m.versions[cost.shard] >= step_of(model, unit);
}

void small_schedule::hold() {
  devices_[pass_[asked_]].holds = true;
  ++asked_;
}

bool small_schedule::may_hold() const { return !events_.empty() || asked_ + 1 < pass_.size(); }

void small_schedule::stage(std::uint32_t model) {
  const auto device = pass_[asked_];
  ++asked_;
  placed_ = true;
  auto& d = devices_[device];
  auto& m = models_[model];
  const auto& costs = instance_->models[model];
  const auto unit = next_unit(model);
  const auto& cost = cost_of(model, unit);
  auto ready = now_;
  auto* place = find_slot(device, model, unit);
  if (place == nullptr) {
    place = &give_slot(device);
    const auto from = std::max(now_, place->free_at);
    *place = {static_cast<std::int32_t>(model), cost.shard, step_of(model, unit), now_, 0};
    ready = copy_in(d, from, costs.times->h2d[cost.shard]);
  }
  place->staged = ++stamp_;
  const auto in_step = unit % costs.units.size();
  if (in_step >= costs.shards() && cost.shard >= 1) {
    ready = std::max(ready, copy_in(d, now_, costs.times->activation));
  }
  if (in_step > 0 && m.computing < 0 && m.last != static_cast<std::int32_t>(device)) {
    ready = std::max(ready, copy_in(d, m.output, costs.times->activation));
  }
  m.staged = static_cast<std::int32_t>(device);
  d.staged = static_cast<std::int32_t>(model);
  d.ready = ready;
  if (ready > now_) {
    push({ready, event_kind::copied, device, 0});
  }
  begin_if_ready(device);
}

// -- events -----------------------------------------------------------------------------------------------------------

void small_schedule::handle_events() {
  now_ = events_.front().at;
  for (auto& d : devices_) {
    d.holds = false;
  }
  while (!events_.empty() && events_.front().at == now_) {
    const auto e = events_.front();
    events_.erase(events_.begin());
    handle(e);
  }
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    begin_if_ready(d);
  }
}

void small_schedule::handle(const event& e) {
  switch (e.kind) {
    case event_kind::ended:
      return end_unit(e.a);
    case event_kind::gradients:
      return queue_update(e);
    case event_kind::version:
      ++models_[e.a].versions[e.shard];
      makespan_ = std::max(makespan_, now_);
      return;
    case event_kind::copied:
      return;
  }
}

void small_schedule::end_unit(std::size_t device) {
  auto& d = devices_[device];
  const auto model = static_cast<std::size_t>(std::exchange(d.computing, -1));
  auto& m = models_[model];
  const auto& costs = instance_->models[model];
  const auto unit = m.ended++;
  const auto in_step = unit % costs.units.size();
  const auto& cost = costs.units[in_step];
  m.computing = -1;
  m.last = static_cast<std::int32_t>(device);
  m.output = now_;
  makespan_ = std::max(makespan_, now_);
  if (in_step + 1 < costs.units.size()) {
    m.output = copy_out(d, costs.times->activation);
  }
  if (cost.steps) {
    m.gradients[cost.shard] = copy_out(d, costs.times->d2h_gradient[cost.shard]);
    drop_version(model, cost.shard, device, m.gradients[cost.shard]);
    push({m.gradients[cost.shard], event_kind::gradients, static_cast<std::uint32_t>(model), cost.shard});
  } else if (instance_->given.copy_back_clean) {
    const auto copied = copy_out(d, costs.times->h2d[cost.shard]);
    if (auto* place = find_slot(device, model, unit)) {
      place->free_at = copied;
    }
  }
}

/// The slot here is drained first; those elsewhere are empty at once.
void small_schedule::drop_version(std::size_t model, std::uint32_t shard, std::size_t device, duration drained) {
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    for (auto& s : devices_[d].slots) {
      if (s.model == static_cast<std::int32_t>(model) && s.shard == shard) {
        s = {.free_at = d == device ? std::max(s.free_at, drained) : s.free_at, .staged = s.staged};
      }
    }
  }
}

void small_schedule::queue_update(const event& e) {
  const auto worker = std::ranges::min_element(workers_);
  *worker = std::max(now_, *worker) + instance_->models[e.a].times->optimizer[e.shard];
  push({*worker, event_kind::version, e.a, e.shard});
}

void small_schedule::begin_if_ready(std::size_t device) {
  auto& d = devices_[device];
  if (d.computing >= 0 || d.staged < 0 || d.ready > now_) {
    return;  // a predecessor would compute here
  }
  d.computing = std::exchange(d.staged, -1);
  const auto model = static_cast<std::size_t>(d.computing);
  auto& m = models_[model];
  m.staged = -1;
  m.computing = static_cast<std::int32_t>(device);
  m.begun = now_;
  const auto length = static_cast<double>(cost_of(model, m.ended).length.count());
  d.end = now_ + duration{std::llround(length / instance_->given.devices[device].speed)};
  push({d.end, event_kind::ended, static_cast<std::uint32_t>(device), 0});
}

void small_schedule::push(const event& e) { events_.insert(std::ranges::upper_bound(events_, e), e); }

// -- slots and queues -------------------------------------------------------------------------------------------------

small_schedule::slot* small_schedule::find_slot(std::size_t device, std::size_t model, std::uint32_t unit) {
  const auto shard = cost_of(model, unit).shard;
  const auto step = step_of(model, unit);
  const auto holds = [&](const slot& s) {
    return s.model == static_cast<std::int32_t>(model) && s.shard == shard && s.step == step;
  };
  auto& slots = devices_[device].slots;
  const auto found = std::ranges::find_if(slots, holds);
  return found == slots.end() ? nullptr : &*found;
}

small_schedule::slot& small_schedule::give_slot(std::size_t device) {
  auto& d = devices_[device];
  if (d.slots.size() < instance_->given.slots) {
    return d.slots.emplace_back();
  }
  const auto order = [&](const slot& s) {
    return std::tuple{computes_from(d, s), std::max(now_, s.free_at), s.model >= 0, s.staged};
  };
  return *std::ranges::min_element(d.slots, {}, order);
}

bool small_schedule::computes_from(const device_record& d, const slot& s) const {
  if (d.computing < 0 || s.model != d.computing) {
    return false;
  }
  const auto model = static_cast<std::size_t>(d.computing);
  const auto unit = models_[model].ended;
  return s.shard == cost_of(model, unit).shard && s.step == step_of(model, unit);
}

/// A copy of length 0 neither waits in the queue nor takes time.
duration small_schedule::copy_in(device_record& d, duration from, duration length) const {
  const auto earliest = std::max(now_, from);
  return length == duration{} ? earliest : d.in_free = std::max(earliest, d.in_free) + length;
}

duration small_schedule::copy_out(device_record& d, duration length) const {
  return length == duration{} ? now_ : d.out_free = std::max(now_, d.out_free) + length;
}

// -- facts ------------------------------------------------------------------------------------------------------------

std::uint32_t small_schedule::next_unit(std::size_t model) const {
  const auto& m = models_[model];
  return m.ended + (m.computing >= 0 ? 1 : 0) + (m.staged >= 0 ? 1 : 0);
}

const small_instance::unit_cost& small_schedule::cost_of(std::size_t model, std::uint32_t unit) const {
  const auto& units = instance_->models[model].units;
  return units[unit % units.size()];
}

std::uint32_t small_schedule::step_of(std::size_t model, std::uint32_t unit) const {
  return unit / static_cast<std::uint32_t>(instance_->models[model].units.size());
}

duration small_schedule::remaining(std::uint32_t model) const {
  const auto& costs = instance_->models[model];
  const auto unit = next_unit(model);
  if (unit == costs.total) {
    return {};
  }
  const auto whole = costs.times->steps - 1 - step_of(model, unit);
  return costs.rest[unit % costs.units.size()] + costs.rest.front() * whole;
}

/// All work shared evenly by devices that are free from now on, or one model by itself. Units are rounded to
/// nanoseconds.
duration small_schedule::bound() const {
  double capacity = 0;
  double work = 0;
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    const auto speed = instance_->given.devices[d].speed;
    const auto free = devices_[d].computing >= 0 ? devices_[d].end : now_;
    capacity += speed;
    work += static_cast<double>(free.count()) * speed;
  }
  auto longest = makespan_;
  for (std::size_t m = 0; m < models_.size(); ++m) {
    longest = std::max(longest, path(m));
    work += static_cast<double>(remaining(static_cast<std::uint32_t>(m)).count());
    work -= 0.5 * (instance_->models[m].total - models_[m].ended);
    if (models_[m].staged >= 0) {
      work += static_cast<double>(cost_of(m, next_unit(m) - 1).length.count());
    }
  }
  return std::max(longest, duration{static_cast<duration::rep>(work / capacity)});
}

/// The rest of the model on the fastest device, as `staged_chain` (the instances' README): a unit is staged no earlier
/// than its predecessor starts, with the double buffer, or ends; the first use of a version is a load; a backward visit
/// reads its checkpoint; an output is copied before gradients.
duration small_schedule::path(std::size_t model) const {
  const auto& m = models_[model];
  const auto& costs = instance_->models[model];
  const auto& t = *costs.times;
  const auto last = static_cast<std::uint32_t>(costs.units.size()) - 1;
  const auto ready_after = [&](std::uint32_t unit, duration ended) {
    const auto s = cost_of(model, unit).shard;
    const bool output_first = t.d2h_gradient[s] > duration{} && unit % costs.units.size() < last;
    return ended + t.d2h_gradient[s] + t.optimizer[s] + (output_first ? t.activation : duration{});
  };
  std::vector<duration> ready(costs.shards());
  for (std::uint32_t s = 0; s < ready.size(); ++s) {
    ready[s] = m.gradients[s] > duration{} ? m.gradients[s] + t.optimizer[s] : duration{};
  }
  auto begun = now_;
  auto ended = now_;
  auto unit = m.ended;
  if (m.computing >= 0) {
    begun = m.begun;
    ended = devices_[static_cast<std::size_t>(m.computing)].end;
    if (const auto& cost = cost_of(model, unit); cost.steps) {
      ready[cost.shard] = ready_after(unit, ended);
    }
    ++unit;
  }
  for (const auto first = unit; unit < costs.total; ++unit) {
    const auto& cost = cost_of(model, unit);
    const auto in_step = unit % costs.units.size();
    const auto from = std::max(now_, instance_->given.prefetch && in_step > 0 ? begun : ended);
    auto start = ended;
    if (unit == first && m.staged >= 0) {
      const auto& d = devices_[static_cast<std::size_t>(m.staged)];
      start = std::max({start, d.ready, d.computing >= 0 ? d.end : now_});
    } else if (in_step < costs.shards()) {
      start = std::max(start, std::max(from, ready[cost.shard]) + t.h2d[cost.shard]);
    } else if (cost.shard >= 1) {
      start = std::max(start, from + t.activation);
    }
    begun = start;
    ended = start + cost.shortest;
    if (cost.steps) {
      ready[cost.shard] = ready_after(unit, ended);
    }
  }
  return std::max(ended, std::ranges::max(ready));
}

namespace {

/// Two hashes of the same values.
class hashed {
 public:
  void add(std::uint64_t x) noexcept {
    sum_.first = mixed(sum_.first ^ (x * 0x9e3779b97f4a7c15ull + 0x7f4a7c15ull));
    sum_.second = mixed((sum_.second + x) * 0xc2b2ae3d27d4eb4full + 0x165667b19e3779f9ull);
  }
  void add(duration d) noexcept { add(static_cast<std::uint64_t>(std::max(d, duration{}).count())); }
  void add(const small_schedule::key& k) noexcept {
    add(k.first);
    add(k.second);
  }
  small_schedule::key value() const noexcept { return sum_; }

 private:
  static std::uint64_t mixed(std::uint64_t h) noexcept {
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdull;
    h ^= h >> 33;
    h *= 0xc4ceb9fe1a85ec53ull;
    return h ^ (h >> 33);
  }
  small_schedule::key sum_{};
};

}  // namespace

/// Its next unit reads what the unit that ended last has left.
bool small_schedule::waits_for_output(std::size_t model) const {
  const auto& m = models_[model];
  return m.computing < 0 && m.staged < 0 && m.ended % instance_->models[model].units.size() > 0;
}

small_schedule::key small_schedule::key_of(std::size_t device) const {
  const auto& d = devices_[device];
  hashed h;
  h.add(static_cast<std::uint64_t>(std::llround(instance_->given.devices[device].speed * 1e9)));
  const bool to_be_asked = in_pass_ && std::find(pass_.begin() + static_cast<std::ptrdiff_t>(asked_), pass_.end(),
                                                 static_cast<std::uint32_t>(device)) != pass_.end();
  h.add(static_cast<std::uint64_t>(d.computing + 1) << 34 | static_cast<std::uint64_t>(d.staged + 1) << 2 |
        (d.holds ? 2U : 0U) | (to_be_asked ? 1U : 0U));
  for (std::uint32_t m = 0; m < models_.size(); ++m) {
    const bool has_output = models_[m].last == static_cast<std::int32_t>(device) && waits_for_output(m);
    h.add(std::uint64_t{has_output});
  }
  h.add(d.computing >= 0 ? d.end - now_ : duration{});
  h.add(d.staged >= 0 ? d.ready - now_ : duration{});
  h.add(d.in_free - now_);
  h.add(d.out_free - now_);
  std::vector<const slot*> slots;
  for (const auto& s : d.slots) {
    slots.push_back(&s);
  }
  std::ranges::sort(slots, {}, &slot::staged);
  for (const auto* s : slots) {
    h.add(static_cast<std::uint64_t>(s->model + 1) << 48 | std::uint64_t{s->shard} << 32 | s->step);
    h.add(s->free_at - now_);
  }
  return h.value();
}

small_schedule::key small_schedule::state() const {
  std::vector<key> devices(devices_.size());
  for (std::size_t d = 0; d < devices.size(); ++d) {
    devices[d] = key_of(d);
  }
  const auto place = [&](std::int32_t d) { return d < 0 ? key{} : devices[static_cast<std::size_t>(d)]; };
  hashed h;
  h.add(static_cast<std::uint64_t>(in_pass_ ? 1 : 0) | (placed_ ? 2U : 0U));
  for (const auto& m : models_) {
    h.add(m.ended);
    for (std::size_t s = 0; s < m.versions.size(); ++s) {
      h.add(m.versions[s]);
      h.add(m.gradients[s] - now_);
    }
    h.add(m.output - now_);
    h.add(place(m.computing));
    h.add(place(m.staged));
  }
  std::ranges::sort(devices);
  for (const auto& d : devices) {
    h.add(d);
  }
  for (const auto& e : events_) {
    const bool of_model = e.kind == event_kind::gradients || e.kind == event_kind::version;
    h.add(e.at - now_);
    h.add(of_model ? std::uint64_t{e.a} << 32 | std::uint64_t{e.shard} << 2 | static_cast<std::uint64_t>(e.kind)
                   : ~std::uint64_t{0});
  }
  std::vector<duration> workers(workers_);
  std::ranges::sort(workers);
  for (const auto w : workers) {
    h.add(w - now_);
  }
  return h.value();
}

}  // namespace hydra
