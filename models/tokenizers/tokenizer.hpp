#pragma once
// Tokenizers: text to token ids and back.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// Tokens with a special meaning, if a tokenizer has them.
struct special_tokens {
  std::optional<std::uint32_t> begin_of_text{}, end_of_text{};
  std::optional<std::uint32_t> padding{}, unknown{};
  std::optional<std::uint32_t> mask{};             ///< BERT's [MASK]
  std::optional<std::uint32_t> classify{};         ///< BERT's [CLS], before a text
  std::optional<std::uint32_t> separate{};         ///< BERT's [SEP], after a text
  std::vector<std::uint32_t> before{}, after{};    ///< what the tokenizer's files put around each text of its own
};

/// Thread-safe because const.
class tokenizer {
 public:
  virtual ~tokenizer() = default;

  /// Appends the ids of a UTF-8 text. Adds no special token; one that is written in the text is recognised if the
  /// tokenizer's file says so. Throws fault_error{bad_input} with the position of the first byte that is not UTF-8.
  virtual void encode(std::string_view text, std::vector<std::uint32_t>& ids) const = 0;
  std::vector<std::uint32_t> encode(std::string_view text) const {
    std::vector<std::uint32_t> ids;
    encode(text, ids);
    return ids;
  }

  /// The text of ids; the exact inverse of encode() if encoding loses nothing (not for WordPiece). Partial UTF-8
  /// sequences, split by ids, are returned as they are. Throws fault_error{bad_input} for an id that is not below
  /// vocabulary().
  virtual std::string decode(std::span<const std::uint32_t> ids) const = 0;

  /// One more than the largest id.
  virtual std::int64_t vocabulary() const = 0;
  virtual std::optional<std::uint32_t> id_of(std::string_view token) const = 0;
  virtual special_tokens special() const = 0;

  /// Different for tokenizers that give different ids (a hash of what was read): part of the key of a token cache.
  virtual std::string identity() const = 0;
  /// For messages: "tokenizer gpt2/tokenizer.json".
  virtual std::string describe() const = 0;
  /// For the user: what the files say that has no effect here. Sentences without an end.
  virtual std::vector<std::string> notes() const { return {}; }
};

/// For messages: empty if there is no tokenizer, or none of its tokens has the id.
std::string text_of_token(const tokenizer* by, std::int64_t id);

/// How a workload names a tokenizer: bytes, a file, or two. Empty: that of the checkpoint which the model starts from,
/// bytes for other models.
struct tokenizer_choice {
  bool bytes = false;              ///< every byte is a token; all other members are empty then
  std::filesystem::path file{};  ///< tokenizer.json, *.model (SentencePiece), or a folder that has one, or other files
  std::filesystem::path vocab{};   ///< vocab.json with merges.txt (byte-level BPE), or vocab.txt alone (WordPiece)
  std::filesystem::path merges{};
  /// Special tokens that are added where the tokenizer.json lacks them, each with the next id.
  std::vector<std::string> added{};
  friend bool operator==(const tokenizer_choice&, const tokenizer_choice&) = default;
};

/// Opens a tokenizer; every byte is a token if no file is given. Throws fault_error{bad_input} naming the file and what
/// is wrong in it; and if tokens are added to one that is not a tokenizer.json.
std::shared_ptr<const tokenizer> open_tokenizer(const tokenizer_choice& choice);

/// Whether a folder has one of the files that open_tokenizer() searches there.
bool has_tokenizer(const std::filesystem::path& folder);

/// Files of the folder that open_tokenizer() reads besides the one that it is given, and the chat template, if they are
/// there.
std::vector<std::filesystem::path> files_beside_tokenizer(const std::filesystem::path& folder);

/// For the user, of the folder of an adapter: settings and templates of texts that are there without a tokenizer, which
/// is then its base's. Nothing if there are none.
std::optional<std::string> note_on_lone_settings(const std::filesystem::path& folder);

}  // namespace hydra
