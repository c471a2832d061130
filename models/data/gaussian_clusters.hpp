#pragma once
// Classification samples around random centres: feature vectors, or images.

#include "models/data/data_catalog.hpp"

namespace hydra {

/// Class c has a centre of standard normal coordinates, or with a shape a smooth pattern in each channel; a sample is
/// its class's centre plus `noise` times standard normal. Nothing is stored: sample i derives from (seed, split, i).
class gaussian_clusters final : public data_source {
 public:
  /// Throws fault_error{bad_input} for sizes that are not positive, a shape that is not [channels, height, width], or
  /// negative noise.
  explicit gaussian_clusters(const synthetic_classes& options);

  std::size_t samples(split part) const override;
  tensor_spec sample_input() const override;
  tensor_spec sample_target() const override { return {{}, element::i64}; }
  std::int64_t classes() const override { return options_.classes; }
  std::size_t read(split part, std::size_t index, std::span<std::byte> input,
                   std::span<std::byte> target) const override;
  std::string describe() const override;

 private:
  std::vector<double> centre(std::uint64_t label) const;

  synthetic_classes options_;
};

}  // namespace hydra
