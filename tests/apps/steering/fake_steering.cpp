#include "tests/apps/steering/fake_steering.hpp"

#include "runtime/base/nearest.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <regex>

namespace hydra::apps {

namespace {

constexpr std::uint64_t mib = 1024 * 1024;
constexpr std::size_t most_in_memory = 2;

std::size_t training(const std::vector<fake_model>& models) {
  return static_cast<std::size_t>(std::ranges::count(models, "training", &fake_model::state));
}

nlohmann::ordered_json to_json(const fake_model& m) {
  nlohmann::ordered_json j{{"name", m.name}, {"state", m.state}, {"steps", m.steps}, {"of", m.of}};
  j["learning_rate"] = 1e-3;
  j["loss"] = m.loss > 0 ? nlohmann::ordered_json(m.loss) : nullptr;
  j["validation"] = nullptr;
  if (m.state == "waiting") j["note"] = "for host memory";
  return j;
}

}  // namespace

fake_steering::fake_steering(std::vector<fake_model> models) : models_{std::move(models)} { admit(); }

nlohmann::ordered_json fake_steering::status() {
  const std::lock_guard lock{mutex_};
  ++status_count_;
  auto models = nlohmann::ordered_json::array();
  for (const fake_model& m : models_) models.push_back(to_json(m));
  return {
      {"models", models},
      {"devices", {{{"name", "cpu:0"}, {"busy", 0.75}, {"memory", 9 * mib}, {"peak", 10 * mib}, {"budget", 12 * mib}}}},
      {"host", {{"used", 100 * mib * training(models_)}, {"peak", 100 * mib * most_training_}, {"budget", 250 * mib}}},
      {"elapsed_s", 11.5 + status_count_}};
}

void fake_steering::stop(const std::string& model) {
  note("stop " + model);
  const std::lock_guard lock{mutex_};
  model_named(model).state = "stopped";
  admit();
}

void fake_steering::pause(const std::string& model) {
  note("pause " + model);
  const std::lock_guard lock{mutex_};
  model_named(model).state = "paused";
  admit();
}

void fake_steering::resume(const std::string& model) {
  note("resume " + model);
  const std::lock_guard lock{mutex_};
  model_named(model).state = "waiting";
  admit();
}

std::string fake_steering::clone(const std::string& model, const std::vector<std::string>& changes) {
  note(fmt::format("clone {} {}", model, fmt::join(changes, " ")));
  const std::lock_guard lock{mutex_};
  fake_model copy = model_named(model);
  copy.name += "-clone";
  copy.state = "waiting";
  models_.push_back(copy);
  admit();
  return copy.name;
}

std::vector<std::string> fake_steering::add(const std::string& toml) {
  note(fmt::format("add {} bytes", toml.size()));
  const std::regex name{"name = \"([^\"]*)\""};
  std::vector<std::string> added;
  for (std::sregex_iterator m{toml.begin(), toml.end(), name}, none; m != none; ++m) added.push_back((*m)[1]);
  if (added.empty()) refuse("the text has no [[model]] with a name");
  const std::lock_guard lock{mutex_};
  for (const std::string& a : added) models_.push_back({a, "waiting"});
  admit();
  return added;
}

void fake_steering::quit() { note("quit"); }

std::vector<std::string> fake_steering::asked() const {
  const std::lock_guard lock{mutex_};
  return asked_;
}

int fake_steering::status_count() const {
  const std::lock_guard lock{mutex_};
  return status_count_;
}

void fake_steering::change(const std::function<void(std::vector<fake_model>&)>& change) {
  const std::lock_guard lock{mutex_};
  change(models_);
  admit();
}

void fake_steering::note(const std::string& command) {
  before_command();
  const std::lock_guard lock{mutex_};
  asked_.push_back(command);
}

fake_model& fake_steering::model_named(const std::string& name) {
  const auto found = std::ranges::find(models_, name, &fake_model::name);
  if (found != models_.end()) return *found;
  std::vector<std::string> names;
  std::ranges::transform(models_, std::back_inserter(names), &fake_model::name);
  refuse(fmt::format("there is no model \"{}\"{}", name, known_instead(name, names)));
}

void fake_steering::admit() {
  for (fake_model& m : models_)
    if (m.state == "waiting" && training(models_) < most_in_memory) m.state = "training";
  most_training_ = std::max(most_training_, training(models_));
}

}  // namespace hydra::apps
