#include "apps/workload/chain_keys.hpp"

#include "apps/workload/convert.hpp"
#include "apps/workload/option_keys.hpp"
#include "models/families/hub_folder.hpp"

#include <fmt/format.h>

namespace hydra::apps {

namespace {

table_variant variant_of(const family& f) {
  table_variant variant{f.name, {}};
  for (const option& o : f.options) variant.keys.push_back(rule_of(o));
  return variant;
}

table_variant from_folder_variant() {
  return {
      "from",
      {{.name = "from",
        .kind = value_kind::folder,
        .help =
            "with config.json and model.safetensors as Hugging Face's libraries write them, or a model of hydra_export",
        .required = true},
       integer_rule("context", {.least = 1, .most = 1e9}, "the checkpoint's most", "tokens per sample"),
       real_rule("dropout", {.least = 0, .most = 1, .open_most = true}, "the checkpoint's", "share of values dropped"),
       {.name = "head",
        .help = "another task than the checkpoint's: its head starts random where the checkpoint has none",
        .fallback = "the checkpoint's",
        .choices = {"classification", "masked-lm"}},
       plain_rule(
           "tokens", value_kind::text_list, "none",
           "special tokens, as of a chat template, that the tokenizer and the embedding get where they lack them")}};
}

chain_description read_from(const value_table& table) {
  from_options options;
  assign(table, "context", options.context);
  assign(table, "dropout", options.dropout);
  assign(table, "head", options.head);
  options.tokens = read_list<std::string>(table, "tokens");
  const value& folder = *table.find("from");
  return located(folder.where, "model.chain.from", [&] { return describe_from(to<std::string>(folder), options); });
}

}  // namespace

table_rules chain_rules() {
  table_rules rules{.selector = "family"};
  for (const family& f : families()) rules.variants.push_back(variant_of(f));
  rules.keys = {selector_rule("family", rules.variants, "")};
  rules.instead = "from";
  rules.variants.push_back(from_folder_variant());
  return rules;
}

chain_description read_chain(const value_table& model) {
  const value& chain = *model.find("chain");
  const auto& table = std::get<value_table>(chain.content);
  if (table.find("from")) return read_from(table);
  const auto family = to<std::string>(*table.find("family"));
  const option_values options = read_options(table, chain_rules().variant(family)->keys);
  return located(chain.where, "model.chain", [&] { return describe_chain(family, options); });
}

}  // namespace hydra::apps
