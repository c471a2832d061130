#pragma once
// Loss curves as SVG.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace hydra::apps {

struct curve_point {
  double step = 0;
  double value = 0;
};

/// One model. Values that are not finite are gaps.
struct loss_curve {
  std::string name;
  std::size_t colour = 0;               ///< position of the model in the report
  std::vector<float> loss;              ///< after step 1, 2, ...
  std::vector<curve_point> validation;
};

/// Steps over which the curves of that length are averaged; 1: short ones are drawn as they are.
std::size_t averaged_steps(std::size_t steps);

/// The mean of the finite losses within `width` steps around each, as far as there are so many; a loss that is not
/// finite stays what it is.
std::vector<float> running_average(std::span<const float> loss, std::size_t width);

/// At most about 2 * `pieces` points, which keep the extremes of every piece.
std::vector<curve_point> thin_out(std::span<const float> loss, std::size_t pieces);

/// A line for each model, where it is averaged with its steps pale behind it; its validation as points, which a dashed
/// line joins. Empty text if there is nothing to draw. Losses far above the first ones are drawn at the upper edge: a
/// model that diverges must not flatten the others.
std::string loss_chart(std::span<const loss_curve> curves);

}  // namespace hydra::apps
