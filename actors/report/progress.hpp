#pragma once
// Progress of a run: a few live lines on a terminal, plain lines elsewhere. Pure: time is passed in.

#include "actors/protocol/model_entry.hpp"
#include "actors/report/progress_lines.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hydra {

struct progress_options {
  bool live = false;                                        ///< the stream is a terminal
  std::size_t width = 80;                                   ///< columns of the terminal
  std::size_t most_models = 8;                              ///< lines of models on a terminal
  std::size_t devices = 0;                                  ///< of the run; 0: their activity is not shown
  duration live_interval = std::chrono::milliseconds(100);  ///< minimum time between two updates of the live lines
  duration plain_interval = std::chrono::seconds(5);        ///< maximum time between two plain lines, if steps complete
};

/// Writes to a stream that outlives it. On a terminal the cursor stays at the start of the live lines, so that other
/// output (a log) is kept and the live lines move below it. Not thread-safe.
class progress_printer {
 public:
  progress_printer(std::ostream& out, progress_options options, time_point start);

  /// A model of the workload and the expected time of one of its steps, which is its weight in the fraction. Models
  /// that were not expected are added with their first step and the mean weight. `done` steps were completed before
  /// this run.
  void expect(const std::string& name, std::uint32_t steps, duration step_time, std::uint32_t done = 0);
  /// The model has completed step `step` (counted from 0) of `steps`.
  void step(const std::string& name, step_index step, std::uint32_t steps, float loss, time_point now);
  /// The model was evaluated on its validation data; shown with the next update.
  void evaluated(const std::string& name, double loss);
  /// The model was stopped or has failed: its remaining steps do not count.
  void left(const std::string& name);
  /// A device has completed a unit that took `compute`. It counts as busy for a while.
  void unit_completed(device_id device, duration compute, time_point now);
  /// The last line.
  void finish(time_point now);

  /// Work done, in [0, 1].
  double fraction() const;
  /// None before five steps of each model under way, or a tenth of this run's work, are done.
  std::optional<duration> remaining(time_point now) const;

 private:
  struct model {
    std::size_t position = 0;   ///< in the workload
    std::uint32_t before = 0;   ///< steps that this run has not done
    std::uint32_t done = 0;
    std::uint32_t steps = 0;
    bool ended_early = false;
    double weight = 1;          ///< seconds per step
    std::optional<float> loss;
    std::optional<double> validation;
  };
  static std::uint32_t expected_steps(const model& m) { return m.ended_early ? m.done : m.steps; }
  model_progress progress_of(const std::string& name, const model& m, time_point now) const;
  progress_state state(time_point now) const;
  double mean_weight() const;
  bool due(time_point now) const;
  void draw_lines(time_point now);
  void draw_line(const std::string& latest, time_point now);

  std::ostream& out_;
  progress_options options_;
  time_point start_;
  time_point drawn_;
  int tenths_drawn_ = 0;
  std::map<std::string, model> models_;
  std::map<device_id, time_point> busy_until_;
};

/// On stderr, as its terminal allows.
std::unique_ptr<progress_printer> make_progress_printer(std::size_t devices);

/// Expects the model, with the times of its plan.
void expect(progress_printer& printer, const model_entry& model);

}  // namespace hydra
