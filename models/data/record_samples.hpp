#pragma once
// Samples of text for encoders, one per record of a file.

#include "models/data/record_parts.hpp"
#include "models/data/token_masking.hpp"
#include "models/data_source.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hydra {

struct record_samples_options {
  std::string name;  ///< for messages
  std::shared_ptr<const record_list> train{};
  std::shared_ptr<const record_list> validation{};  ///< may be null
  std::shared_ptr<const tokenizer> by{};
  sample_request wants{};
  hydra::class_names classes{};  ///< of labelled samples
  mask_options masking{};
  std::string fingerprint{};
  std::vector<std::string> notes{};  ///< in addition to those of the tokenizer and the records
};

/// [CLS], the first context - 2 tokens of the text, [SEP], padding: masked, or labelled.
class record_samples final : public data_source {
 public:
  /// Throws fault_error{bad_input}: a context that is too small, a tokenizer without the special tokens, labelled
  /// samples of records without labels.
  explicit record_samples(record_samples_options options);

  std::size_t samples(split part) const override;
  tensor_spec sample_input() const override;
  tensor_spec sample_target() const override;
  std::int64_t classes() const override;
  std::int64_t vocabulary() const override { return options_.by->vocabulary(); }
  std::size_t read(split part, std::size_t index, std::span<std::byte> input,
                   std::span<std::byte> target) const override;
  void require_unchanged() const override;
  std::vector<std::string> class_names() const override { return options_.classes.names(); }
  std::vector<std::string> notes() const override;
  std::string describe() const override { return options_.name; }
  std::string fingerprint() const override { return options_.fingerprint; }

 private:
  using tokens = std::vector<std::int64_t>;

  const record_list* records(split part) const noexcept;
  tokens encoded(const std::string& text) const;
  std::string note_on_lengths(split part) const;

  record_samples_options options_;
  encoder_marks marks_;
  std::optional<token_masking> masking_;
  std::vector<std::string> notes_on_lengths_;
};

}  // namespace hydra
