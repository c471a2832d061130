#include "partition/checkpoint_weights.hpp"

#include "partition/checkpoint_tensors.hpp"
#include "partition/saved_model.hpp"

#include <fmt/format.h>

#include <utility>

namespace hydra {

namespace {

class weights_of_checkpoint final : public weight_source {
 public:
  explicit weights_of_checkpoint(const saved_model& from)
      : tensors_(from.folder, from.cuts.size()),
        identity_(fmt::format("{} after {} steps, {}", from.name, from.standing.step, from.folder.filename().string())) {}

  bool read(const parameter_spec& p, std::span<float> values) const override {
    tensors_.copy("parameter." + p.name, values);
    return true;
  }

  std::string identity() const override { return identity_; }

 private:
  checkpoint_tensors tensors_;
  std::string identity_;
};

}  // namespace

std::shared_ptr<const weight_source> checkpoint_weights(const std::filesystem::path& folder) {
  return std::make_shared<weights_of_checkpoint>(read_checkpoint(folder));
}

}  // namespace hydra
