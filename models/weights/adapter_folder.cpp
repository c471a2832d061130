#include "models/weights/adapter_folder.hpp"

#include "models/untied_head.hpp"
#include "models/vocabulary_rows.hpp"
#include "models/weights/adapter_weights.hpp"
#include "models/weights/model_config.hpp"
#include "models/weights/saved_modules.hpp"
#include "models/weights/stored_values.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/storage/durable_folder.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

namespace hydra {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* config_file = "adapter_config.json";
constexpr const char* base_name_key = "base_model_name_or_path";
constexpr const char* task_key = "task_type";
constexpr const char* ties_key = "ensure_weight_tying";
constexpr const char* base_key =
    "hydra_base";  ///< of the metadata: identity of the weights that the adapter was trained on

/// Some ways to initialise an adapter ("pissa", "olora", ...) change the weights of the base, too.
void require_unchanged_base(const model_config& config) {
  static const std::array<json, 5> plain{true, false, "gaussian", "eva", "orthogonal"};
  if (!config.has("init_lora_weights")) return;
  const json& how = config.content().at("init_lora_weights");
  if (std::ranges::find(plain, how) == plain.end())
    config.refuse("init_lora_weights", fmt::format("{} belongs to a changed base; convert the adapter by peft "
                                                   "(save_pretrained with path_initial_model_for_weight_conversion)",
                                                   shown_json(how)));
}

/// Refuses a key that would change the computation in a way that Hydra does not know.
void require_absent(const model_config& config, const char* key, const json& plain) {
  if (config.has(key) && config.content().at(key) != plain)
    config.refuse(key, fmt::format("{} is not supported; {}", shown_json(config.content().at(key)), merge_by_peft));
}

/// What is not LoRA as Hydra computes it.
void require_plain(const model_config& config) {
  config.require("peft_type", "LORA");
  for (const char* const key : {"use_qalora", "use_bdlora", "lora_bias"}) require_absent(config, key, false);
  for (const char* const key :
       {"layer_replication", "target_parameters", "alora_invocation_tokens", "kasa_config",
        "monteclora_config", "velora_config", "arrow_config"})
    require_absent(config, key, nullptr);
  require_unchanged_base(config);
}

/// Sentences about keys that may mean something, once all others were read.
std::vector<std::string> unread_keys_of(const model_config& config) {
  // who wrote it, where it was computed, and how it began; which commit of its base on the hub
  config.ignore({"auto_mapping", "inference_mode", "peft_version", "revision", "megatron_config", "megatron_core",
                 "runtime_config", "fan_in_fan_out", "corda_config", "eva_config", "loftq_config",
                 "lora_ga_config", "qalora_group_size"});
  for (const std::string& key : config.unread())
    if (config.content().at(key) == false) config.ignore({key});  // it is switched off
  return key_notes(config);
}

/// As PEFT names them.
constexpr std::array<std::pair<const char*, trained_biases>, 3> bias_names{
    {{"none", trained_biases::none}, {"lora_only", trained_biases::adapted}, {"all", trained_biases::all}}};

trained_biases biases_of(const model_config& config) {
  const std::string name = config.text("bias", bias_names.front().first);
  for (const auto& [known, biases] : bias_names)
    if (name == known) return biases;
  config.refuse("bias", fmt::format("\"{}\" is none of \"none\", \"lora_only\" and \"all\"", shown(name)));
}

const char* name_of(trained_biases biases) {
  return std::ranges::find(bias_names, biases, &std::pair<const char*, trained_biases>::second)->first;
}

lora_options common_of(const model_config& config) {
  require_plain(config);
  if (config.real("lora_alpha") <= 0) config.refuse("lora_alpha", "is not positive");
  const double dropout = config.real("lora_dropout", 0);
  if (!(dropout >= 0 && dropout < 1))
    config.refuse("lora_dropout", fmt::format("{} is not at least 0 and below 1", dropout));
  lora_options o{.rank = read_rank(config, "r"),
                 .alpha = config.real("lora_alpha"),
                 .dropout = dropout,
                 .rank_scaled = config.boolean("use_rslora", false),
                 .magnitudes = config.boolean("use_dora", false),
                 .biases = biases_of(config)};
  return o;
}

model_config config_in(const fs::path& folder) {
  if (!fs::is_directory(folder))
    refuse(fmt::format("{} is not a folder; the folder of an adapter is needed, with {} and adapter_model.safetensors",
                       folder.string(), config_file));
  return model_config::read(folder / config_file);
}

/// hydra::adapt() for what a file says.
chain adapted_as_in(const fs::path& file, chain model, const lora_options& options) try {
  return adapt(std::move(model), options);
} catch (const fault_error& e) {
  throw fault_error{e.what_happened().code, fmt::format("{}: {}", file.string(), e.what_happened().text)};
}

/// Of the weights that adapter_config.json names; empty if they are not there, as on another machine.
std::string identity_of(const fs::path& base) try {
  return base.empty() ? std::string{} : hub_tensors{base}.identity();
} catch (const fault_error&) {
  return {};
}

/// Empty for a module that is none of transformers'.
std::string architecture_of(const chain& model) {
  if (model.hub().config.empty()) return "";
  const json config = json::parse(model.hub().config);
  return config.value("architectures", std::vector<std::string>{""}).front();
}

bool is_causal(const std::string& architecture) {
  return architecture.ends_with("ForCausalLM") || architecture.ends_with("LMHeadModel");
}

bool is_classifier(const std::string& architecture) { return architecture.ends_with("ForSequenceClassification"); }

/// Whether PEFT's task has such a model: FEATURE_EXTRACTION adapts what is below any head.
bool is_task_of(const std::string& task, const std::string& architecture) {
  if (task.empty() || task == "FEATURE_EXTRACTION" || architecture.empty()) return true;
  return (task == "CAUSAL_LM" && is_causal(architecture)) || (task == "SEQ_CLS" && is_classifier(architecture));
}

/// The task by which PEFT chooses the class of the whole model; null: none in particular.
json task_of(const std::string& architecture, const lora_options& o) {
  if (is_causal(architecture)) return "CAUSAL_LM";
  const bool trains_head = std::ranges::find(o.also_train, "classifier") != o.also_train.end();
  if (is_classifier(architecture) && trains_head) return "SEQ_CLS";
  return nullptr;
}

/// Names as they were given where they are names of modules, else all in full.
std::vector<std::string> named_targets(const chain& model, const lora_options& o) {
  const bool all = std::ranges::find(o.targets, lora_options::all_linear) != o.targets.end();
  return all ? adapted_modules(model) : o.targets;
}

bool has_in_out(const chain& model) {
  return std::ranges::count(model.parameters(), linear_weight::in_out, &parameter_spec::linear) > 0;
}

std::string config_text(const chain& model, const lora_options& o, const fs::path& base) {
  const json config{
      {"alpha_pattern", o.alpha_of},
      {"base_model_name_or_path", base.string()},
      {"bias", name_of(o.biases)},
      {"fan_in_fan_out", has_in_out(model)},
      {"inference_mode", true},
      {"init_lora_weights", true},
      {"lora_alpha", o.full_alpha()},
      {"lora_dropout", o.dropout},
      {"modules_to_save", o.also_train.empty() ? json{} : json(written_saved_modules(model, o.also_train))},
      {"peft_type", "LORA"},
      {"r", o.rank},
      {"rank_pattern", o.rank_of},
      {"target_modules", named_targets(model, o)},
      {task_key, task_of(architecture_of(model), o)},
      {"use_dora", o.magnitudes},
      {"use_rslora", o.rank_scaled}};
  return json_text(config, 2) + "\n";
}

/// In PEFT the own parameters of an adapted module, unlike its magnitudes, are those of its "base_layer".
std::string peft_name(const std::string& stored, const std::vector<std::string>& adapted) {
  const std::size_t dot = std::min(stored.rfind('.'), stored.size());
  const bool is_own =
      stored != magnitude_name(stored) && std::ranges::find(adapted, stored.substr(0, dot)) != adapted.end();
  return fmt::format("base_model.model.{}{}{}", stored.substr(0, dot), is_own ? ".base_layer" : "", stored.substr(dot));
}

std::string module_of(const chain& model, const parameter_spec& p) {
  const std::string stored = model.stored_name(p.name);
  return stored.substr(0, stored.rfind('.'));
}

/// The modules to whose weights maps of low rank are added.
std::vector<std::string> adapted_embeddings(const chain& model, const embedding_changes& changes) {
  std::vector<std::string> modules;
  for (const parameter_spec& p : model.parameters())
    if (const auto c = changes.find(p.name); c != changes.end() && std::holds_alternative<added_rows>(c->second))
      modules.push_back(module_of(model, p));
  return modules;
}

/// Those in the place of rows of a weight, or of the one to which it is tied.
replaced_rows* rows_of(embedding_changes& changes, const parameter_spec& p) {
  const auto change = changes.find(p.tied_to.empty() ? p.name : p.tied_to);
  return change == changes.end() ? nullptr : std::get_if<replaced_rows>(&change->second);
}

/// A head that is tied has the embedding's, as in PEFT.
void add_rows(embedding_changes& changes, const parameter_spec& p, const replaced_rows& rows) {
  if (p.tied_to.empty()) return void(changes.emplace(p.name, rows));
  replaced_rows* const owner = rows_of(changes, p);
  if (owner && owner->tokens == rows.tokens && equal_mapped(owner->rows->tensor, rows.rows->tensor))
    owner->copy = rows.rows;
  else
    refuse_tensor(*rows.rows, fmt::format("the embedding, whose weight this is, too (tied), has not the same rows; {}",
                                          merge_by_peft));
}

/// PEFT computes a tied head with changed rows without its bias.
std::vector<std::string> notes_on_bias(const chain& adapted, const embedding_changes& changes,
                                       const std::string& file) {
  std::vector<std::string> notes;
  const bool has_rows = std::ranges::any_of(
      changes, [](const auto& change) { return std::holds_alternative<replaced_rows>(change.second); });
  if (has_rows)
    for (const parameter_spec& p : adapted.parameters())
      if (has_row_per_token(p.name) && p.shape.size() == 1)
        notes.push_back(
            fmt::format("{}: trainable_token_indices: until it is merged, peft computes the tied head without its "
                        "bias, {}; Hydra computes with it",
                        file, adapted.stored_name(p.name)));
  return notes;
}

}  // namespace

adapter_folder::adapter_folder(const fs::path& folder) : adapter_folder(folder, config_in(folder)) {}

adapter_folder::adapter_folder(const fs::path& folder, const model_config& config)
    : common_(common_of(config)),
      targets_(config),
      tokens_(config),
      tensors_(std::make_shared<const hub_tensors>(folder, "adapter_model")),
      base_(config.text(base_name_key, "")),
      ties_(config.boolean(ties_key, false)),
      task_(config.text(task_key, "")) {
  notes_ = unread_keys_of(config);
}

/// True if it is known to be the adapter's.
bool adapter_folder::check_base(const weight_source& weights) const {
  std::string trained_on = tensors_->metadata(base_key);
  const std::string now = identity_of(base_);
  if (trained_on.empty()) trained_on = now;
  if (trained_on.empty() || trained_on == weights.identity()) return !trained_on.empty();
  if (now == weights.identity())
    refuse(fmt::format(
        "{} is an adapter of other weights than its base has now: {}, which {} of {} names. Put the files there "
        "that it was trained on, or train it anew",
        tensors_->folder().string(), weights.files(), base_name_key, config_file));
  refuse(
      fmt::format("{} is an adapter of another base, {}: its weights differ from those that the model starts from, as "
                  "those of a copy in 4 bits do. Write chain = {{ from = \"{}\" }}, and base = \"nf4\" beside it to "
                  "store them in 4 bits; for another base, the adapter has to be trained anew",
                  tensors_->folder().string(), shown(base_.string()), shown(base_.string())));
}

embedding_changes adapter_folder::changes_in(const chain& model) const {
  embedding_changes changes;
  std::vector<std::pair<std::string, replaced_rows>> rows;
  for (const parameter_spec& p : model.parameters()) {
    if (!has_row_per_token(p.name) || p.shape.size() != 2) continue;
    const std::string module = module_of(model, p);
    if (const auto own = tokens_.rows_in(*tensors_, module, p)) add_rows(changes, p, *own);
    if (const replaced_rows* const replaced = rows_of(changes, p)) rows.emplace_back(module, *replaced);
    if (!p.tied_to.empty() || !targets_.names(module) || !adds_to_embedding(*tensors_, module)) continue;
    require_plain_embedding(model, p.name, module);
    const lora_options of_it = targets_.of_module(module, common_);
    changes.emplace(p.name, added_to(*tensors_, module, p, of_it.rank_in(module), of_it.scale_in(module)));
  }
  tokens_.require_all(rows);
  return changes;
}

void adapter_folder::require_plain_embedding(const chain& model, const std::string& weight,
                                             const std::string& module) const {
  const std::string file = (tensors_->folder() / config_file).string();
  if (common_.magnitudes)
    refuse(fmt::format("{}: use_dora: true is not supported for {}, an embedding; {}", file, module, merge_by_peft));
  for (const parameter_spec& p : model.parameters())
    if (p.tied_to == weight)
      refuse(
          fmt::format("{}: target_modules names {}, which shares its weight with {} (tied), which is not supported; {}",
                      file, module, module_of(model, p), merge_by_peft));
}

chain adapter_folder::adapt(chain model) const {
  if (!model.weights())
    refuse(fmt::format(
        "{} is an adapter of a checkpoint, but the model starts from random values: write chain = {{ from = \"{}\" }}",
        tensors_->folder().string(), shown(base_.string())));
  const std::string file = (tensors_->folder() / config_file).string();
  const bool is_known = check_base(*model.weights());
  if (common_.magnitudes && model.hub().config.empty())
    refuse(fmt::format("{}: use_dora: true is not supported for models of hydra_export",
                       file));
  const embedding_changes changes = changes_in(model);
  const std::vector<std::string> embeddings = adapted_embeddings(model, changes);
  const lora_options options = targets_.in(model, common_, embeddings);
  const bool tied = tied_head(model).has_value();
  chain adapted = adapted_as_in(file, std::move(model), options);
  if (ties_ && tied && !tied_head(adapted))
    refuse(fmt::format("{}: {}: true is not supported for modules_to_save with one weight; {}",
                       file, ties_key, merge_by_peft));
  const auto weights = std::make_shared<adapter_weights>(tensors_, adapted, changes);
  adapted.begin_with(weights);
  if (!is_known && !base_.empty())
    adapted.note(fmt::format(
        "{}: {}: \"{}\" is not a checkpoint on this machine: whether the adapter was trained on the weights "
        "that the model starts from is not known",
        file, base_name_key, shown(base_.string())));
  if (const std::string kind = architecture_of(adapted); !is_task_of(task_, kind))
    adapted.note(fmt::format(
        "{}: {} = \"{}\" is not used: it is a task of other models than the {} that the adapter is added to", file,
        task_key, shown(task_), kind));
  std::vector<std::string> modules = adapted_modules(adapted);
  modules.insert(modules.end(), embeddings.begin(), embeddings.end());
  for (const auto& notes :
       {notes_, targets_.unused_patterns(modules), notes_on_bias(adapted, changes, file), weights->notes()})
    for (const std::string& note : notes) adapted.note(note);
  return adapted;
}

std::int64_t adapter_folder::rows_beyond(const chain& model) const {
  for (const parameter_spec& p : model.parameters())
    if (const hub_tensor* const t = tensors_->find(model.stored_name(p.name)); t && has_more_rows(*t, p))
      return t->tensor.shape.front();
  return 0;
}

void write_adapter_files(durable_folder& into, const chain& model, const stored_values& values, const fs::path& base) {
  if (base.empty())
    refuse(
        "the adapter is one of random weights, so that no checkpoint could be named as its base; export the whole "
        "model by --merge");
  if (architecture_of(model).ends_with("ForImageClassification"))
    refuse(
        "transformers' modules of image models have other names than the checkpoint's tensors, so that peft could not "
        "use the adapter; export the whole model by --merge");
  into.write(config_file, config_text(model, *adapter_of(model), fs::absolute(base).lexically_normal()));
  const std::vector<std::string> modules = adapted_modules(model);
  std::vector<deferred_tensor> tensors;
  for (const parameter_spec& p : model.parameters())
    if (!p.frozen || (p.tied_to.empty() && model.weights()->differs_from_base(p.name)))
      tensors.push_back({peft_name(model.stored_name(p.name), modules), stored_type::f32, p.shape,
                         [&values, p] { return values(p); }});
  into.write("adapter_model.safetensors", [&](byte_sink& out) {
    write_safetensors(out, tensors, {{base_key, hub_tensors{base}.identity()}});
  });
}

}  // namespace hydra
