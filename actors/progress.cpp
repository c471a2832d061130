#include "actors/progress.hpp"

#include "actors/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace hydra {

namespace {

constexpr auto erase_line = "\r\x1b[K";

}  // namespace

progress_printer::progress_printer(std::ostream& out, progress_options options, time_point start)
    : out_(out), options_(options), start_(start), drawn_(start) {}

void progress_printer::expect(const std::string& name, std::uint32_t steps, duration step_time) {
  models_[name] = {.done = 0, .steps = steps, .weight = seconds(step_time)};
}

void progress_printer::step(const std::string& name, step_index step, std::uint32_t steps, float loss, time_point now) {
  auto& m = models_.try_emplace(name, model{.done = 0, .steps = steps, .weight = mean_weight()}).first->second;
  m.done = step.value + 1;
  m.steps = steps;
  latest_ = fmt::format("{} {}/{} loss {:.4f}", name, m.done, steps, loss);
  if (due(now)) {
    draw(now);
  }
}

void progress_printer::left(const std::string& name) {
  if (const auto found = models_.find(name); found != models_.end()) {
    found->second.steps = found->second.done;
  }
}

void progress_printer::devices_busy(std::size_t busy, std::size_t devices) {
  busy_ = fmt::format("{}/{} devices busy", busy, devices);
}

void progress_printer::finish(time_point now) {
  std::uint64_t steps = 0;
  for (const auto& [name, m] : models_) {
    steps += m.done;
  }
  out_ << (options_.live ? erase_line : "")
       << fmt::format("{} steps of {} models in {}\n", steps, models_.size(), coarse_time(now - start_)) << std::flush;
}

double progress_printer::fraction() const {
  double done = 0;
  double all = 0;
  for (const auto& [name, m] : models_) {
    done += m.weight * m.done;
    all += m.weight * m.steps;
  }
  return all > 0 ? done / all : 0;
}

std::optional<duration> progress_printer::remaining(time_point now) const {
  const auto f = fraction();
  return f > 0 ? std::optional{from_seconds(seconds(now - start_) * (1 - f) / f)} : std::nullopt;
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

std::string progress_printer::line(time_point now) const {
  auto text = fmt::format("{:3.0f} %  {}", fraction() * 100, latest_);
  text += busy_.empty() ? "" : "  " + busy_;
  text += "  " + coarse_time(now - start_);
  if (const auto left = remaining(now)) {
    text += ", " + coarse_time(*left) + " left";
  }
  return text;
}

void progress_printer::draw(time_point now) {
  const auto text = line(now);
  if (options_.live) {
    out_ << erase_line << clip(text, options_.width - 1) << std::flush;  // a full line would wrap
  } else {
    out_ << text << std::endl;
  }
  drawn_ = now;
  tenths_drawn_ = static_cast<int>(fraction() * 10);
}

std::string coarse_time(duration d) {
  const auto s = std::max<std::int64_t>(std::chrono::duration_cast<std::chrono::seconds>(d).count(), 0);
  if (s < 60) {
    return fmt::format("{} s", s);
  }
  if (s < 3600) {
    return fmt::format("{} min {:02} s", s / 60, s % 60);
  }
  return fmt::format("{} h {:02} min", s / 3600, s / 60 % 60);
}

}  // namespace hydra
