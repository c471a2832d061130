#pragma once
// What a person means who writes a word of another training program.

#include "apps/workload/other_words.hpp"

#include <string>
#include <string_view>

namespace hydra::apps {

/// Whatever its case and its dashes are: "--Batch-Size" is batch_size. Null if the word is not known.
const other_word* find_other_word(std::string_view written);

/// Of one of Hydra's keys ("data.mine.kind"). Without what precedes a dot: "torch.bfloat16" is bfloat16; of
/// a number behind a colon n: "cuda:1" is cuda:n.
const other_value* find_other_value(std::string_view key, std::string_view written);

/// `here it is model.optimizer.clip_norm: off unless given`, or what to do instead.
std::string describe(const other_word& word);
std::string describe(const other_value& value);

}  // namespace hydra::apps
