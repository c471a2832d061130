#include "partition/checkpoint/checkpoint_weights.hpp"

#include "models/parameter_layout.hpp"
#include "partition/checkpoint/checkpoint_tensors.hpp"
#include "partition/checkpoint/saved_model.hpp"
#include "runtime/base/fault.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <utility>

namespace hydra {

namespace {

class weights_of_checkpoint final : public weight_source {
 public:
  weights_of_checkpoint(const saved_model& from, std::shared_ptr<const weight_source> before)
      : before_(std::move(before)),
        frozen_(from.has_frozen),
        seed_(from.seed),
        folder_(from.folder),
        tensors_(from.folder, from.cuts.size()),
        identity_(fmt::format("{} after {} steps, {}", from.name, from.standing.next.step, from.folder.filename().string())) {}

  bool read(const parameter_spec& p, std::span<float> values) const override {
    const auto stored = "parameter." + p.name;
    if (!tensors_.has(stored) && frozen_) {
      read_frozen(p, values);
      return true;
    }
    if (!tensors_.has(stored)) {
      refuse(fmt::format("has no parameter '{}'", p.name));
    }
    if (const auto t = tensors_.find(stored); t.shape != p.shape) {
      refuse(fmt::format("parameter '{}' is [{}]; the model's is [{}]", p.name, fmt::join(t.shape, ", "),
                         fmt::join(p.shape, ", ")));
    }
    tensors_.copy(stored, values);
    return true;
  }

  std::string identity() const override { return identity_; }

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
  bool frozen_;
  std::uint64_t seed_;
  std::filesystem::path folder_;
  checkpoint_tensors tensors_;
  std::string identity_;
};

}  // namespace

std::shared_ptr<const weight_source> checkpoint_weights(const std::filesystem::path& folder,
                                                        std::shared_ptr<const weight_source> before) {
  return std::make_shared<weights_of_checkpoint>(read_checkpoint(folder), std::move(before));
}

}  // namespace hydra
