#pragma once
// What a person or a script can ask of a run that is under way.

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace hydra::apps {

/// Commands to a run, from any thread. Each throws fault_error that says what is wrong; of a model that there is not,
/// the nearest name.
class steering {
 public:
  virtual ~steering() = default;

  /// The members that docs/control.md lists. Cheap: it is called once a second, and waits for no other command.
  virtual nlohmann::ordered_json status() = 0;

  /// Ends a model; its memory is free afterwards, its best and last state are in its checkpoints.
  virtual void stop(const std::string& model) = 0;
  /// Saves a model and frees its memory, until it is resumed.
  virtual void pause(const std::string& model) = 0;
  virtual void resume(const std::string& model) = 0;

  /// A new model that starts from the state of `model`, with changes such as "optimizer.learning_rate=1e-4"; its name.
  virtual std::string clone(const std::string& model, const std::vector<std::string>& changes) = 0;
  /// Adds the models of a text with [[model]] tables; their names.
  virtual std::vector<std::string> add(const std::string& toml) = 0;

  /// Saves all models and ends the run, as an interrupt does.
  virtual void quit() = 0;
};

}  // namespace hydra::apps
