#pragma once
// What all tokenizers that are read from files have in common.

#include "models/tokenizers/added_tokens.hpp"
#include "models/tokenizers/token_table.hpp"
#include "models/tokenizers/tokenizer.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

struct tokenizer_parts {
  std::string file{};  ///< for messages
  std::string identity{};
  token_table tokens{};  ///< the model's, as its vocabulary writes them
  std::vector<added_token> added{};
  normalizers normalize{};
  special_tokens special{};
  std::vector<std::string> notes{};
};

class file_tokenizer : public tokenizer {
 public:
  using tokenizer::encode;
  void encode(std::string_view text, std::vector<std::uint32_t>& ids) const final;
  std::string decode(std::span<const std::uint32_t> ids) const final;
  std::int64_t vocabulary() const final;
  std::optional<std::uint32_t> id_of(std::string_view token) const final;
  special_tokens special() const final { return parts_.special; }
  std::string identity() const final { return parts_.identity; }
  std::string describe() const final { return "tokenizer " + parts_.file; }
  std::vector<std::string> notes() const final { return parts_.notes; }
  void add_notes(const std::vector<std::string>& more) {
    parts_.notes.insert(parts_.notes.end(), more.begin(), more.end());
  }
  /// Those of its files and those that a choice adds, in the order in which they were read.
  const std::vector<added_token>& added() const noexcept { return parts_.added; }
  /// Whether a token may have parts of two lines: by its rules, or an added token with a line break within it, or as
  /// white space before or after it.
  bool joins_lines() const;

 protected:
  /// The ids of consecutive pieces: normalised text without added tokens.
  class piece_encoder {
   public:
    virtual ~piece_encoder() = default;
    virtual void encode(std::string_view piece) = 0;
  };

  explicit file_tokenizer(tokenizer_parts parts);

  const tokenizer_parts& parts() const noexcept { return parts_; }
  /// The token of an id as a decoder sees it, an added one as it is searched; null if no token has the id.
  const std::string* token_of(std::uint32_t id) const noexcept;
  /// The tokens of those ids that have one.
  std::vector<std::string> texts_of(std::span<const std::uint32_t> ids) const;
  bool is_added(std::uint32_t id) const noexcept { return id < added_.size() && !added_[id].empty(); }

 private:
  /// Encodes the pieces of one call, whose text has this many bytes. What is in `made` outlives it.
  virtual std::unique_ptr<piece_encoder> begin(std::size_t bytes, made_texts& made,
                                               std::vector<std::uint32_t>& ids) const = 0;
  /// Whether the model may do so; examples need not show it.
  virtual bool model_joins_lines() const { return false; }
  /// All ids are below vocabulary().
  virtual std::string decode_known(std::span<const std::uint32_t> ids) const = 0;

  tokenizer_parts parts_;
  added_tokens finder_;
  id_by_text added_ids_;
  std::vector<std::string> added_;  ///< by id; empty: not an added token
};

}  // namespace hydra
