#include "models/tokenizers/file_openers.hpp"

#include "models/tokenizers/added_reader.hpp"
#include "models/tokenizers/file_tokenizer.hpp"
#include "models/tokenizers/settings_notes.hpp"
#include "models/tokenizers/special_names.hpp"
#include "models/tokenizers/tokenizer_class.hpp"
#include "models/tokenizers/tokenizer_source.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>
#include <sentencepiece_processor.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

namespace hydra {

namespace {

namespace fs = std::filesystem;
namespace sp = sentencepiece;

void require_ok(const sp::util::Status& status, const std::string& file) {
  if (!status.ok()) refuse(fmt::format("{}: SentencePiece: {}", file, status.error_message()));
}

class sentencepiece_tokenizer final : public file_tokenizer {
 public:
  sentencepiece_tokenizer(tokenizer_parts parts, std::unique_ptr<const sp::SentencePieceProcessor> model)
      : file_tokenizer{std::move(parts)}, model_{std::move(model)} {}

 private:
  class call;
  std::unique_ptr<piece_encoder> begin(std::size_t bytes, made_texts& made,
                                       std::vector<std::uint32_t>& ids) const override;
  std::string decode_known(std::span<const std::uint32_t> ids) const override;
  bool model_joins_lines() const override { return true; }  // a piece starts with a blank of its own

  std::unique_ptr<const sp::SentencePieceProcessor> model_;
};

class sentencepiece_tokenizer::call final : public piece_encoder {
 public:
  call(const sentencepiece_tokenizer& t, std::vector<std::uint32_t>& ids) : tokenizer_{t}, ids_{ids} {}

  void encode(std::string_view piece) override {
    const std::string& file = tokenizer_.parts().file;
    if (piece.size() > std::numeric_limits<int>::max())
      refuse(fmt::format("{}: SentencePiece takes texts of less than 2 GiB, this has {} bytes", file, piece.size()));
    std::vector<int> found;
    require_ok(tokenizer_.model_->Encode(piece, &found), file);
    ids_.insert(ids_.end(), found.begin(), found.end());
  }

 private:
  const sentencepiece_tokenizer& tokenizer_;
  std::vector<std::uint32_t>& ids_;
};

std::unique_ptr<sentencepiece_tokenizer::piece_encoder> sentencepiece_tokenizer::begin(
    std::size_t, made_texts&, std::vector<std::uint32_t>& ids) const {
  return std::make_unique<call>(*this, ids);
}

std::string sentencepiece_tokenizer::decode_known(std::span<const std::uint32_t> ids) const {
  std::string text;
  std::vector<int> run;
  const auto end_run = [&] {
    std::string part;
    require_ok(model_->Decode(run, &part), parts().file);
    text += part;
    run.clear();
  };
  for (const std::uint32_t id : ids) {
    if (!is_added(id)) {
      if (token_of(id)) run.push_back(static_cast<int>(id));
      continue;
    }
    end_run();
    text += *token_of(id);
  }
  end_run();
  return text;
}

token_table tokens_of(const sp::SentencePieceProcessor& model, const std::string& file) {
  token_table tokens;
  for (int id = 0; id < model.GetPieceSize(); ++id)
    if (const auto complaint = tokens.add(model.IdToPiece(id), static_cast<std::uint64_t>(id)))
      refuse_file(file, fmt::format("piece {}", id), *complaint);
  return tokens;
}

/// Control symbols are special tokens: the library neither finds them in a text nor writes them, transformers does
/// both.
void recognise_control(const sp::SentencePieceProcessor& model, tokenizer_parts& parts) {
  for (int id = 0; id < model.GetPieceSize(); ++id) {
    const auto added = static_cast<std::uint32_t>(id);
    if (model.IsControl(id) && std::ranges::count(parts.added, added, &added_token::id) == 0)
      parts.added.push_back({.content = model.IdToPiece(id), .id = added, .special = true});
  }
}

/// The files next to the model.
void read_companions(tokenizer_source& source, const fs::path& folder, tokenizer_parts& parts) {
  const tokenizer_settings settings = read_settings(source, folder);
  add_beside(settings, new_ids::as_written, parts);
  parts.special = find_special(settings, [&](std::string_view name) { return find_token(parts, name); });
  add_named_frame(settings, parts.special);
  std::ranges::move(class_notes_on_pieces(settings, parts.file), std::back_inserter(parts.notes));
  add_notes(settings, parts.notes);
}

}  // namespace

std::shared_ptr<const tokenizer> open_sentencepiece(const fs::path& file) {
  tokenizer_source source;
  auto model = std::make_unique<sp::SentencePieceProcessor>();
  if (!model->LoadFromSerializedProto(source.bytes(file)).ok()) refuse(file, "is not a model of SentencePiece");
  tokenizer_parts parts{.file = file.string()};
  parts.tokens = tokens_of(*model, file.string());
  read_companions(source, file.parent_path(), parts);
  recognise_control(*model, parts);
  parts.identity = source.identity();
  return std::make_shared<sentencepiece_tokenizer>(std::move(parts), std::move(model));
}

}  // namespace hydra
