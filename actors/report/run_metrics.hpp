#pragma once
// metrics.jsonl: the metrics of a run while it is under way, one JSON object per line.

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
  /// For a new run: a new file. For a resumed run: appends after the lines of the steps that its models have done;
  /// later lines are removed, and lines that a crash has lost are written again from the models' histories, without a
  /// time. Throws fault_error{io}.
  run_metrics(const std::filesystem::path& folder, const std::vector<model_entry>& models, bool goes_on,
              std::shared_ptr<spdlog::logger> log);

  /// A step on so many targets. The pace is known from a model's second step on.
  void step(const step_completed& e, std::uint64_t targets, time_point now);
  void evaluation(const evaluation_completed& e);

  /// All lines are written when it returns. Returns a note for the user; may be empty.
  std::string close();

 private:
  line_log lines_;
  std::map<model_id, time_point> last_step_;
};

/// "time" of a line, in whole milliseconds: calendar time, so that lines of resumed runs are in order.
double seconds_since_1970();

/// Targets of one step of the model.
std::uint64_t targets_of_step(const sharded_model& m);

}  // namespace hydra
