#include "models/families/hub_folder.hpp"

#include "models/exported/exported_chain.hpp"
#include "models/families/config_keys.hpp"
#include "models/families/exported_folder.hpp"
#include "models/families/phi3/phi3_config.hpp"
#include "models/weights/generation_config.hpp"
#include "models/weights/hub_weights.hpp"
#include "models/weights/listed_names.hpp"
#include "models/weights/quantised_weights.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/path_kind.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

namespace hydra {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* architectures_key = "architectures";
constexpr const char* type_key = "model_type";
constexpr const char* vocabulary_key = "vocab_size";
constexpr const char* padding_key = "pad_token_id";
constexpr const char* deviation_key = "initializer_range";

std::vector<std::string> known_names() {
  std::vector<std::string> names;
  std::ranges::transform(architectures(), std::back_inserter(names), &architecture::name);
  return names;
}

std::string name_in(const model_config& config) {
  const auto list = config.content().find(architectures_key);
  if (list == config.content().end() || !list->is_array() || list->size() != 1 || !list->front().is_string())
    config.refuse(architectures_key,
                  "is not a list of one name, which says what the weights are, such as [\"GPT2LMHeadModel\"]");
  return list->front().get<std::string>();
}

const architecture& architecture_of(const model_config& config) {
  const std::string name = name_in(config);
  const auto& all = architectures();
  const auto found = std::ranges::find(all, name, &architecture::name);
  if (found != all.end()) return *found;
  if (config.has("text_config"))
    config.refuse(architectures_key, fmt::format("\"{}\" also reads what is not text; Hydra trains its language model "
                                                 "if that is saved alone first, as docs/checkpoints.md says",
                                                 shown(name)));
  // A program has written the name: one that is near is another architecture, as Mixtral and Mistral are.
  config.refuse(architectures_key, fmt::format("\"{}\" is not an architecture that Hydra reads (known: {})",
                                               shown(name), fmt::join(known_names(), ", ")));
}

/// An export's config.json needs a type: transformers' AutoModel goes by it.
model_config with_type(const model_config& config, const architecture& kind) {
  json keys = config.content();
  if (!config.has(type_key)) keys[type_key] = kind.type;
  return {config.file(), std::move(keys)};
}

/// Models with equal tensors may compute different things: Mistral has a window, Llama none.
void require_type(const model_config& config, const architecture& kind) {
  if (const std::string type = config.text(type_key, ""); type != kind.type)
    config.refuse(type_key,
                  fmt::format("\"{}\" is the model that transformers makes of this folder, but \"architectures\" names "
                              "{}, whose type is \"{}\": correct the one that is wrong",
                              shown(type), kind.name, kind.type));
}

/// Each layer has its own tensors. A file from an unknown source must not create a chain of arbitrary length.
void require_stored(const model_config& config, const char* layers_key, std::int64_t layers, std::size_t tensors) {
  if (layers <= static_cast<std::int64_t>(tensors)) return;
  config.refuse(layers_key, fmt::format("{} layers, but the folder has {} tensors", layers, tensors));
}

void require_layers(const model_config& config, std::size_t tensors) {
  for (const char* const layers : {"n_layer", "num_hidden_layers"})
    if (config.has(layers)) require_stored(config, layers, config.integer(layers), tensors);
  if (!config.has("depths")) return;
  for (const std::int64_t layers : config.integers("depths")) require_stored(config, "depths", layers, tensors);
}

/// What is sometimes taken for the folder of a model.
void require_config(const fs::path& folder) {
  if (fs::exists(folder / "config.json")) return;
  if (fs::exists(folder / "adapter_config.json"))
    refuse(folder, fmt::format("is the folder of an adapter: write chain = {{ from = \"FOLDER OF ITS BASE\" }} and "
                               "adapter = {{ from = \"{}\" }}",
                               folder.string()));
  if (fs::exists(folder / "snapshots"))
    refuse(folder, "is a folder of Hugging Face's cache: the checkpoints are the folders in its folder snapshots");
}

/// Settings and vocabularies that are read, are another form of what is read, have a note of their own, or no effect.
bool is_known(const std::string& name) {
  static const std::set<std::string_view> all{
      "adapter_config.json", "added_tokens.json", "config.json", "generation_config.json", "preprocessor_config.json",
      "processor_config.json", "sentencepiece.bpe.model", "special_tokens_map.json", "spiece.model", "tokenizer.json",
      "tokenizer.model", "tokenizer_config.json", "unigram.json", "vocab.json",
      // of ModelScope, of the program that has trained it, and of weights in other formats
      "configuration.json", "params.json", "trainer_state.json"};
  return all.contains(name) || name.starts_with("generation_config_for_") || name.ends_with("_results.json") ||
         name.ends_with(".index.json");
}

/// Such as tekken.json, or the modules.json of what is computed behind the model. Other files are texts, pictures,
/// programs, data, and weights in other formats.
std::vector<std::string> other_settings(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::directory_entry& e : fs::directory_iterator{folder, ignored}) {
    const fs::path name = e.path().filename(), kind = name.extension();
    if ((kind == ".json" || kind == ".model") && !is_known(name.string())) names.push_back(name.string());
    if (name == "additional_chat_templates" && e.is_directory(ignored)) names.push_back(name.string());
  }
  std::ranges::sort(names);
  return names;
}

/// Of a copy in another type or of an earlier save: model.fp16.safetensors, model-00001-of-00001.safetensors.
std::vector<std::string> other_weights_than(const hub_tensors& read) {
  std::set<std::string> files;
  for (const auto& [name, t] : read.all()) files.insert(t.file.filename().string());
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::directory_entry& e : fs::directory_iterator{read.folder(), ignored}) {
    const std::string name = e.path().filename().string();
    if (name.starts_with("model") && name.ends_with(".safetensors") && !files.contains(name))
      names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

void note_other_weights(const hub_tensors& read, std::vector<std::string>& notes) {
  const fs::path whole = read.folder() / "model.safetensors", index = read.folder() / "model.safetensors.index.json";
  const bool is_whole = fs::exists(whole);
  if (is_whole && fs::exists(index))
    return notes.push_back(fmt::format("{}: the parts that it names are not read, because model.safetensors is there",
                                       index.string()));
  if (const std::vector<std::string> names = other_weights_than(read); !names.empty())
    notes.push_back(fmt::format("{}: {} the weights that are read, not {}", (is_whole ? whole : index).string(),
                                is_whole ? "has" : "names", listed_names(names)));
}

/// Files of which others, or an earlier save, expect that they are read.
std::vector<std::string> unread_files(const hub_tensors& read) {
  std::vector<std::string> notes;
  note_other_weights(read, notes);
  const fs::path folder = read.folder(), adapter = folder / "adapter_config.json";
  if (fs::exists(adapter))
    notes.push_back(fmt::format("{}: the adapter is not used; adapter = {{ from = \"{}\" }} continues it",
                                adapter.string(), folder.string()));
  if (const std::vector<std::string> names = other_settings(folder); !names.empty())
    notes.push_back(fmt::format("{}: Hydra does not read {}", folder.string(), listed_names(names)));
  return notes;
}

/// transformers warns of longer texts, or cuts them off there; without a limit of its own it writes 1e30.
void note_longest_text(const fs::path& folder, std::int64_t context, std::vector<std::string>& notes) {
  const fs::path file = folder / "tokenizer_config.json";
  if (context == 0 || kind_of(file) != fs::file_type::regular) return;
  const json longest = model_config::read(file).content().value("model_max_length", json{});
  if (longest.is_number() && longest.get<double>() < static_cast<double>(context))
    notes.push_back(fmt::format("{}: model_max_length = {} is not used: the context is {} tokens; a workload with "
                                "context = {} beside \"from\" makes it as short",
                                file.string(), shown_json(longest), context, shown_json(longest)));
}

/// What of the folder is read in a way of its own, and what is not read.
std::vector<std::string> notes_on(const model_config& config, const hub_tensors& tensors) {
  std::vector<std::string> notes;
  if (std::string note = four_bit_note(tensors); !note.empty()) {
    notes.push_back(std::move(note));
    config.ignore({"quantization_config"});  // the tensors say it
  }
  std::ranges::move(unread_keys(config), std::back_inserter(notes));
  std::ranges::move(unread_files(tensors), std::back_inserter(notes));
  return notes;
}

/// Tokens of the checkpoint, if there may be rows for new ones; else 0.
std::int64_t stored_tokens_of(const model_config& config, const from_options& options) {
  if (options.tokens.empty() && options.rows == 0) return 0;
  if (std::ranges::find(options.tokens, "") != options.tokens.end())
    refuse("\"tokens\" has an empty one: leave that out");
  if (!config.has(vocabulary_key))
    config.refuse(vocabulary_key, "is missing: this model has no vocabulary to which \"tokens\" could be added");
  return config.integer(vocabulary_key);
}

/// A checkpoint, and how its chain is described.
struct checkpoint_reader {
  model_config config;
  from_options options;
  chain_description (*read)(const model_config& config, const from_options& options);
  std::shared_ptr<const hub_tensors> tensors;
  std::int64_t stored_tokens = 0;

  std::shared_ptr<const hub_weights> weights_of(const chain& model) const {
    return std::make_shared<hub_weights>(tensors, model, options.head.empty() ? hub_head::stored : hub_head::fresh,
                                         stored_tokens);
  }

  static std::int64_t ids_of(const data_source& data) {
    return data.vocabulary() > 0 ? data.vocabulary() : data.classes();
  }

  /// Those that are asked for, and those for the token ids of the data, but no more new ones than tokens are named: of
  /// a tokenizer with others, that of another model perhaps, the chain is refused.
  std::int64_t rows_for(const data_source& data) const {
    const std::set<std::string> named(options.tokens.begin(), options.tokens.end());
    return std::max(options.rows, std::clamp(ids_of(data), stored_tokens, stored_tokens + std::ssize(named)));
  }

  /// Padding is not a new token: that which is counted from the end of the vocabulary stays the token that it was, and
  /// a vocabulary without the usual padding still has none.
  void keep_padding(json& keys) const {
    const auto padding = keys.find(padding_key);
    if (padding != keys.end() && padding->is_number_integer() && *padding < 0)
      *padding = padding->get<std::int64_t>() + stored_tokens;
    if (padding == keys.end() && read == phi3_from_config && stored_tokens <= phi3_padding) keys[padding_key] = nullptr;
  }

  /// config.json's keys, with a vocabulary for new tokens if there may be any.
  json keys_for(const data_source& data) const {
    json keys = config.content();
    if (stored_tokens == 0) return keys;
    keys[vocabulary_key] = rows_for(data);
    keep_padding(keys);
    return keys;
  }

  chain grown(const data_source& data) const { return read({config.file(), keys_for(data)}, options).build(data); }

  /// As transformers reads a file with a head beside an embedding of other values, whatever config.json says.
  chain untied(const data_source& data, const std::string& why) const try {
    json changed = keys_for(data);
    changed["tie_word_embeddings"] = false;
    chain result = read(model_config{config.file(), std::move(changed)}, options).build(data);
    return result.note(why + ": both are trained, and an export says that they are not tied");
  } catch (const fault_error& e) {
    throw fault_error{e.what_happened().code, fmt::format("{}: {}", why, e.what_happened().text)};
  }

  /// Many checkpoints have more rows than their tokenizer has tokens, so that devices compute faster.
  void note_kept_rows(chain& model, const data_source& data) const {
    if (!options.tokens.empty() && ids_of(data) <= stored_tokens)
      model.note(
          fmt::format("{}: no rows are added for \"tokens\": there are {} for the {} token ids of the data, and a new "
                      "token begins with what its row has",
                      config.file(), stored_tokens, ids_of(data)));
  }

  /// transformers begins a new head with config.json's deviation.
  void note_new_values(chain& model, const hub_weights& weights) const {
    constexpr double usual = 0.02;
    const double deviation = all_stored(model, weights) ? usual : config.real(deviation_key, usual);
    if (deviation != usual)
      model.note(fmt::format("{}: {} = {} is not used: the new head begins with {}", config.file(), deviation_key,
                             deviation, usual));
  }

  static bool all_stored(const chain& model, const hub_weights& weights) {
    for (const parameter_spec& p : model.parameters())
      if (p.tied_to.empty() && weights.origin(p.name).empty()) return false;
    return true;
  }

  chain begun(chain model, const data_source& data) const {
    auto weights = weights_of(model);
    if (!weights->matched().untied.empty()) {
      model = untied(data, fmt::format("{}: config.json ties tensors that have different values, {}",
                                       tensors->folder().string(), listed_names(weights->matched().untied)));
      weights = weights_of(model);
    }
    if (const auto& unused = weights->matched().unused; !unused.empty())
      model.note(fmt::format("{}: not used, because the model has no such head or a new one: {}",
                             tensors->folder().string(), listed_names(unused)));
    note_new_values(model, *weights);
    note_kept_rows(model, data);
    return model.begin_with(weights);
  }
};

}  // namespace

std::string weights_identity(const fs::path& folder) {
  return is_exported(folder) ? weights_identity(exported_model{folder}) : hub_tensors{folder}.identity();
}

chain_description describe_from(const fs::path& folder, const from_options& options) {
  if (kind_of(folder) != fs::file_type::directory)
    refuse(
        fmt::format("{} is not a folder; the folder of a checkpoint is needed, with config.json and model.safetensors",
                    folder.string()));
  if (is_exported(folder)) return describe_exported(folder, options);
  require_config(folder);
  const auto stored = model_config::read(folder / "config.json");
  const architecture& kind = architecture_of(stored);
  const model_config config = with_type(stored, kind);
  config.require("pruned_heads", json::object());
  require_type(config, kind);
  chain_description description = kind.read(config, options);
  const auto tensors = std::make_shared<const hub_tensors>(folder);
  refuse_quantised_weights(config, *tensors);
  require_layers(config, tensors->all().size());
  std::vector<std::string> notes = notes_on(config, *tensors);
  note_longest_text(folder, description.context, notes);
  if (auto note = note_on_ends(folder)) notes.push_back(*std::move(note));
  description.checkpoint = folder;
  description.tokens = options.tokens;
  const checkpoint_reader reader{config, options, kind.read, tensors, stored_tokens_of(config, options)};
  description.build = [build = std::move(description.build), notes = std::move(notes),
                       reader](const data_source& data) {
    chain made = reader.begun(reader.stored_tokens > 0 ? reader.grown(data) : build(data), data);
    for (const std::string& n : notes) made.note(n);
    return made;
  };
  return description;
}

}  // namespace hydra
