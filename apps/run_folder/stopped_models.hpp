#pragma once
// Models of a run that a person has stopped: a run that continues in its folder stops them, too.

#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

namespace hydra::apps {

/// Their names, in the run folder.
inline constexpr const char* stopped_file = "stopped.toml";

/// None if no model was stopped. Throws fault_error{bad_input} for a file that cannot be read.
std::vector<std::string> read_stopped(const std::filesystem::path& run);

/// The record of a run that is under way. Thread-safe.
class stopped_models {
 public:
  /// With what the folder has. Throws as read_stopped().
  explicit stopped_models(std::filesystem::path run);

  /// On return it survives a crash of the machine. Throws fault_error{io}, for the person who has stopped the model.
  void add(const std::string& model);
  /// Another model may be added by its name now. Throws fault_error{io}.
  void remove(const std::string& model);

 private:
  void record(std::vector<std::string> models);

  std::filesystem::path run_;
  std::mutex recording_;  ///< of the next one
  std::vector<std::string> models_;
};

}  // namespace hydra::apps
