#include "apps/report/loss_chart.hpp"

#include "apps/report/axis.hpp"
#include "apps/report/markup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace hydra::apps {

namespace {

constexpr double chart_width = 960, chart_height = 360, left_margin = 56, right_margin = 16, top = 12, bottom = 36;
constexpr std::size_t most_points = 40000;  // of all curves: half a megabyte

struct chart_frame {
  axis steps;
  axis loss;
  std::size_t pieces;  ///< in which a line is thinned out
};

struct value_range {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();

  void add(double v) {
    if (!std::isfinite(v)) return;
    least = std::min(least, v);
    most = std::max(most, v);
  }
  bool empty() const { return least > most; }
};

double last_step(std::span<const loss_curve> curves) {
  double last = 1;
  for (const loss_curve& c : curves) {
    last = std::max(last, static_cast<double>(c.loss.size()));
    for (const curve_point& p : c.validation) last = std::max(last, p.step);
  }
  return last;
}

value_range losses(std::span<const loss_curve> curves) {
  value_range all, first;
  for (const loss_curve& c : curves) {
    for (const float v : c.loss) all.add(v);
    for (const curve_point& p : c.validation) all.add(p.value);
    if (!c.loss.empty()) first.add(c.loss.front());
  }
  if (!first.empty() && first.most > 0) all.most = std::min(all.most, std::max(2 * first.most, all.least));
  return all;
}

/// Above and below what is drawn; one value alone, however large, has room, too.
double margin_of(const value_range& range) {
  const double largest = std::max(std::abs(range.least), std::abs(range.most));
  return std::max({(range.most - range.least) * 0.04, 1e-6, 1e-6 * largest});
}

chart_frame frame_of(std::span<const loss_curve> curves, const value_range& range) {
  const double margin = margin_of(range);
  return {{1, std::max(last_step(curves), 2.0), left_margin, chart_width - right_margin},
          {range.least - margin, range.most + margin, chart_height - bottom, top},
          std::clamp<std::size_t>(most_points / (4 * curves.size()), 8, 600)};
}

std::string grid_lines(const chart_frame& f) {
  std::string out;
  for (const double v : round_values(f.loss, 6)) {
    const std::string y = coordinate(f.loss.at(v));
    out += fmt::format("<path class=\"grid\" d=\"M{} {}H{}\"/>\n", coordinate(left_margin), y,
                       coordinate(chart_width - right_margin));
    out += svg_text(left_margin - 6, f.loss.at(v) + 4, "end", tick_text(v));
  }
  for (const double v : round_values(f.steps, 8))
    out += svg_text(f.steps.at(v), chart_height - bottom + 16, "middle", tick_text(v));
  return out + svg_text((left_margin + chart_width - right_margin) / 2, chart_height - 4, "middle", "optimizer steps");
}

/// A line, interrupted where the loss is not finite.
std::string line_path(const std::vector<curve_point>& points, const chart_frame& f) {
  std::string path;
  bool down = false;
  for (const curve_point& p : points) {
    const bool finite = std::isfinite(p.value);
    if (finite)
      path += fmt::format("{}{} {}", down ? 'L' : 'M', coordinate(f.steps.at(p.step)), coordinate(f.loss.at(p.value)));
    down = finite;
  }
  return path;
}

/// What belongs to one model.
std::string group(const loss_curve& c, const std::string& content) {
  return content.empty() ? "" : fmt::format("<g><title>{}</title>\n{}</g>\n", escaped(c.name), content);
}

std::string stroked(const loss_curve& c, const std::string& path, const char* how) {
  return path.empty()
             ? ""
             : fmt::format("<path fill=\"none\" stroke=\"{}\" {} d=\"{}\"/>\n", colour_of(c.colour), how, path);
}

/// A line of the losses as they are.
std::string line(const loss_curve& c, std::span<const float> loss, const chart_frame& f, const char* how) {
  return stroked(c, line_path(thin_out(loss, f.pieces), f), how);
}

std::string dashes(const loss_curve& c, const chart_frame& f) {
  return stroked(c, line_path(c.validation, f), "stroke-width=\"1.2\" stroke-dasharray=\"6 4\"");
}

std::string points(const loss_curve& c, const chart_frame& f) {
  std::string out;
  for (const curve_point& p : c.validation)
    if (std::isfinite(p.value))
      out += fmt::format("<circle class=\"point\" cx=\"{}\" cy=\"{}\" r=\"4\" fill=\"{}\"/>\n",
                         coordinate(f.steps.at(p.step)), coordinate(f.loss.at(p.value)), colour_of(c.colour));
  return out;
}

}  // namespace

std::vector<curve_point> thin_out(std::span<const float> loss, std::size_t pieces) {
  std::vector<curve_point> points;
  const auto add = [&](std::size_t i) { points.push_back({static_cast<double>(i + 1), loss[i]}); };
  if (loss.size() <= 2 * pieces) {
    for (std::size_t i = 0; i < loss.size(); ++i) add(i);
    return points;
  }
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    const std::size_t begin = piece * loss.size() / pieces, end = (piece + 1) * loss.size() / pieces;
    const auto part = loss.subspan(begin, end - begin);
    const auto [least, most] = std::ranges::minmax_element(part);
    const auto low = begin + static_cast<std::size_t>(least - part.begin());
    const auto high = begin + static_cast<std::size_t>(most - part.begin());
    add(std::min(low, high));
    if (low != high) add(std::max(low, high));
  }
  return points;
}

std::size_t averaged_steps(std::size_t steps) {
  constexpr std::size_t shortest = 40, windows = 20;
  return steps < shortest ? 1 : steps / windows | 1;  // odd: as many before as behind
}

std::vector<float> running_average(std::span<const float> loss, std::size_t width) {
  std::vector<double> sums{0};
  std::vector<std::size_t> counts{0};
  for (const float v : loss) {
    const bool finite = std::isfinite(v);
    sums.push_back(sums.back() + (finite ? static_cast<double>(v) : 0));
    counts.push_back(counts.back() + (finite ? 1 : 0));
  }
  std::vector<float> means(loss.begin(), loss.end());
  for (std::size_t i = 0; i < loss.size(); ++i) {
    const std::size_t half = std::min({width / 2, i, loss.size() - 1 - i}), begin = i - half, end = i + half + 1;
    if (std::isfinite(loss[i]))
      means[i] = static_cast<float>((sums[end] - sums[begin]) / static_cast<double>(counts[end] - counts[begin]));
  }
  return means;
}

std::string loss_chart(std::span<const loss_curve> curves) {
  const value_range range = losses(curves);
  if (range.empty()) return "";
  const chart_frame frame = frame_of(curves, range);
  std::string out =
      fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"loss curves\">\n", chart_width, chart_height);
  out += grid_lines(frame);
  const auto is_averaged = [](const loss_curve& c) { return averaged_steps(c.loss.size()) > 1; };
  for (const loss_curve& c : curves)
    if (is_averaged(c)) out += group(c, line(c, c.loss, frame, "stroke-width=\"1\" stroke-opacity=\"0.25\""));
  for (const loss_curve& c : curves)
    out += group(c, line(c, running_average(c.loss, averaged_steps(c.loss.size())), frame, "stroke-width=\"1.8\""));
  for (const loss_curve& c : curves) out += group(c, dashes(c, frame));
  for (const loss_curve& c : curves) out += group(c, points(c, frame));  // last, so that no line covers a point
  return out + "</svg>\n";
}

}  // namespace hydra::apps
