#include "models/data/open_windows.hpp"

#include "models/data/masked_windows.hpp"
#include "models/data/token_windows.hpp"

#include <utility>

namespace hydra {

std::shared_ptr<const data_source> open_windows(token_parts parts, const tokenizer* by, const mask_options& masking,
                                                const sample_request& wants) {
  if (wants.form == sample_form::causal)
    return std::make_shared<token_windows>(token_windows_options{.name = std::move(parts.name),
                                                                 .train = std::move(parts.train),
                                                                 .validation = std::move(parts.validation),
                                                                 .vocabulary = parts.vocabulary,
                                                                 .context = wants.context});
  const encoder_marks marks = encoder_marks_of(*by, true, parts.name);
  return std::make_shared<masked_windows>(masked_windows_options{.name = std::move(parts.name),
                                                                 .train = std::move(parts.train),
                                                                 .validation = std::move(parts.validation),
                                                                 .vocabulary = parts.vocabulary,
                                                                 .context = wants.context,
                                                                 .marks = marks,
                                                                 .masking = masking});
}

}  // namespace hydra
