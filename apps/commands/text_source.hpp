#pragma once
// What `hydra generate` uses: a model with its weights, its tokenizer, and the tokens that end a text.

#include "models/chain.hpp"
#include "models/data/chat_template.hpp"
#include "models/tokenizers/tokenizer.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace hydra::apps {

struct text_source {
  std::shared_ptr<const chain> model;
  std::int64_t context = 0;                  ///< tokens of its longest text
  std::shared_ptr<const tokenizer> words{};  ///< null: texts are token ids
  special_tokens special{};                  ///< of `words`; `before` as the model has learnt it
  std::set<std::int64_t> ends{};             ///< tokens that end a text, or an answer
  /// How conversations are written, by `words`: null if that is not known.
  std::shared_ptr<const chat_template> chat{};
  std::vector<std::string> notes{};  ///< on settings of generation that are not used
};

struct text_source_options {
  std::string source;  ///< folder of a checkpoint as Hugging Face has it, of an adapter, or of a run
  std::optional<std::string> model{};      ///< of the run; not needed if it has one
  std::optional<std::string> tokenizer{};  ///< file or folder; else the checkpoint's, or that of the run's data
  std::vector<std::string> bases{};        ///< folders of what models of the run, or the adapter, began from
  bool best = false;                       ///< the checkpoint of the best evaluation instead of the newest
  bool chats = false;                      ///< the checkpoint's chat template is wanted
  std::set<std::string> said{};            ///< keys of generation_config.json that options decide
};

/// Throws fault_error{bad_input}: a source that is none of them, an adapter whose base is not there, a model that
/// cannot generate text, options for another kind of source.
text_source open_text_source(const text_source_options& options);

}  // namespace hydra::apps
