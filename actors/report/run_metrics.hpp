#pragma once
// metrics.jsonl: what a run tells while it goes, an object of JSON a line.

#include "actors/protocol/events.hpp"
#include "actors/protocol/model_entry.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/storage/line_log.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace hydra {

inline constexpr const char* metrics_file = "metrics.jsonl";

/// Lines of one run. For one thread.
class run_metrics {
 public:
  /// Of a new run, in a new file. Of one that goes on, behind the lines of the steps that its models have done: later ones are
  /// left out, and what a crash has cost is told from their histories, without its time. Throws fault_error{io}.
  run_metrics(const std::filesystem::path& folder, const std::vector<model_entry>& models, bool goes_on,
              std::shared_ptr<spdlog::logger> log);

  /// A step on so many targets. Its pace is known from a model's second step on.
  void step(const step_completed& e, std::uint64_t targets, time_point now);
  void evaluation(const evaluation_completed& e);

  /// All lines are written when it returns. What a user should know; empty: nothing.
  std::string close();

 private:
  line_log lines_;
  std::map<model_id, time_point> last_step_;
};

/// "time" of a line, in whole milliseconds: of the calendar, so that lines of runs that go on stand in one order.
double seconds_since_1970();

/// Targets of one step of the model.
std::uint64_t targets_of_step(const sharded_model& m);

}  // namespace hydra
