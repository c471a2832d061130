#pragma once
// The lines of metrics.jsonl as TensorBoard's event files, one folder for each model.

#include "runtime/storage/append_log.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <map>
#include <string>

namespace hydra {

inline constexpr const char* tensorboard_folder = "tensorboard";

/// Writes "RUN/tensorboard/MODEL/events.out.tfevents.hydra". For one thread.
class tensorboard_files {
 public:
  /// Removes the files of earlier parts of the run: all lines are given again. Throws fault_error{io}.
  tensorboard_files(const std::filesystem::path& run, append_log& log);

  /// A line of a step or of an evaluation; a line without a time has that of the line before.
  void add(const nlohmann::ordered_json& line);

 private:
  const std::filesystem::path& file_of(const std::string& model);

  std::filesystem::path folder_;
  append_log& log_;
  std::map<std::string, std::filesystem::path> files_;  ///< that have been started
  double time_;
};

}  // namespace hydra
