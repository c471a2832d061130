#pragma once
// Masked-language-model samples: windows over a list of tokens.

#include "models/data/token_list.hpp"
#include "models/data/token_masking.hpp"
#include "models/data_source.hpp"

#include <string>
#include <vector>

namespace hydra {

struct masked_windows_options {
  token_parts parts;
  std::int64_t context = 0;  ///< tokens per sample, including [CLS] and [SEP]
  encoder_marks marks{};
  mask_options masking{};
  std::string fingerprint{};
};

/// Sample i is [CLS], the context - 2 tokens at i * (context - 2), [SEP]; the last one is padded.
class masked_windows final : public data_source {
 public:
  /// Throws fault_error{bad_input} if the context is too small for a token or there are no tokens to train on.
  explicit masked_windows(masked_windows_options options);

  std::size_t samples(split part) const override;
  tensor_spec sample_input() const override { return {{3, options_.context}, element::i64}; }
  tensor_spec sample_target() const override { return {{options_.context}, element::i64}; }
  std::int64_t classes() const override { return options_.parts.vocabulary; }
  std::size_t read(split part, std::size_t index, std::span<std::byte> input,
                   std::span<std::byte> target) const override;
  std::size_t tokens_of(split part, std::size_t index) const override;
  void require_unchanged() const override { options_.parts.require_unchanged(); }
  std::vector<std::string> notes() const override { return options_.parts.notes; }
  std::string describe() const override { return options_.parts.name; }
  std::string fingerprint() const override { return options_.fingerprint; }

 private:
  masked_windows_options options_;
  token_masking masking_;
  std::size_t step_ = 1;  ///< tokens of the list in a sample
};

}  // namespace hydra
