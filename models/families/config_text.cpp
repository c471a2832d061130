#include "models/families/config_text.hpp"

#include "runtime/base/json_text.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

namespace hydra {

using nlohmann::json;

std::string config_text(const json& config) { return json_text(config, 2) + "\n"; }

void erase_stale(json& config) {
  for (const char* key : {"_name_or_path", "auto_map", "quantization_config", "torch_dtype", "transformers_version"})
    config.erase(key);
}

json published(const model_config& config, const char* architecture, std::initializer_list<const char*> dropout) {
  json result = config.content();
  erase_stale(result);
  result["architectures"] = {architecture};
  result["dtype"] = "float32";
  for (const char* const key : dropout)
    if (config.has(key)) result[key] = 0.0;
  return result;
}

chain_description publishing(chain_description description, json config) {
  description.build = [build = std::move(description.build), text = config_text(config)](const data_source& data) {
    chain result = build(data);
    hub_form form = result.hub();
    form.config = text;
    return result.publish_as(std::move(form));
  };
  return description;
}

void require_own_head(const model_config& config, const from_options& options) {
  if (!options.head.empty())
    config.refuse("architectures",
                  fmt::format("a language model has one head; leave out head = \"{}\"", shown(options.head)));
}

void require_no_dropout(const model_config& config, const from_options& options,
                        std::initializer_list<const char*> keys) {
  if (options.dropout > 0)
    config.refuse("model_type", "models of this kind have no dropout in Hydra; leave dropout out");
  for (const char* const key : keys)
    if (const double share = config.real(key, 0); share != 0 && options.dropout < 0)
      config.refuse(key, fmt::format("{}, but models of this kind have no dropout in Hydra; set dropout = 0 to train "
                                     "without it",
                                     share));
}

std::int64_t context_from(const model_config& config, const from_options& options, const char* key, std::int64_t most) {
  if (options.context > most)
    config.refuse(key, fmt::format("{}; samples of {} tokens do not fit", most, options.context));
  return options.context > 0 ? options.context : most;
}

std::int64_t padding_from(const model_config& config, std::int64_t usual) {
  constexpr const char* key = "pad_token_id";
  const std::int64_t vocabulary = config.integer("vocab_size");
  if (!config.content().contains(key)) return usual < vocabulary ? usual : -1;
  if (!config.has(key)) return -1;
  const std::int64_t id = config.integer(key);
  if (id >= vocabulary || id < -vocabulary)
    config.refuse(key, fmt::format("{} is not in the vocabulary of {} tokens", id, vocabulary));
  return id < 0 ? vocabulary + id : id;  // nn.Embedding counts from the end
}

json token_or_null(std::int64_t id) { return id < 0 ? json{} : json(id); }

}  // namespace hydra
