#pragma once
// metrics.jsonl: the metrics of a run while it is under way, one JSON object per line; for TensorBoard, too, if wanted.

#include "actors/protocol/events.hpp"
#include "actors/protocol/expense.hpp"
#include "actors/protocol/model_entry.hpp"
#include "actors/protocol/run_status.hpp"
#include "runtime/base/bytes.hpp"
#include "actors/report/tensorboard_files.hpp"
#include "runtime/storage/append_log.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hydra {

inline constexpr const char* metrics_file = "metrics.jsonl";

struct run_metrics_options {
  bool goes_on = false;       ///< the run is resumed
  bool tensorboard = false;
  metrics_sink sink{};        ///< called for each line but those of earlier parts of the run; may be null
};

/// Tokens (targets of samples without tokens) that a model has been trained on, without padding.
class trained_tokens {
 public:
  /// `counts`: of its facts.
  explicit trained_tokens(std::shared_ptr<const token_counts> counts);
  std::uint64_t after(std::uint64_t steps, const sharded_model& m);

 private:
  std::optional<token_counter> counter_;
};

/// The last step and evaluation of a model of which there are lines.
struct reported_so_far {
  std::uint32_t step = 0;
  std::uint32_t evaluated = 0;  ///< after so many steps
};

/// Lines of one run. For one thread.
class run_metrics {
 public:
  /// For a new run: a new file. For a resumed run: appends after the lines of the steps that its models have done;
  /// later lines are removed, and lines that a crash has lost are written again from the models' histories, without a
  /// time. Throws fault_error{io}.
  run_metrics(const std::filesystem::path& folder, const std::vector<model_entry>& models, run_metrics_options options,
              std::shared_ptr<spdlog::logger> log);

  /// A model joins the run, or has its memory again. Lines of steps that a model has done before it joined, as part of
  /// another one, are written without a time.
  void joined(model_id model, const model_entry& m);
  /// The pace is known from a model's second step on. `spent`: by the model so far.
  void step(const step_completed& e, const sharded_model& m, time_point now, const expense& spent = {});
  void evaluation(const evaluation_completed& e, const expense& spent = {});

  /// All lines are written when it returns. Returns a note for the user; may be empty.
  std::string close();

 private:
  void append(nlohmann::ordered_json line);
  void write(const nlohmann::ordered_json& line, bool before = false);
  void go_on_behind(const std::vector<model_entry>& models, bool goes_on);

  std::filesystem::path file_;
  append_log log_;
  metrics_sink sink_;
  std::optional<tensorboard_files> board_;
  std::map<model_id, time_point> last_step_;
  std::map<std::string, reported_so_far> earlier_;  ///< lines of an earlier part of the run
  std::map<model_id, trained_tokens> tokens_;
};

/// "time" of a line, in whole milliseconds: calendar time, so that lines of resumed runs are in order.
double seconds_since_1970();

}  // namespace hydra
