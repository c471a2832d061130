#pragma once
// What drawings with a scale have in common.

#include "apps/report/axis.hpp"

#include <span>
#include <string>
#include <string_view>

namespace hydra::apps {

constexpr double grid_footer = 36;  ///< height of a grid's values and label

/// SVG: lines from the upper edge down to `bottom`, their values and the label of the axis below.
std::string vertical_grid(const axis& a, double bottom, std::string_view label);

struct legend_entry {
  std::string colour;
  std::string text;
};

/// HTML: a paragraph of colours and what they mean.
std::string legend(std::span<const legend_entry> entries);

}  // namespace hydra::apps
