#pragma once
// Chain descriptions that were read from a config.json: what the architectures of language models share.

#include "models/families/architecture.hpp"
#include "models/families/catalog.hpp"
#include "models/weights/model_config.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <initializer_list>

namespace hydra {

/// config.json's text as transformers writes it: keys in order, two spaces of indent, a newline at the end.
std::string config_text(const nlohmann::json& config);

/// Removes what does not hold of an export: where the checkpoint came from, what wrote it, the type of its numbers and
/// how they were quantised, the file with its own code.
void erase_stale(nlohmann::json& config);

/// The config that was read, changed to `architecture` and fp32, as Hydra exports it. `dropout`: keys of dropout that
/// the model was trained without.
nlohmann::json published(const model_config& config, const char* architecture,
                         std::initializer_list<const char*> dropout = {});

/// The description whose chains are exported with `config` instead of their family's own.
chain_description publishing(chain_description description, nlohmann::json config);

/// Throws fault_error{bad_input} if the user requests another head than the architecture's only one.
void require_own_head(const model_config& config, const from_options& options);

/// Throws fault_error{bad_input} with the key if the user requests dropout, or if config.json has some at one of `keys`
/// and the user does not say dropout = 0: for architectures that have none in Hydra.
void require_no_dropout(const model_config& config, const from_options& options,
                        std::initializer_list<const char*> keys);

/// Tokens per sample: what the user requested, else `most`, the value of `key`. Throws fault_error{bad_input} if the
/// request is larger.
std::int64_t context_from(const model_config& config, const from_options& options, const char* key, std::int64_t most);

/// The token of pad_token_id, whose vector an embedding of transformers does not train (padding_idx); negative: none.
/// `usual`: the architecture's where the key is missing. Throws fault_error{bad_input} for one outside of the
/// vocabulary.
std::int64_t padding_from(const model_config& config, std::int64_t usual);

/// null for a negative one.
nlohmann::json token_or_null(std::int64_t id);

}  // namespace hydra
