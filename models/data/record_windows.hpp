#pragma once
// Samples of records of tokens for models that predict the next token.

#include "models/data/first_fit.hpp"
#include "models/data/record_parts.hpp"
#include "models/data/record_tokens.hpp"
#include "models/data_source.hpp"
#include "models/tokenizers/tokenizer.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

struct record_windows_options {
  std::string name;                                         ///< for messages
  std::shared_ptr<const record_list> train_file{}, validation_file{};  ///< that the records come from; may be null
  record_tokens train{}, validation{};
  std::int64_t vocabulary = 0;
  std::shared_ptr<const tokenizer> by{};  ///< for messages; null: not known
  std::int64_t context = 0;  ///< tokens per sample; no record has more than context + 1
  std::int64_t padding = 0;  ///< id
  bool packed = false;
  std::uint64_t seed = 0;  ///< of which records share a window
  std::string fingerprint{};
  std::vector<std::string> notes{};
};

/// One record per sample, i64[context], padded on the right; or packed, i64[2, context]: several records, one after the
/// other, and 1 where one starts (layers/packed_tokens.hpp), padding being one more record. In both a record of n
/// tokens has n - 1 inputs, and only its counted tokens are targets.
class record_windows final : public data_source {
 public:
  /// Throws fault_error{bad_input} if the context is not positive.
  explicit record_windows(record_windows_options options);

  std::size_t samples(split part) const override;
  tensor_spec sample_input() const override;
  tensor_spec sample_target() const override { return {{options_.context}, element::i64}; }
  std::int64_t classes() const override { return options_.vocabulary; }
  std::int64_t observed_vocabulary() const override {
    return std::max(options_.train.observed_vocabulary(), options_.validation.observed_vocabulary());
  }
  std::string token_text(std::int64_t id) const override { return text_of_token(options_.by.get(), id); }
  std::size_t read(split part, std::size_t index, std::span<std::byte> input,
                   std::span<std::byte> target) const override;
  std::size_t tokens_of(split part, std::size_t index) const override;
  std::optional<record_census> census(split part) const override;
  void require_unchanged() const override;
  /// With how many records are shortened.
  std::vector<std::string> notes() const override;
  std::string describe() const override { return options_.name; }
  std::string fingerprint() const override { return options_.fingerprint; }

 private:
  /// What is left of a sample.
  struct free_places {
    std::span<std::int64_t> ids, starts, targets;
  };

  window_plan packed(const record_tokens& records) const;
  const record_tokens& records(split part) const noexcept;
  const window_plan& plan(split part) const noexcept { return part == split::train ? train_ : validation_; }
  /// Returns the number of targets that count.
  static std::size_t write(const record_tokens& from, std::size_t record, free_places& places);
  static std::size_t write_alone(const record_tokens& from, std::size_t record, free_places& places);

  record_windows_options options_;
  window_plan train_, validation_;  ///< if packed
};

}  // namespace hydra
