#include "partition/checkpoint/checkpoint_weights.hpp"

#include "models/parameter_layout.hpp"
#include "partition/checkpoint/checkpoint_tensors.hpp"
#include "partition/checkpoint/saved_model.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string>
#include <utility>

namespace hydra {

namespace {

/// Names of the frozen parameters of a chain.
std::set<std::string> frozen_in(const chain& model) {
  std::set<std::string> names;
  for (const parameter_spec& p : model.parameters())
    if (p.frozen) names.insert(p.name);
  return names;
}

class weights_of_checkpoint final : public weight_source {
 public:
  weights_of_checkpoint(const saved_model& from, std::shared_ptr<const weight_source> before,
                        std::set<std::string> frozen)
      : before_(std::move(before)),
        frozen_(std::move(frozen)),
        seed_(from.seed),
        folder_(from.folder),
        tensors_(from.folder, from.cuts.size()),
        identity_(fmt::format("{} after {} steps, {}", from.name, from.standing.next.step,
                              from.folder.filename().string())) {}

  bool read(const parameter_spec& p, std::span<float> values) const override {
    const auto stored = "parameter." + p.name;
    if (frozen_.contains(p.name)) {
      read_frozen(p, values);
      return true;
    }
    if (!tensors_.has(stored)) {
      refuse(fmt::format("has no parameter '{}'", shown(p.name)));
    }
    if (const auto t = tensors_.find(stored); t.shape != p.shape) {
      refuse(fmt::format("parameter '{}' is [{}]; the model's is [{}]", shown(p.name), fmt::join(t.shape, ", "),
                         fmt::join(p.shape, ", ")));
    }
    tensors_.copy(stored, values);
    return true;
  }

  std::string identity() const override { return identity_; }
  std::string files() const override { return folder_.string(); }
  /// Frozen values are those that the training began with: models over one base share them in an evaluation, too.
  std::string origin(const std::string& parameter) const override {
    const auto began = frozen_.contains(parameter) && before_ ? before_->origin(parameter) : "";
    return !began.empty() || !(frozen_.contains(parameter) || tensors_.has("parameter." + parameter))
               ? began
               : std::filesystem::absolute(folder_).lexically_normal().string();
  }

 private:
  /// As the training began, by its seed.
  void read_frozen(const parameter_spec& p, std::span<float> values) const {
    if (!before_ || !before_->read(p, values)) {
      initialise_randomly(values, p, seed_);
    }
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw fault_error(fault_code::bad_input,
                      fmt::format("{} is a checkpoint of another model: {}", folder_.string(), why));
  }

  std::shared_ptr<const weight_source> before_;
  std::set<std::string> frozen_;
  std::uint64_t seed_;
  std::filesystem::path folder_;
  checkpoint_tensors tensors_;
  std::string identity_;
};

/// Throws unless the weights that the training began with are there, if the chain has frozen parameters.
void check_frozen_weights(const saved_model& saved, const chain& trained) {
  const auto began = saved.identity_line("weights");
  const auto now = trained.weights() ? trained.weights()->identity() : "";
  if (!frozen_in(trained).empty() && began != now) {
    const auto files = trained.weights() ? trained.weights()->files() : "";
    throw fault_error(
        fault_code::bad_input,
        fmt::format("{} does not hold the frozen parameters of {}, and those that its training began with "
                    "are not there any more: {} (\"{}\" now, \"{}\" then); put the files there that the "
                    "training began with",
                    saved.folder.string(), shown(saved.name),
                    files.empty() ? "the model has no files of weights now" : files + " has other values", shown(now),
                    shown(began)));
  }
}

}  // namespace

std::shared_ptr<const weight_source> checkpoint_weights(const std::filesystem::path& folder) {
  return std::make_shared<weights_of_checkpoint>(read_checkpoint(folder), nullptr, std::set<std::string>{});
}

std::shared_ptr<const weight_source> checkpoint_weights(const std::filesystem::path& folder, const chain& trained) {
  const auto saved = read_checkpoint(folder);
  check_frozen_weights(saved, trained);
  return std::make_shared<weights_of_checkpoint>(saved, trained.weights(), frozen_in(trained));
}

}  // namespace hydra
