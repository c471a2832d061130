#pragma once
// Progress of a run as text: one live line on a terminal, plain lines elsewhere. Pure: time is passed in.

#include "runtime/bytes.hpp"
#include "runtime/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>

namespace hydra {

struct progress_options {
  bool live = false;                                        ///< the stream is a terminal
  std::size_t width = 80;                                   ///< columns of the terminal
  duration live_interval = std::chrono::milliseconds(100);  ///< least time between two drawings of the live line
  duration plain_interval = std::chrono::seconds(5);        ///< most time between two plain lines, if steps complete
};

/// Writes to a stream that outlives it. Not thread-safe.
class progress_printer {
 public:
  progress_printer(std::ostream& out, progress_options options, time_point start);

  /// A model of the workload and the expected time of one of its steps, which weighs it in the fraction. Models that
  /// were not expected join, as heavy as the mean, with their first step.
  void expect(const std::string& name, std::uint32_t steps, duration step_time);
  /// The model has completed step `step` (counted from 0) of `steps`.
  void step(const std::string& name, step_index step, std::uint32_t steps, float loss, time_point now);
  /// The model was stopped or has failed: what is left of it does not count.
  void left(const std::string& name);
  void devices_busy(std::size_t busy, std::size_t devices);
  /// The last line.
  void finish(time_point now);

  /// Work done, in [0, 1].
  double fraction() const;
  /// Nothing before the first step.
  std::optional<duration> remaining(time_point now) const;

 private:
  struct model {
    std::uint32_t done = 0;
    std::uint32_t steps = 0;
    double weight = 1;  ///< seconds per step
  };
  double mean_weight() const;
  bool due(time_point now) const;
  std::string line(time_point now) const;
  void draw(time_point now);

  std::ostream& out_;
  progress_options options_;
  time_point start_;
  time_point drawn_;
  int tenths_drawn_ = 0;
  std::map<std::string, model> models_;
  std::string latest_;  ///< "gpt-a 12/200 loss 3.2140"
  std::string busy_;    ///< "2/2 devices busy"
};

/// "12 s", "3 min 05 s", "2 h 05 min".
std::string coarse_time(duration d);

}  // namespace hydra
