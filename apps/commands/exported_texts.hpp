#pragma once
// What an export says about texts: the tokenizer, how conversations are written, which tokens end a text.

#include "models/chain.hpp"
#include "models/data/data_catalog.hpp"
#include "models/families/catalog.hpp"
#include "models/tokenizers/tokenizer.hpp"
#include "runtime/base/fwd.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hydra::apps {

class exported_texts {
 public:
  exported_texts(const data_description& data, const chain_description& trained) : data_(data), trained_(trained) {}

  /// Adds the tokenizer's files (copy_tokenizer_files), what transformers needs beside them if there are no settings,
  /// and chat_template.jinja: that of data of conversations, else that beside the tokenizer. Prints a note if
  /// transformers may read the tokenizer otherwise. Throws what copy_tokenizer_files and open_tokenizer throw.
  void write_tokenizer(durable_folder& into);

  /// Adds generation_config.json: that of the adapter or the checkpoint which the model started from
  /// (generation_folder), with other "eos_token_id" where the model ends texts by other tokens, or none were named.
  /// Call it after write_tokenizer. Returns these tokens; nothing: they are those of that file. Prints a note if it
  /// leaves out tokens that the model has no rows for.
  std::optional<std::vector<std::int64_t>> write_ends(durable_folder& into, const chain& model) const;

  /// The same for a whole model. Returns the chain to export, whose config.json names other tokens, too.
  chain write_settings(durable_folder& into, chain model) const;

 private:
  void write_template(durable_folder& into, const std::map<std::string, std::filesystem::path>& copied) const;
  std::vector<std::int64_t> ends(const std::vector<std::int64_t>& stored) const;

  const data_description& data_;
  const chain_description& trained_;
  std::shared_ptr<const tokenizer> words_{};  ///< null: there is none
};

}  // namespace hydra::apps
