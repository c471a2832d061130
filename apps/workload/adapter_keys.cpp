#include "apps/workload/adapter_keys.hpp"

#include "apps/workload/convert.hpp"
#include "models/families/hub_folder.hpp"
#include "models/tokenizers/tokenizer.hpp"
#include "models/untied_head.hpp"
#include "models/weights/adapter_folder.hpp"
#include "models/weights/generation_config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace hydra::apps {

namespace {

constexpr const char* adapter_path = "model.adapter";

table_variant lora_variant() {
  return {"lora",
          {required(integer_rule("rank", {.least = 1, .most = lora_options::largest_rank}, "",
                                 "of what is added to a weight")),
           real_rule("alpha", {.least = 0, .open_least = true}, "2 * rank", "what is added is scaled by alpha / rank"),
           real_rule("dropout", {.least = 0, .most = 1, .open_most = true}, "0",
                     "share of the inputs that the adapter does not see"),
           switch_rule("rank_scaled", "false", "alpha / sqrt(rank) instead"),
           plain_rule("targets", value_kind::text_list, "[\"all-linear\"]",
                      "linear maps that are adapted, by the names of their modules in the checkpoint: \"q_proj\""),
           plain_rule("also_train", value_kind::text_list, "none",
                      "modules that are trained in full, such as a new head")}};
}

table_variant from_variant() {
  return {"from",
          {required(plain_rule(
              "from", value_kind::folder, "",
              "with adapter_config.json and adapter_model.safetensors as Hugging Face's PEFT writes them"))}};
}

lora_options read_lora(const value_table& table) {
  lora_options o;
  assign(table, "rank", o.rank);
  assign(table, "alpha", o.alpha);
  assign(table, "dropout", o.dropout);
  assign(table, "rank_scaled", o.rank_scaled);
  if (table.find("targets")) o.targets = read_list<std::string>(table, "targets");
  o.also_train = read_list<std::string>(table, "also_train");
  return o;
}

/// What makes a chain an adapted one.
using adaptation = std::function<chain(chain)>;

adaptation read_adaptation(const value_table& table) {
  if (const value* const folder = table.find("from"))
    return [stored = adapter_folder{to<std::string>(*folder)}](chain base) { return stored.adapt(std::move(base)); };
  return [options = read_lora(table)](chain base) { return adapt(std::move(base), options); };
}

using name_set = std::set<std::string>;

/// The parameters that get rows of new tokens, tied ones by both names.
name_set grown_in(const chain& base) {
  name_set grown;
  for (const parameter_spec& p : base.parameters())
    if (base.weights()->differs_from_base(p.tied_to.empty() ? p.name : p.tied_to)) grown.insert(p.name);
  return grown;
}

/// A name for also_train: "wte".
std::string module_of(const chain& model, const parameter_spec& p) {
  const std::string stored = model.stored_name(p.name), module = stored.substr(0, stored.rfind('.'));
  return module.substr(module.rfind('.') + 1);
}

/// An adapted chain's also_train, with all modules of such parameters; empty if they cannot be trained beside an
/// adapter, as BERT's, whose head stays tied to the embedding.
std::vector<std::string> also_training(const chain& model, const name_set& grown) {
  std::vector<std::string> names = adapter_of(model)->also_train;
  const auto head = tied_head(model);
  for (const parameter_spec& p : model.parameters()) {
    if (!grown.contains(p.name)) continue;
    if (!p.tied_to.empty() && !(head && head->name == p.name)) return {};
    if (p.frozen || !p.tied_to.empty()) names.push_back(module_of(model, p));
  }
  return names;
}

/// `adapter`: the keys by which the chain was adapted.
std::string way_to_train(const chain& model, const name_set& grown, const value_table& adapter) {
  if (adapter.find("from")) return "modules_to_save of the adapter does not name their modules";
  const std::vector<std::string> names = also_training(model, grown);
  if (names.empty()) return "the embedding and the head have one weight (tied), which an adapter does not train";
  return fmt::format("also_train = [\"{}\"] trains them", fmt::join(names, "\", \""));
}

/// What is easily forgotten.
void note_frozen_tokens(chain& model, const name_set& grown, const value_table& adapter) {
  std::vector<std::string> frozen;
  for (const parameter_spec& p : model.parameters())
    if (p.frozen && p.tied_to.empty() && grown.contains(p.name)) frozen.push_back(model.stored_name(p.name));
  if (!frozen.empty())
    model.note(fmt::format("the rows of new tokens in {} are not trained: {}", fmt::join(frozen, " and "),
                           way_to_train(model, grown, adapter)));
}

/// On what is beside the adapter, and holds for its texts or is not read.
std::vector<std::string> notes_on(const std::filesystem::path& folder) {
  std::vector<std::string> all;
  for (auto&& note : {note_on_lone_settings(folder), note_on_ends(folder)})
    if (note) all.push_back(*note);
  return all;
}

}  // namespace

table_rules adapter_rules() {
  table_rules rules{.selector = "kind"};
  rules.variants.push_back(lora_variant());
  rules.keys = {selector_rule("kind", rules.variants, "lora")};
  rules.instead = "from";
  rules.variants.push_back(from_variant());
  return rules;
}

chain_description read_adapted(const value_table& model, chain_description base) {
  const value* const adapter = model.find("adapter");
  if (!adapter) return base;
  if (model.find("freeze"))
    refuse(adapter->where, adapter_path,
           "all parameters but the adapter's own are frozen; leave out \"freeze\", or name what else is "
           "trained in also_train");
  const auto& table = std::get<value_table>(adapter->content);
  if (const value* const folder = table.find("from")) base.adapter = to<std::string>(*folder);
  if (!base.adapter.empty() && has_tokenizer(base.adapter)) base.tokenizer = base.adapter;
  const adaptation adapted = located(adapter->where, adapter_path, [&] { return read_adaptation(table); });
  const std::vector<std::string> notes = base.adapter.empty() ? std::vector<std::string>{} : notes_on(base.adapter);
  base.build = [build = std::move(base.build), adapted, table, where = adapter->where, notes,
                has_new = !base.tokens.empty()](const data_source& data) {
    chain plain = build(data);
    const name_set grown = has_new ? grown_in(plain) : name_set{};
    chain made = located(where, adapter_path, [&] { return adapted(std::move(plain)); });
    note_frozen_tokens(made, grown, table);
    for (const std::string& note : notes) made.note(note);
    return made;
  };
  return base;
}

}  // namespace hydra::apps
