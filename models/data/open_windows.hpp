#pragma once
// A long list of tokens -> windows in the requested form.

#include "models/data/data_options.hpp"
#include "models/data/token_list.hpp"
#include "models/data_source.hpp"

#include <memory>
#include <string>
#include <vector>

namespace hydra {

/// Causal or masked windows. `by` provides the special tokens of masked ones, and may be null for causal ones. Throws
/// as token_windows, masked_windows and encoder_marks_of do.
std::shared_ptr<const data_source> open_windows(token_parts parts, const std::shared_ptr<const tokenizer>& by,
                                                const mask_options& masking, const sample_request& wants);

}  // namespace hydra
