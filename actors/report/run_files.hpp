#pragma once
// The files that a run writes into its folder, but for checkpoints: plan.json, metrics.jsonl and TensorBoard's files
// from the start, then trace.json, stuck.txt and report.json.

#include "actors/report/expense_file.hpp"
#include "actors/report/report.hpp"
#include "actors/report/run_metrics.hpp"
#include "actors/report/run_record.hpp"
#include "partition/plan/plan.hpp"
#include "runtime/base/log.hpp"
#include "runtime/trace/trace.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace hydra {

class run_files {
 public:
  /// Without a folder (empty) nothing is written.
  run_files(std::filesystem::path folder, std::shared_ptr<spdlog::logger> log);

  bool wanted() const noexcept { return !folder_.empty(); }

  /// Makes the folder. Throws std::filesystem::filesystem_error.
  void make_folder() const;

  /// What can be read while the run is under way: it continues without.
  void begin(const workload_plan& plan, const std::vector<model_entry>& models, const earlier_parts& before,
             run_metrics_options options);
  /// Null: they are not written.
  run_metrics* metrics() const noexcept { return metrics_.get(); }
  /// Null: nothing is recorded.
  expense_file* expenses() const noexcept { return expenses_.get(); }
  /// Of what is written during the run.
  void end_metrics();

  /// Each file on its own: those that can be written are, and `r` has a note of each that cannot. The report is the
  /// last one: where it describes the end, the others are of the same run. `spans` is null without a folder.
  void write(report& r, const run_record& record, const workload_plan& plan, const trace* spans) const;

 private:
  void save_plan(const workload_plan& plan) const;

  std::filesystem::path folder_;
  std::shared_ptr<spdlog::logger> log_;
  std::unique_ptr<run_metrics> metrics_;
  std::unique_ptr<expense_file> expenses_;
  std::vector<std::string> notes_;   ///< of what was written during the run
};

}  // namespace hydra
