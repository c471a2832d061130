#include "apps/report/chart_parts.hpp"

#include "apps/report/markup.hpp"

#include <fmt/format.h>

namespace hydra::apps {

std::string vertical_grid(const axis& a, double bottom, std::string_view label) {
  std::string out;
  for (const double v : round_values(a, 8)) {
    out += fmt::format("<path class=\"grid\" d=\"M{} 0V{}\"/>\n", coordinate(a.at(v)), coordinate(bottom));
    out += svg_text(a.at(v), bottom + 16, "middle", tick_text(v));
  }
  return out + svg_text((a.from + a.to) / 2, bottom + 32, "middle", label);
}

std::string legend(std::span<const legend_entry> entries) {
  std::string out = "<p class=\"legend\">";
  for (const legend_entry& e : entries)
    out += fmt::format("<span><i style=\"background:{}\"></i>{}</span> ", e.colour, escaped(e.text));
  return out + "</p>\n";
}

}  // namespace hydra::apps
