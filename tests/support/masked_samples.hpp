#pragma once
// Texts of several lengths, padded, for encoders: the samples of sample_form::masked and ::labelled.

#include "models/data_source.hpp"

namespace hydra::test {

struct masked_samples_options {
  std::size_t samples = 24;
  std::size_t validation_samples = 8;
  std::int64_t tokens = 6;     ///< of a sample, padding among them
  std::int64_t vocabulary = 11;  ///< 0 is the padding, 1 the mask
  std::int64_t classes = 0;    ///< 0: masked, a target for each token; else labelled
};

/// Half of a text's tokens are masked, at least one; a label is the first token modulo the classes.
class masked_samples final : public data_source {
 public:
  explicit masked_samples(const masked_samples_options& options) : options_(options) {}

  std::size_t samples(split part) const override;
  tensor_spec sample_input() const override;
  tensor_spec sample_target() const override;
  std::int64_t classes() const override;
  std::size_t read(split part, std::size_t index, std::span<std::byte> input,
                   std::span<std::byte> target) const override;
  std::string describe() const override { return "masked samples"; }

 private:
  masked_samples_options options_;
};

}  // namespace hydra::test
