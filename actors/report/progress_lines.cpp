#include "actors/report/progress_lines.hpp"

#include "actors/report/number_text.hpp"
#include "actors/report/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace hydra {

namespace {

constexpr std::size_t least_bar = 8;
constexpr std::size_t most_bar = 40;

std::string bar(double fraction, std::size_t cells) {
  const auto full = static_cast<std::size_t>(fraction * static_cast<double>(cells));
  std::string text(cells, ' ');
  std::fill_n(text.begin(), std::min(full, cells), '=');
  if (full < cells) {
    text[full] = '>';
  }
  return "[" + text + "]";
}

std::string percent(double fraction) { return fmt::format("{:3.0f} %", fraction * 100); }

std::string times(const progress_state& s) {
  return coarse_time(s.elapsed) + (s.left ? ", " + coarse_time(*s.left) + " left" : "");
}

std::string devices(const progress_state& s) {
  return s.devices == 0 ? "" : fmt::format("  {}/{} devices busy", s.busy, s.devices);
}

std::string loss_of(const model_progress& m) {
  return (m.loss ? "loss " + number_text(*m.loss, 4) : "") +
         (m.validation ? " validation " + number_text(*m.validation, 4) : "");
}

bool ended(const model_progress& m) { return m.ended_early || m.done >= m.steps; }

/// Positions of the models to show.
std::vector<std::size_t> longest_to_go(const std::vector<model_progress>& models, std::size_t most) {
  std::vector<std::size_t> order(models.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto way = [&](std::size_t i) {
    const auto unknown = models[i].left ? *models[i].left : duration::max();
    return ended(models[i]) ? duration{} : unknown;
  };
  std::ranges::stable_sort(order, std::ranges::greater{}, way);
  order.resize(std::min(order.size(), most));
  std::ranges::sort(order);
  return order;
}

std::string left_of(const model_progress& m) {
  if (ended(m)) {
    return m.ended_early ? "ended" : "done";
  }
  return m.left ? coarse_time(*m.left) + " left" : "";
}

}  // namespace

std::string overall_line(const progress_state& s, std::size_t width) {
  const auto text = "  " + percent(s.fraction) + devices(s) + "  " + times(s);
  const auto space = width > text_width(text) + 2 ? width - text_width(text) - 2 : 0;
  const auto line = space < least_bar ? text.substr(2) : bar(s.fraction, std::min(space, most_bar)) + text;
  return std::string(clip(line, width));
}

std::vector<std::string> progress_lines(const progress_state& s, std::size_t width, std::size_t most) {
  text_table t{{{""}, {"", alignment::right}, {""}, {""}}};
  const auto shown = longest_to_go(s.models, most);
  for (const auto i : shown) {
    const auto& m = s.models[i];
    t.add({m.name, fmt::format("{}/{}", m.done, m.steps), loss_of(m), left_of(m)});
  }
  std::vector<std::string> lines{overall_line(s, width)};
  const auto rows = t.to_string();
  for (auto begin = rows.find('\n') + 1; begin < rows.size(); begin = rows.find('\n', begin) + 1) {
    lines.emplace_back(clip(std::string_view(rows).substr(begin, rows.find('\n', begin) - begin), width));
  }
  if (shown.size() < s.models.size()) {
    const auto others = fmt::format("and {} more", s.models.size() - shown.size());
    lines.emplace_back(clip(others, width));
  }
  return lines;
}

std::string plain_line(const progress_state& s, const model_progress& latest) {
  return fmt::format("{}  {} {}/{} {}{}  {}", percent(s.fraction), latest.name, latest.done, latest.steps,
                     loss_of(latest), devices(s), times(s));
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
