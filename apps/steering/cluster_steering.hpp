#pragma once
// Steers a run of `hydra train --listen`.

#include "actors/cluster/cluster.hpp"
#include "apps/run_folder/stopped_models.hpp"
#include "apps/steering/steering.hpp"

#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace hydra::apps {

/// Models are stopped, paused and resumed, and the run ended; what needs one machine is refused.
class cluster_steering final : public steering {
 public:
  /// `run` outlives it. Models that are stopped are recorded in its folder before that is answered.
  cluster_steering(cluster& run, const std::filesystem::path& folder) : run_{run}, stopped_{folder} {}

  /// The run has ended; its last status is that of the report.
  void ended(const report& r);

  nlohmann::ordered_json status() override;
  void stop(const std::string& model) override;
  void pause(const std::string& model) override { run_.pause(model); }
  void resume(const std::string& model) override { run_.resume(model); }
  std::string clone(const std::string& model, const std::vector<std::string>& changes) override;
  std::vector<std::string> add(const std::string& toml) override;
  void quit() override;

 private:
  cluster& run_;
  stopped_models stopped_;
  std::mutex ending_;  ///< of the next one
  std::optional<run_status> last_;
  std::atomic<bool> quitting_ = false;
};

}  // namespace hydra::apps
