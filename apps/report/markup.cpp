#include "apps/report/markup.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace hydra::apps {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        if (static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\t') out += c;
    }
  return out;
}

std::string coordinate(double x) {
  if (!std::isfinite(x)) return "0";
  std::string text = fmt::format("{:.1f}", x);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

std::string svg_text(double x, double y, std::string_view anchor, std::string_view content) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", coordinate(x), coordinate(y), anchor,
                     escaped(content));
}

std::string rectangle_path(double x, double y, double width, double height) {
  return fmt::format("M{} {}h{}v{}h-{}z", coordinate(x), coordinate(y), coordinate(width), coordinate(height),
                     coordinate(width));
}

std::string colour_of(std::size_t i) {
  constexpr std::array first{"#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1",
                             "#76b7b2", "#d4a72c", "#ff6f91", "#9c755f", "#7f8fa6"};
  if (i < first.size()) return first[i];
  constexpr double golden_angle = 137.508;  // neighbours are far apart
  return fmt::format("hsl({:.0f},55%,{}%)", std::fmod(static_cast<double>(i) * golden_angle, 360), 45 + 7 * (i % 3));
}

}  // namespace hydra::apps
