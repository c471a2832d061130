#include "actors/report/progress.hpp"

#include "actors/report/terminal.hpp"
#include "runtime/base/counted.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <ostream>

namespace hydra {

namespace {

constexpr auto erase_below = "\r\x1b[J";

/// Units report their completion, not the start of the next one: a device counts as idle when that is overdue.
constexpr auto least_activity = std::chrono::seconds(1);
constexpr int units_of_activity = 3;

/// Steps under way do not count as done, one of each model: a pace of so many of each is wrong by a fifth at most.
constexpr double steps_for_pace = 5;
constexpr double share_for_pace = 0.1;  // of what has few steps

/// `under_way`: work that may have been done already, but is not part of `done`.
bool tells_pace(double done, double all, double under_way) {
  return done > 0 && (done >= steps_for_pace * under_way || done >= share_for_pace * all);
}

}  // namespace

progress_printer::progress_printer(std::ostream& out, progress_options options, time_point start)
    : out_(out), options_(options), start_(start), drawn_(start) {}

void progress_printer::expect(const std::string& name, std::uint32_t steps, duration step_time, std::uint32_t done) {
  const auto position = models_.size();
  models_[name] = {.position = position,
                   .before = done,
                   .done = done,
                   .steps = steps,
                   .weight = seconds(step_time),
                   .loss = {},
                   .validation = {}};
}

void progress_printer::step(const std::string& name, step_index step, std::uint32_t steps, float loss, time_point now) {
  const model stranger{
      .position = models_.size(), .steps = steps, .weight = mean_weight(), .loss = {}, .validation = {}};
  auto& m = models_.try_emplace(name, stranger).first->second;
  m.done = step.value + 1;
  m.steps = steps;
  m.ended_early = false;
  m.loss = loss;
  if (due(now)) {
    options_.live ? draw_lines(now) : draw_line(name, now);
  }
}

void progress_printer::evaluated(const std::string& name, double loss) {
  if (const auto found = models_.find(name); found != models_.end()) {
    found->second.validation = loss;
  }
}

void progress_printer::left(const std::string& name) {
  if (const auto found = models_.find(name); found != models_.end()) {
    found->second.ended_early = true;
  }
}

void progress_printer::unit_completed(device_id device, duration compute, time_point now) {
  busy_until_[device] = now + std::max<duration>(least_activity, units_of_activity * compute);
  if (options_.live && due(now)) {
    draw_lines(now);
  }
}

void progress_printer::finish(time_point now) {
  std::uint64_t steps = 0;
  for (const auto& [name, m] : models_) {
    steps += m.done - m.before;
  }
  out_ << (options_.live ? erase_below : "")
       << fmt::format("{} of {} in {}\n", counted(steps, "step"), counted(models_.size(), "model"),
                      coarse_time(now - start_))
       << std::flush;
}

double progress_printer::fraction() const {
  double done = 0;
  double all = 0;
  for (const auto& [name, m] : models_) {
    done += m.weight * m.done;
    all += m.weight * expected_steps(m);
  }
  return all > 0 ? done / all : 0;
}

std::optional<duration> progress_printer::remaining(time_point now) const {
  double done = 0;
  double all = 0;
  double under_way = 0;
  for (const auto& [name, m] : models_) {
    done += m.weight * (m.done - m.before);
    all += m.weight * (expected_steps(m) - m.before);
    under_way += m.done > m.before && m.done < expected_steps(m) ? m.weight : 0;
  }
  return tells_pace(done, all, under_way) ? std::optional{from_seconds(seconds(now - start_) * (all - done) / done)}
                                          : std::nullopt;
}

/// At its pace so far; at most that of the whole run.
model_progress progress_printer::progress_of(const std::string& name, const model& m, time_point now) const {
  model_progress p{.name = name,
                   .done = m.done,
                   .steps = m.steps,
                   .loss = m.loss,
                   .validation = m.validation,
                   .left = {},
                   .ended_early = m.ended_early};
  if (tells_pace(m.done - m.before, expected_steps(m) - m.before, 1)) {
    const auto own = from_seconds(seconds(now - start_) * (expected_steps(m) - m.done) / (m.done - m.before));
    p.left = std::min(own, remaining(now).value_or(own));
  }
  return p;
}

progress_state progress_printer::state(time_point now) const {
  progress_state s{.fraction = fraction(), .elapsed = now - start_, .left = remaining(now), .devices = options_.devices,
                   .models = std::vector<model_progress>(models_.size())};
  for (const auto& [name, m] : models_) {
    s.models[m.position] = progress_of(name, m, now);
  }
  s.busy = static_cast<std::size_t>(
      std::ranges::count_if(busy_until_, [now](const auto& device) { return device.second > now; }));
  return s;
}

double progress_printer::mean_weight() const {
  double sum = 0;
  for (const auto& [name, m] : models_) {
    sum += m.weight;
  }
  return models_.empty() ? 1 : sum / static_cast<double>(models_.size());
}

bool progress_printer::due(time_point now) const {
  if (options_.live) {
    return now - drawn_ >= options_.live_interval;
  }
  return now - drawn_ >= options_.plain_interval || static_cast<int>(fraction() * 10) > tenths_drawn_;
}

void progress_printer::draw_lines(time_point now) {
  const auto lines = progress_lines(state(now), options_.width - 1, options_.most_models);  // a full line would wrap
  out_ << erase_below << fmt::format("{}\r", fmt::join(lines, "\n"));
  if (lines.size() > 1) {
    out_ << fmt::format("\x1b[{}A", lines.size() - 1);
  }
  out_ << std::flush;
  drawn_ = now;
}

void progress_printer::draw_line(const std::string& latest, time_point now) {
  const auto s = state(now);
  out_ << plain_line(s, s.models[models_.at(latest).position]) << std::endl;
  drawn_ = now;
  tenths_drawn_ = static_cast<int>(fraction() * 10);
}

std::unique_ptr<progress_printer> make_progress_printer(std::size_t devices) {
  const auto t = terminal_of(STDERR_FILENO);
  const auto most_models = std::clamp<std::size_t>(t.height / 2, 1, progress_options{}.most_models);
  return std::make_unique<progress_printer>(
      std::cerr, progress_options{.live = t.live, .width = t.width, .most_models = most_models, .devices = devices},
      steady_clock::now());
}

void expect(progress_printer& printer, const model_entry& model) {
  duration step{};
  for (const auto& s : model.what->plan.shards) {
    step += s.forward_time + s.backward_time;
  }
  printer.expect(model.what->name, model.what->steps, step, model.standing.next.step);
}

}  // namespace hydra
