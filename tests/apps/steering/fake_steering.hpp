#pragma once
// A run that does not train: it has models with states and notes what it is asked.

#include "apps/steering/steering.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace hydra::apps {

struct fake_model {
  std::string name;
  std::string state = "training";
  int steps = 0;
  int of = 100;
  double loss = 0;  ///< 0: none yet
};

/// Host memory: 100 MiB for each model that trains, of 250 MiB; of those that wait, the first trains as soon as it
/// fits.
class fake_steering : public steering {
 public:
  explicit fake_steering(std::vector<fake_model> models = {{"gpt-a"}, {"gpt-b"}});

  nlohmann::ordered_json status() override;
  void stop(const std::string& model) override;
  void pause(const std::string& model) override;
  void resume(const std::string& model) override;
  std::string clone(const std::string& model, const std::vector<std::string>& changes) override;
  std::vector<std::string> add(const std::string& toml) override;
  void quit() override;

  /// What was asked, in order, but for status: "stop gpt-a".
  std::vector<std::string> asked() const;
  int status_count() const;
  /// Called at the start of each command but status, without a lock.
  std::function<void()> before_command = [] {};
  /// Changes the models under the lock.
  void change(const std::function<void(std::vector<fake_model>&)>& change);

 private:
  void note(const std::string& command);
  fake_model& model_named(const std::string& name);
  void admit();

  mutable std::mutex mutex_;
  std::vector<fake_model> models_;
  std::vector<std::string> asked_;
  int status_count_ = 0;
  std::size_t most_training_ = 0;
};

}  // namespace hydra::apps
