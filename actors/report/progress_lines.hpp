#pragma once
// The text of a run's progress lines. Pure.

#include "runtime/base/bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hydra {

struct model_progress {
  std::string name;
  std::uint32_t done = 0;
  std::uint32_t steps = 0;
  std::optional<float> loss;      ///< of the last completed step
  std::optional<double> validation{};   ///< loss of the last evaluation
  std::optional<duration> left;   ///< none before its first step
  bool ended_early = false;       ///< stopped or failed
};

/// The state of a run that the lines show.
struct progress_state {
  double fraction = 0;            ///< work done, in [0, 1]
  duration elapsed{};
  std::optional<duration> left;
  std::size_t busy = 0;           ///< devices that compute
  std::size_t devices = 0;        ///< 0: not known, not shown
  std::vector<model_progress> models;   ///< of the workload, in its order
};

/// "[=====>    ]  42 %  1/2 devices busy  20 s, 1 min 00 s left", as wide as `width` allows.
std::string overall_line(const progress_state& s, std::size_t width);

/// Below the overall line one line for each model, at most `most` of them: those with the most remaining work. In
/// the order of the workload; a last line counts the others. None is longer than `width`.
std::vector<std::string> progress_lines(const progress_state& s, std::size_t width, std::size_t most);

/// "42 %  gpt-a 12/200 loss 3.2140  1/2 devices busy  20 s, 1 min 00 s left"; `latest` has just completed a step.
std::string plain_line(const progress_state& s, const model_progress& latest);

/// "12 s", "3 min 05 s", "2 h 05 min".
std::string coarse_time(duration d);

}  // namespace hydra
