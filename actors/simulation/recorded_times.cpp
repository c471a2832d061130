#include "actors/simulation/recorded_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

namespace hydra {

namespace {

/// Removes "WORD NUMBER" from the end of `text`; none if it does not end so.
std::optional<std::uint32_t> take_number(std::string_view& text, std::string_view word) {
  const auto blank = text.rfind(' ');
  if (blank == std::string_view::npos || !text.substr(0, blank).ends_with(word)) {
    return std::nullopt;
  }
  const auto digits = text.substr(blank + 1);
  std::uint32_t n = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    return std::nullopt;
  }
  text = text.substr(0, blank - word.size());
  return n;
}

/// The subject is one word.
std::string_view take_subject(std::string_view& text) {
  constexpr std::string_view of = " of ";
  const auto at = text.find(of);
  if (at == std::string_view::npos || text.substr(0, at).find(' ') != std::string_view::npos) {
    return {};
  }
  const auto subject = text.substr(0, at);
  text = text.substr(at + of.size());
  return subject;
}

std::string class_key(const span_label& l) { return fmt::format("{}|{}|{}|{}", l.subject, l.model, l.way, l.shard); }

std::string on(const std::string& device, const std::string& key) { return device + "|" + key; }

duration at_speed_one(duration d, double speed) {
  return duration{std::llround(static_cast<double>(d.count()) * speed)};
}

std::string visit_key(std::string_view model, std::string_view way, std::uint32_t shard) {
  return fmt::format("{}|{}|{}", model, way, shard);
}

}  // namespace

std::optional<span_label> parse_label(std::string_view detail) {
  span_label l;
  l.micro_batch = take_number(detail, " micro-batch").value_or(0);
  const auto step = take_number(detail, " step");
  if (!step) {
    return std::nullopt;
  }
  l.step = *step;
  l.subject = take_subject(detail);
  const bool updates = l.subject == "update" || l.subject == "norms";
  for (const std::string_view way : {" forward", " backward", " evaluate"}) {
    if (const auto shard = updates ? std::nullopt : take_number(detail, way)) {
      l.way = way.substr(1);
      l.shard = *shard;
      l.model = detail;
      return l;
    }
  }
  const auto shard = updates ? take_number(detail, "") : std::nullopt;
  l.shard = shard.value_or(0);
  l.model = detail;
  return shard ? std::optional(l) : std::nullopt;
}

std::optional<queue_kind> queue_of_track(std::string_view track, std::string_view device) {
  constexpr std::pair<std::string_view, queue_kind> queues[]{
      {" compute", queue_kind::compute}, {" h2d", queue_kind::h2d}, {" d2h", queue_kind::d2h}};
  if (!track.starts_with(device)) {
    return std::nullopt;
  }
  const auto* found = std::ranges::find(queues, track.substr(device.size()), [](const auto& q) { return q.first; });
  return found == std::end(queues) ? std::nullopt : std::optional(found->second);
}

void recorded_times::sums::add(duration d) {
  nanoseconds += static_cast<double>(d.count());
  ++count;
}

std::optional<duration> recorded_times::sums::mean() const {
  return count == 0 ? std::nullopt : std::optional(duration{std::llround(nanoseconds / static_cast<double>(count))});
}

void recorded_times::operation_class::add(const span_label& l, duration d) {
  sorted =
      sorted && (all.empty() || std::pair(all.back().step, all.back().micro_batch) <= std::pair(l.step, l.micro_batch));
  all.push_back({l.step, l.micro_batch, d});
  total.add(d);
}

/// The first one of that step and micro-batch that is not used.
std::optional<duration> recorded_times::operation_class::take(const span_label& l) {
  const auto place = [](const recorded_operation& o) { return std::pair(o.step, o.micro_batch); };
  if (!std::exchange(sorted, true)) {
    std::ranges::stable_sort(all, {}, place);
  }
  used.resize(all.size());
  const auto same = std::ranges::equal_range(all, std::pair(l.step, l.micro_batch), {}, place);
  for (auto each = same.begin(); each != same.end(); ++each) {
    if (auto flag = used[static_cast<std::size_t>(each - all.begin())]; !flag) {
      flag = true;
      return each->took;
    }
  }
  return std::nullopt;
}

void recorded_times::rewind() {
  for (auto& [key, c] : classes_) {
    c.used.clear();
  }
}

void recorded_times::add(queue_kind queue, const std::string& device, double speed, const span& s) {
  const auto label = parse_label(s.detail);
  if (!label) {
    return;
  }
  const auto key = class_key(*label);
  if (queue == queue_kind::compute) {
    const auto took = at_speed_one(s.end - s.begin, speed);
    classes_[key].add(*label, took);
    auto& visit = visits_[visit_key(label->model, label->way, label->shard)];
    visit.nanoseconds += static_cast<double>(took.count());
    visit.count += label->subject.empty() && label->micro_batch == 0 ? 1 : 0;
    return;
  }
  classes_[on(device, key)].add(*label, s.end - s.begin);
  classes_[key].total.add(s.end - s.begin);
}

void recorded_times::add_update(const span& s) {
  const auto label = parse_label(s.detail);
  if (label && label->subject == "update") {
    updates_[visit_key(label->model, "", label->shard)].add(s.end - s.begin);
  }
}

std::optional<duration> recorded_times::mean_of(const std::string& key) const {
  const auto found = classes_.find(key);
  return found == classes_.end() ? std::nullopt : found->second.total.mean();
}

std::optional<duration> recorded_times::take(queue_kind queue, const std::string& device, double speed,
                                             const operation& op) {
  const bool computes = queue == queue_kind::compute;
  auto label = parse_label(op.label.detail);
  if (!label) {
    return std::nullopt;
  }
  const auto scaled = [&](duration d) { return computes ? at_speed_one(d, 1 / speed) : d; };
  const auto key = class_key(*label);
  if (const auto found = classes_.find(computes ? key : on(device, key)); found != classes_.end()) {
    if (const auto took = found->second.take(*label)) {
      return scaled(*took);
    }
  }
  label->way = label->way == "forward" ? "backward" : "forward";
  for (const auto& each : {on(device, key), key, computes ? key : class_key(*label)}) {
    if (const auto mean = mean_of(each)) {
      return scaled(*mean);
    }
  }
  return std::nullopt;
}

std::optional<duration> recorded_times::mean_visit(const std::string& model, std::string_view way,
                                                   std::uint32_t shard) const {
  const auto found = visits_.find(visit_key(model, way, shard));
  return found == visits_.end() ? std::nullopt : found->second.mean();
}

std::optional<duration> recorded_times::mean_update(const std::string& model, std::uint32_t shard) const {
  const auto found = updates_.find(visit_key(model, "", shard));
  return found == updates_.end() ? std::nullopt : found->second.mean();
}

std::optional<duration> recorded_times::mean_computation(const std::string& model, std::string_view way,
                                                         std::uint32_t shard) const {
  return mean_of(class_key({.subject = {}, .model = model, .way = way, .shard = shard}));
}

double recorded_times::spread() const {
  double deviation = 0, sum = 0;
  for (const auto& [key, c] : classes_) {
    if (!key.starts_with('|')) {
      continue;  // copies have a subject
    }
    const auto mean = c.total.nanoseconds / static_cast<double>(c.total.count);
    for (const auto& o : c.all) {
      deviation += std::abs(static_cast<double>(o.took.count()) - mean);
    }
    sum += c.total.nanoseconds;
  }
  return sum > 0 ? deviation / sum : 0;
}

void set_times(model_plan& plan, const recorded_times& times) {
  for (std::uint32_t s = 0; s < plan.shards.size(); ++s) {
    auto& p = plan.shards[s];
    p.forward_time = times.mean_visit(plan.name, "forward", s).value_or(p.forward_time);
    p.backward_time = times.mean_visit(plan.name, "backward", s).value_or(p.backward_time);
    p.evaluation_time = times.mean_computation(plan.name, "evaluate", s).value_or(p.evaluation_time);
    p.update_time = times.mean_update(plan.name, s).value_or(p.update_time);
  }
}

}  // namespace hydra
