#pragma once
// hydra tokenize --template, --kind, --prompt and --answer: conversations, and prompts with answers, as tokens.

#include "models/data/chat_template.hpp"
#include "models/data/record_shapes.hpp"
#include "models/tokenizers/tokenizer.hpp"

#include <filesystem>
#include <memory>

namespace hydra::apps {

/// Prints {"ids": [...], "loss": [...]} for each conversation of a JSON Lines file, or with `json` false how many
/// conversations and tokens there are; "loss" has 1 for a token that is a target of training by default. Throws
/// fault_error{bad_input} with file and line as opening the data does.
void print_chat_ids(std::shared_ptr<const tokenizer> by, const std::filesystem::path& file,
                    const template_choice& format, bool json);

/// The same for records of a prompt and an answer.
void print_answer_ids(std::shared_ptr<const tokenizer> by, const std::filesystem::path& file, const record_shape& shape,
                      bool json);

}  // namespace hydra::apps
