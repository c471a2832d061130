#pragma once
// The lines of metrics.jsonl as TensorBoard's event files, one folder for each model.

#include "runtime/storage/append_log.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <functional>
#include <istream>
#include <map>
#include <string>
#include <string_view>

namespace hydra {

inline constexpr const char* tensorboard_folder = "tensorboard";

/// Writes "RUN/tensorboard/MODEL/events.out.tfevents.hydra". For one thread.
class tensorboard_files {
 public:
  /// Replaces the files of earlier parts of the run by one for each model with their lines, which is written when it
  /// returns: the log keeps only so many bytes waiting. Throws fault_error{io}.
  tensorboard_files(const std::filesystem::path& run, std::istream& earlier, append_log& log);

  /// A line of a step or of an evaluation; a line without a time has that of the line before.
  void add(const nlohmann::ordered_json& line);

 private:
  using sink = std::function<void(const std::filesystem::path& file, std::string_view record)>;
  void add(const nlohmann::ordered_json& line, const sink& to);
  const std::filesystem::path& file_of(const std::string& model, const sink& to);
  void write_again(std::istream& earlier);

  std::filesystem::path folder_;
  append_log& log_;
  std::map<std::string, std::filesystem::path> files_;  ///< that have been started
  double time_;
};

}  // namespace hydra
