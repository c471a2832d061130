#include "apps/report/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hydra::apps {

double axis::at(double v) const {
  const double share = most > least ? std::clamp((v - least) / (most - least), 0.0, 1.0) : 0;
  return from + share * (to - from);
}

std::vector<double> round_values(const axis& a, int count) {
  std::vector<double> values;
  if (!(a.most > a.least)) return values;
  const double wanted = (a.most - a.least) / count;
  const double power = std::pow(10, std::floor(std::log10(wanted)));
  const double step = power * (wanted > 5 * power ? 10 : wanted > 2 * power ? 5 : wanted > power ? 2 : 1);
  const double first = std::ceil(a.least / step), last = std::floor(a.most / step);
  if (!(std::max(std::abs(first), std::abs(last)) < 0x1p53)) return values;  // n + 1 may be n
  for (double n = first; n <= last; ++n) values.push_back(n * step);
  return values;
}

std::string tick_text(double v) { return fmt::format("{:g}", std::abs(v) < 1e-12 ? 0 : v); }

}  // namespace hydra::apps
