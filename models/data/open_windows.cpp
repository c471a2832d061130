#include "models/data/open_windows.hpp"

#include "models/data/masked_windows.hpp"
#include "models/data/token_windows.hpp"

#include <fmt/format.h>

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

}  // namespace

std::shared_ptr<const data_source> open_windows(token_parts parts, const tokenizer* by, const mask_options& masking,
                                                const sample_request& wants) {
  std::string fingerprint = fingerprint_of(parts, by, masking, wants);
  if (wants.form == sample_form::causal)
    return std::make_shared<token_windows>(token_windows_options{.name = std::move(parts.name),
                                                                 .train = std::move(parts.train),
                                                                 .validation = std::move(parts.validation),
                                                                 .vocabulary = parts.vocabulary,
                                                                 .context = wants.context,
                                                                 .fingerprint = std::move(fingerprint)});
  const encoder_marks marks = encoder_marks_of(*by, true, parts.name);
  return std::make_shared<masked_windows>(masked_windows_options{.name = std::move(parts.name),
                                                                 .train = std::move(parts.train),
                                                                 .validation = std::move(parts.validation),
                                                                 .vocabulary = parts.vocabulary,
                                                                 .context = wants.context,
                                                                 .marks = marks,
                                                                 .masking = masking,
                                                                 .fingerprint = std::move(fingerprint)});
}

}  // namespace hydra
