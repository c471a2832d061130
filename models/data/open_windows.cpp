#include "models/data/open_windows.hpp"

#include "models/data/masked_windows.hpp"
#include "models/data/token_windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace hydra {

namespace {

/// The digest of the ids covers texts and tokenizer, but not which tokens are special.
std::string fingerprint_of(const token_parts& parts, const tokenizer* by, const mask_options& masking,
                           const sample_request& wants) {
  return fmt::format("tokens {} {}, vocabulary {}, by {}, form {}, context {}, mask {} {}", parts.train.digest(),
                     parts.validation.digest(), parts.vocabulary, by ? by->identity() : "none",
                     static_cast<int>(wants.form), wants.context, masking.share, masking.seed);
}

/// A window begins anywhere in the texts: a token that begins a text does not belong there.
std::vector<std::string> notes_of(const token_parts& parts, const tokenizer* by, const sample_request& wants) {
  std::vector<std::string> notes = parts.notes;
  if (!by) return notes;
  std::ranges::copy(by->notes(), std::back_inserter(notes));
  const std::vector<std::uint32_t> before = by->special().before;
  if (wants.form == sample_form::causal && !before.empty())
    notes.push_back(
        fmt::format("{}: windows of a continuous text do not begin with {}, which the tokenizer puts before a "
                    "text; records of kind = \"jsonl\" do",
                    parts.name, by->decode(before)));
  return notes;
}

}  // namespace

std::shared_ptr<const data_source> open_windows(token_parts parts, const std::shared_ptr<const tokenizer>& by,
                                                const mask_options& masking, const sample_request& wants) {
  std::string fingerprint = fingerprint_of(parts, by.get(), masking, wants);
  parts.notes = notes_of(parts, by.get(), wants);
  if (wants.form == sample_form::causal)
    return std::make_shared<token_windows>(token_windows_options{
        .parts = std::move(parts), .by = by, .context = wants.context, .fingerprint = std::move(fingerprint)});
  const encoder_marks marks = encoder_marks_of(*by, true, parts.name);
  return std::make_shared<masked_windows>(masked_windows_options{.parts = std::move(parts),
                                                                 .context = wants.context,
                                                                 .marks = marks,
                                                                 .masking = masking,
                                                                 .fingerprint = std::move(fingerprint)});
}

}  // namespace hydra
