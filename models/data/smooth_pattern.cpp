#include "models/data/smooth_pattern.hpp"

#include "models/random.hpp"

#include <array>
#include <cmath>
#include <numbers>

namespace hydra {
namespace {

/// Alternately periods per image and phase.
struct plane_wave {
  double vertical, horizontal, phase;

  double at(double y, double x) const noexcept {
    return std::cos(2 * std::numbers::pi * (vertical * y + horizontal * x + phase));
  }
};

using channel_waves = std::array<plane_wave, 3>;

channel_waves draw_waves(std::uint64_t key) {
  constexpr double periods = 2;
  channel_waves waves;
  std::uint64_t drawn = 0;
  const auto uniform = [&] { return random_uniform(key, drawn++); };
  for (plane_wave& w : waves)
    w = {.vertical = periods * (2 * uniform() - 1), .horizontal = periods * (2 * uniform() - 1), .phase = uniform()};
  return waves;
}

/// `y` and `x` in [0, 1).
double height_of(const channel_waves& waves, double y, double x) {
  double sum = 0;
  for (const plane_wave& w : waves) sum += w.at(y, x);
  return sum * std::sqrt(2.0 / static_cast<double>(waves.size()));  // a cosine has mean square 1/2
}

}  // namespace

std::vector<double> smooth_pattern(std::uint64_t key, const std::vector<std::int64_t>& shape) {
  std::vector<double> values;
  for (std::int64_t c = 0; c < shape.at(0); ++c) {
    const channel_waves waves = draw_waves(random_key({key, static_cast<std::uint64_t>(c)}));
    for (std::int64_t y = 0; y < shape.at(1); ++y)
      for (std::int64_t x = 0; x < shape.at(2); ++x)
        values.push_back(height_of(waves, static_cast<double>(y) / static_cast<double>(shape[1]),
                                   static_cast<double>(x) / static_cast<double>(shape[2])));
  }
  return values;
}

}  // namespace hydra
