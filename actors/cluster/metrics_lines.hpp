#pragma once
// metrics.jsonl of a cluster's run, and its progress: the lines that its nodes have written.

#include "actors/protocol/cluster.hpp"
#include "actors/report/progress.hpp"
#include "runtime/base/log.hpp"
#include "runtime/storage/append_log.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace hydra {

/// For one thread, but for close(), which is the last call.
class metrics_lines {
 public:
  /// Behind the lines that are in `folder`.
  metrics_lines(std::filesystem::path folder, bool progress);
  ~metrics_lines();

  void expect(const std::vector<std::string>& names, const std::vector<planned_model>& models);
  void add(const std::string& lines);

  /// Returns a note for the user; may be empty.
  std::string close();

 private:
  void show(const std::string& line);

  std::filesystem::path file_;
  std::shared_ptr<spdlog::logger> logger_;
  append_log log_;
  std::unique_ptr<progress_printer> progress_;  ///< null: not shown
};

}  // namespace hydra
