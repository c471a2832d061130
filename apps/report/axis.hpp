#pragma once
// Maps values to coordinates of a drawing.

#include <string>
#include <vector>

namespace hydra::apps {

/// Maps values from `least` to `most` to coordinates from `from` to `to`.
struct axis {
  double least = 0;
  double most = 1;
  double from = 0;
  double to = 1;

  /// Values beyond the ends are mapped to the ends.
  double at(double v) const;
};

/// Round values within the axis (1, 2 or 5 times a power of ten apart), about `count` of them; none where the axis is
/// so short, for values of that size, that they could not be told apart.
std::vector<double> round_values(const axis& a, int count);

/// "0.05", "2", "1e+06": no more digits than needed.
std::string tick_text(double v);

}  // namespace hydra::apps
