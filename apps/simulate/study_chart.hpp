#pragma once
// The drawing of a study: how far policies are from the best bounds.

#include "apps/simulate/study.hpp"

#include <string>

namespace hydra::apps {

/// An SVG drawing with a row for each cell and a dot for each of its policies at its mean makespan / best bound, those
/// of 2 and more at the right edge, and a legend. Empty without cells.
std::string ratio_chart(const study_result& s);

}  // namespace hydra::apps
