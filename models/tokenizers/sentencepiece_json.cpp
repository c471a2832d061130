#include "models/tokenizers/sentencepiece_json.hpp"

#include "models/tokenizers/tokenizer_source.hpp"
#include "models/tokenizers/unicode.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>
#include <sentencepiece_processor.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

namespace hydra {

namespace {

using nlohmann::ordered_json;
using processor = sentencepiece::SentencePieceProcessor;

constexpr const char* blank_sign = "\u2581";

/// Fields of a protobuf message that the library has accepted; it has no interface for the settings of a model.
class wire_message {
 public:
  explicit wire_message(std::string_view bytes) {
    while (!bytes.empty()) take_field(bytes);
  }

  std::uint64_t number(std::uint64_t field, std::uint64_t fallback) const {
    const auto found = numbers_.find(field);
    return found == numbers_.end() ? fallback : found->second;
  }
  /// All of a repeated field.
  const std::vector<std::string_view>& each(std::uint64_t field) const {
    static const std::vector<std::string_view> none;
    const auto found = bytes_.find(field);
    return found == bytes_.end() ? none : found->second;
  }
  /// Empty if it is not there.
  std::string_view bytes(std::uint64_t field) const { return each(field).empty() ? "" : each(field).back(); }

 private:
  static std::uint64_t take_varint(std::string_view& from) {
    std::uint64_t value = 0;
    bool more = true;
    for (unsigned shift = 0; more && !from.empty() && shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(from.front());
      from.remove_prefix(1);
      value |= std::uint64_t{byte & 127U} << shift;
      more = byte > 127;
    }
    return value;
  }

  static std::string_view take_bytes(std::string_view& from, std::uint64_t count) {
    const std::string_view taken = from.substr(0, count);
    from.remove_prefix(taken.size());
    return taken;
  }

  void take_field(std::string_view& from) {
    const std::uint64_t key = take_varint(from), field = key >> 3, type = key & 7;
    if (type == 0)
      numbers_[field] = take_varint(from);
    else if (type == 2)
      bytes_[field].push_back(take_bytes(from, take_varint(from)));
    else
      take_bytes(from, type == 1 ? 8 : 4);
  }

  std::map<std::uint64_t, std::uint64_t> numbers_;
  std::map<std::uint64_t, std::vector<std::string_view>> bytes_;
};

/// What decides ids in addition to the pieces: fields of sentencepiece_model.proto.
struct model_settings {
  bool exact = false;          ///< tokenizer.json has an equal for all of it
  bool byte_fallback = false;  ///< unknown characters are bytes
  bool prefix = true;          ///< a blank is put before a text
};

bool is_bpe(const wire_message& trainer) { return trainer.number(3, 1) == 2; }

/// Blanks are the only characters that are changed, each to the sign for it.
bool changes_only_blanks(const wire_message& trainer, const wire_message& normalizer) {
  const bool maps = !normalizer.bytes(2).empty(), drops = normalizer.number(4, 1) != 0;
  const bool escapes = normalizer.number(5, 1) != 0, suffixes = trainer.number(24, 0) != 0;
  return !maps && !drops && escapes && !suffixes;
}

/// User-defined symbols, which are found in a text, and unused ones, which are split again.
bool has_other_pieces(const wire_message& model) {
  return std::ranges::any_of(model.each(1), [](std::string_view piece) {
    const std::uint64_t type = wire_message{piece}.number(3, 1);
    return type == 4 || type == 5;
  });
}

model_settings settings_of(const wire_message& model) {
  const wire_message trainer{model.bytes(2)}, normalizer{model.bytes(3)};
  return {.exact = is_bpe(trainer) && changes_only_blanks(trainer, normalizer) && !has_other_pieces(model),
          .byte_fallback = trainer.number(35, 0) != 0,
          .prefix = normalizer.number(3, 1) != 0};
}

bool is_learnt(const processor& model, int id) {
  return !model.IsControl(id) && !model.IsUnknown(id) && !model.IsByte(id);
}

/// A pair of pieces that are together a third one.
struct piece_merge {
  int left = 0, right = 0;
  float score = 0;  ///< of the piece that they become
};

/// All pairs, the one first that SentencePiece merges first.
std::vector<piece_merge> merges_of(const processor& model) {
  std::map<std::string, int, std::less<>> ids;
  for (int id = 0; id < model.GetPieceSize(); ++id)
    if (is_learnt(model, id)) ids.emplace(model.IdToPiece(id), id);
  std::vector<piece_merge> merges;
  for (const auto& [piece, id] : ids) {
    const std::string_view text = piece;
    for (std::size_t cut = first_code_point(text).length; cut < text.size();
         cut += first_code_point(text.substr(cut)).length) {
      const auto left = ids.find(text.substr(0, cut)), right = ids.find(text.substr(cut));
      if (left != ids.end() && right != ids.end()) merges.push_back({left->second, right->second, model.GetScore(id)});
    }
  }
  std::ranges::sort(merges, [](const piece_merge& a, const piece_merge& b) {
    return std::tuple{-a.score, a.left, a.right} < std::tuple{-b.score, b.left, b.right};
  });
  return merges;
}

ordered_json model_of(const processor& model, const model_settings& s) {
  ordered_json vocab = ordered_json::object(), merges = ordered_json::array();
  // Inserting into an ordered_json searches all its keys: the vocabulary is filled as the list of pairs that it is.
  auto& pairs = vocab.get_ref<ordered_json::object_t&>();
  for (int id = 0; id < model.GetPieceSize(); ++id)
    static_cast<std::vector<ordered_json::object_t::value_type>&>(pairs).emplace_back(model.IdToPiece(id), id);
  for (const piece_merge& m : merges_of(model))
    merges.push_back(fmt::format("{} {}", model.IdToPiece(m.left), model.IdToPiece(m.right)));
  return {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", model.IdToPiece(model.unk_id())},
          {"continuing_subword_prefix", nullptr},
          {"end_of_word_suffix", nullptr},
          {"fuse_unk", true},
          {"byte_fallback", s.byte_fallback},
          {"ignore_merges", false},
          {"vocab", std::move(vocab)},
          {"merges", std::move(merges)}};
}

ordered_json replace(const char* what, const char* by) {
  return {{"type", "Replace"}, {"pattern", {{"String", what}}}, {"content", by}};
}

ordered_json normalizer_of(const model_settings& s) {
  ordered_json steps = ordered_json::array();
  if (s.prefix) steps.push_back({{"type", "Prepend"}, {"prepend", blank_sign}});
  steps.push_back(replace(" ", blank_sign));
  return {{"type", "Sequence"}, {"normalizers", std::move(steps)}};
}

ordered_json decoder_of(const model_settings& s) {
  ordered_json steps = ordered_json::array({replace(blank_sign, " ")});
  for (const char* const step : {"ByteFallback", "Fuse"}) steps.push_back({{"type", step}});
  if (s.prefix) steps.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  return {{"type", "Sequence"}, {"decoders", std::move(steps)}};
}

ordered_json added_of(const processor& model) {
  ordered_json added = ordered_json::array();
  for (int id = 0; id < model.GetPieceSize(); ++id)
    if (model.IsControl(id))
      added.push_back({{"id", id},
                       {"content", model.IdToPiece(id)},
                       {"single_word", false},
                       {"lstrip", false},
                       {"rstrip", false},
                       {"normalized", false},
                       {"special", true}});
  return added;
}

}  // namespace

std::optional<std::string> sentencepiece_json(const std::filesystem::path& file) {
  tokenizer_source source;
  const std::string bytes = source.bytes(file);
  processor model;
  if (!model.LoadFromSerializedProto(bytes).ok()) refuse(file, "is not a model of SentencePiece");
  const model_settings s = settings_of(wire_message{bytes});
  if (!s.exact) return std::nullopt;
  const ordered_json content{{"version", "1.0"},
                     {"truncation", nullptr},
                     {"padding", nullptr},
                     {"added_tokens", added_of(model)},
                     {"normalizer", normalizer_of(s)},
                     {"pre_tokenizer", nullptr},
                     {"post_processor", nullptr},
                     {"decoder", decoder_of(s)},
                     {"model", model_of(model, s)}};
  return json_text(content, 1) + "\n";
}

}  // namespace hydra
