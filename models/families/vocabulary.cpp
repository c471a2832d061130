#include "models/families/vocabulary.hpp"

#include "models/layers/checks.hpp"
#include "runtime/base/fault.hpp"

#include <fmt/format.h>

namespace hydra {

tensor_spec causal_samples_of(std::string_view who, const data_source& data) {
  const tensor_spec input = data.sample_input();
  const bool packed = input.shape.size() == 2 && input.shape[0] == 2;
  require_input(fmt::format("{} on {}: a sample", who, data.describe()), input, element::i64, packed ? 2 : 1);
  return input;
}

void require_ids(std::string_view who, std::int64_t vocabulary, std::int64_t ids, const data_source& data) {
  if (vocabulary < ids)
    throw fault_error{
        fault_code::bad_input,
        fmt::format("{}: vocabulary is {}; {} has token ids up to {}: its tokenizer has tokens that the model has no rows "
                    "for. A checkpoint gets one for each token that is named, chain = {{ from = \"...\", tokens = "
                    "[\"...\"] }}; an adapter that was trained without them goes on with the tokenizer of its "
                    "base, which the data name: tokenizer = {{ file = \"BASE\" }}",
                    who, vocabulary, data.describe(), ids - 1)};
}

std::int64_t vocabulary_for(std::string_view who, std::int64_t chosen, const data_source& data) {
  if (chosen == 0) return data.classes();
  require_ids(who, chosen, data.classes(), data);
  return chosen;
}

}  // namespace hydra
