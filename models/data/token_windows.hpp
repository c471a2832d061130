#pragma once
// Language-model samples: windows over a list of tokens.

#include "models/data/markov_table.hpp"
#include "models/data/token_list.hpp"
#include "models/data_source.hpp"
#include "models/tokenizers/tokenizer.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace hydra {

struct token_windows_options {
  token_parts parts;
  std::shared_ptr<const tokenizer> by{};           ///< for messages; null: not known
  std::int64_t context = 0;                        ///< tokens per sample
  std::shared_ptr<const markov_table> language{};  ///< the source of the tokens, if it is known
  std::string fingerprint{};
};

/// Sample i is the window of context + 1 tokens at i * context: inputs all but the last, targets all but the first.
/// An incomplete tail is dropped.
class token_windows final : public data_source {
 public:
  /// Throws fault_error{bad_input} if the context is not positive or a list that is not empty is shorter than a window.
  explicit token_windows(token_windows_options options);

  std::size_t samples(split part) const override;
  tensor_spec sample_input() const override;
  tensor_spec sample_target() const override { return sample_input(); }
  std::int64_t classes() const override { return options_.parts.vocabulary; }
  std::int64_t observed_vocabulary() const override {
    return std::max(options_.parts.train.observed_vocabulary(), options_.parts.validation.observed_vocabulary());
  }
  std::string token_text(std::int64_t id) const override { return text_of_token(options_.by.get(), id); }
  std::size_t read(split part, std::size_t index, std::span<std::byte> input,
                   std::span<std::byte> target) const override;
  void require_unchanged() const override { options_.parts.require_unchanged(); }
  std::vector<std::string> notes() const override { return options_.parts.notes; }
  std::string describe() const override { return options_.parts.name; }
  std::string fingerprint() const override { return options_.fingerprint; }
  /// At position j of a window a model sees j + 1 tokens, whatever came before the window.
  std::optional<loss_floor> floor(split part, std::size_t count) const override;

 private:
  token_windows_options options_;
};

}  // namespace hydra
