#include "models/families/vocabulary.hpp"

#include "models/families/sample_kind.hpp"
#include "models/layers/checks.hpp"
#include "models/weights/listed_names.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

namespace hydra {

namespace {

/// " (\"<image>\")"; empty if it is not known.
std::string token_in_brackets(const data_source& data, std::int64_t id) {
  const std::string text = data.token_text(id);
  return text.empty() ? text : fmt::format(" (\"{}\")", shown(text));
}

}  // namespace

tensor_spec causal_samples_of(std::string_view who, const data_source& data) {
  const tensor_spec input = data.sample_input();
  const bool packed = input.shape.size() == 2 && input.shape[0] == 2;
  require_kind(who, data, sample_kind::texts);
  require_input(fmt::format("{} on {}: a sample", who, data.describe()), input, element::i64, packed ? 2 : 1);
  return input;
}

void require_ids(std::string_view who, std::int64_t vocabulary, std::int64_t ids, const data_source& data) {
  if (vocabulary < ids)
    refuse(fmt::format(
        "{}: vocabulary is {}; {} has token ids up to {}{}: its tokenizer has tokens that the model has no rows for. A "
        "checkpoint gets one for each token that is named, chain = {{ from = \"...\", tokens = [\"...\"] }}, which has "
        "to name those of its own tokenizer, too; an adapter that was trained without them goes on with the tokenizer "
        "of its base, which the data name: tokenizer = {{ file = \"BASE\" }}",
        who, vocabulary, data.describe(), ids - 1, token_in_brackets(data, ids - 1)));
}

std::int64_t vocabulary_for(std::string_view who, std::int64_t chosen, const data_source& data) {
  if (chosen == 0) return data.classes();
  if (chosen < data.classes()) require_ids(who, chosen, data.observed_vocabulary(), data);
  return chosen;
}

void note_tokens_beyond(chain& model, std::int64_t vocabulary, const data_source& data) {
  std::vector<std::string> tokens;
  for (std::int64_t id = vocabulary; id < data.classes(); ++id)
    if (std::string text = data.token_text(id); !text.empty()) tokens.push_back(std::move(text));
  if (!tokens.empty())
    model.note(fmt::format("{}: its tokenizer has tokens beyond the vocabulary of {}, which the texts do not have: {}",
                           data.describe(), vocabulary, listed_names(tokens)));
}

}  // namespace hydra
