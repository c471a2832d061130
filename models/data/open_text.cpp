#include "models/data/openers.hpp"

#include "models/data/choice_notes.hpp"
#include "models/data/encoder_sample.hpp"
#include "models/data/file_looks.hpp"
#include "models/data/open_windows.hpp"
#include "models/data/tokenized_text.hpp"
#include "models/layers/checks.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace hydra {
namespace {

using source = std::shared_ptr<const data_source>;

bool is_given(const tokenizer_choice& choice) { return choice != tokenizer_choice{}; }

void refuse_labelled(const std::string& name, const sample_request& wants) {
  if (wants.form == sample_form::labelled)
    refuse(
        fmt::format("{} has no labels, but the model wants a class for each text; data with labels are of kind "
                    "\"jsonl\" or \"csv\"",
                    name));
}

/// The file is mapped; its bytes are the ids.
token_list tokens_in(const std::filesystem::path& text, const std::shared_ptr<const tokenizer>& by) {
  if (text.empty()) return {};
  return by ? tokens_of(text, by) : token_list::bytes_of(text);
}

std::int64_t vocabulary_of(const token_files& o, const tokenizer* by) {
  if (!by || o.vocabulary != 0) require_positive("tokens: vocabulary", o.vocabulary);
  if (o.vocabulary == 0) return by->vocabulary();
  if (is_given(o.tokenizer) && o.vocabulary < by->vocabulary())
    refuse(
        fmt::format("tokens: vocabulary is {}, but {} has {} tokens", o.vocabulary, by->describe(), by->vocabulary()));
  return o.vocabulary;
}

}  // namespace

source open_text(const text_files& o, const sample_request& wants) {
  std::string name = fmt::format("text {}", o.train.string());
  refuse_labelled(name, wants);
  const bool bytes = !is_given(o.tokenizer) && wants.form == sample_form::causal;
  const auto by = bytes ? nullptr : open_tokenizer(o.tokenizer);
  if (is_given(o.tokenizer)) name += ", " + by->describe();
  if (wants.form == sample_form::masked) encoder_marks_of(*by, true, name);  // before a long text is tokenised
  std::vector<std::string> notes = notes_on_choices(name, o, by.get(), wants);
  std::ranges::copy(notes_on_text(o.train), std::back_inserter(notes));
  return open_windows({std::move(name), tokens_in(o.train, by), tokens_in(o.validation, by),
                       by ? by->vocabulary() : 256, std::move(notes)},
                      by, o.masking, wants);
}

source open_tokens(const token_files& o, const sample_request& wants) {
  const std::string name = fmt::format("tokens {}", o.train.string());
  refuse_labelled(name, wants);
  const bool needed = is_given(o.tokenizer) || wants.form != sample_form::causal;
  const auto by = needed ? open_tokenizer(o.tokenizer) : nullptr;
  const std::int64_t vocabulary = vocabulary_of(o, by.get());
  const auto ids = [&](const std::filesystem::path& file) {
    return file.empty() ? token_list{} : token_list::ids_of(file, vocabulary);
  };
  std::vector<std::string> notes =
      by ? notes_on_choices(name, o, by.get(), wants) : notes_on_validation(name, o.train, o.validation);
  return open_windows({name, ids(o.train), ids(o.validation), vocabulary, std::move(notes)}, by, o.masking, wants);
}

}  // namespace hydra
