#pragma once
// Chain descriptions that were read from a config.json: what the architectures of language models share.

#include "models/families/architecture.hpp"
#include "models/families/catalog.hpp"
#include "models/weights/model_config.hpp"

#include <nlohmann/json_fwd.hpp>

namespace hydra {

/// config.json's text as transformers writes it: keys in order, two spaces of indent, a newline at the end.
std::string config_text(const nlohmann::json& config);

/// The config that was read, changed to `architecture` and fp32, as Hydra exports it.
nlohmann::json published(const model_config& config, const char* architecture);

/// The description whose chains are exported with `config` instead of their family's own.
chain_description publishing(chain_description description, nlohmann::json config);

/// Throws fault_error{bad_input} if the user requests another head than the architecture's only one.
void require_own_head(const model_config& config, const from_options& options);

/// Tokens per sample: what the user requested, else `most`, the value of `key`. Throws fault_error{bad_input} if the
/// request is larger.
std::int64_t context_from(const model_config& config, const from_options& options, const char* key, std::int64_t most);

}  // namespace hydra
