#include "apps/workload/key_rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace hydra::apps {

namespace {

template <class Named>
const Named* find_named(const std::vector<Named>& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &Named::name);
  return found == all.end() ? nullptr : &*found;
}

template <class Named>
std::vector<std::string> all_names(const std::vector<Named>& all) {
  std::vector<std::string> names;
  std::ranges::transform(all, std::back_inserter(names), &Named::name);
  return names;
}

}  // namespace

const key_rule* table_rules::find(std::string_view key) const { return find_named(keys, key); }

const table_variant* table_rules::variant(std::string_view name) const { return find_named(variants, name); }

std::vector<std::string> names_of(const std::vector<key_rule>& rules) { return all_names(rules); }

const key_rule* find_rule(const table_rules& rules, const table_variant* variant, std::string_view key) {
  const key_rule* const rule = rules.find(key);
  return rule || !variant ? rule : find_named(variant->keys, key);
}

namespace {

std::string describe_tables(const key_rule& rule) {
  switch (rule.kind) {
    case value_kind::table:
      return fmt::format("a table, {} = {{ ... }}", rule.name);
    case value_kind::table_list:
      return fmt::format("tables, [[{}]]", rule.name);
    case value_kind::named_tables:
      return fmt::format("tables with names, [{}.NAME]", rule.name);
    default:
      return fmt::format("a table of lists, [model.{}]", rule.name);
  }
}

}  // namespace

std::string describe(const key_rule& rule) {
  switch (rule.kind) {
    case value_kind::boolean: return "true or false";
    case value_kind::boolean_or_auto: return "true, false or \"auto\"";
    case value_kind::integer:
    case value_kind::integer_or_auto:
      return "an integer" + to_string(rule.range) + (rule.kind == value_kind::integer ? "" : ", or \"auto\"");
    case value_kind::real: return "a number" + to_string(rule.range);
    case value_kind::text: return rule.choices.empty() ? "a text that is not empty" : one_of(rule.choices);
    case value_kind::bytes: return "a size above 0 such as \"24MiB\", or a number of bytes";
    case value_kind::bytes_or_percent:
      return "a size above 0 such as \"24MiB\", a number of bytes, or a share such as \"75%\"";
    case value_kind::rate: return "a rate such as \"1GiB/s\"";
    case value_kind::time: return "a time such as \"5ms\"";
    case value_kind::file: return "the path of a file";
    case value_kind::files: return "the path of a file, a pattern such as \"data/*.jsonl\", or a list of such";
    case value_kind::folder: return "the path of a folder";
    case value_kind::paths: return "the path of a file or a folder, or a list of such";
    case value_kind::tokenizer:
      return "\"bytes\", { file = \"tokenizer.json or its folder\" } or { vocab = \"...\", merges = \"...\" }";
    case value_kind::chat_template:
      return one_of(rule.choices) +
             ", or what is written around each role's messages such as { user = [\"Q: \", \"\\n\"], "
             "assistant = [\"A: \", \"</s>\"] }";
    case value_kind::field_text:
      return "the name of a field, or a text with fields such as \"{question}\\n{hint?}\\n\"";
    case value_kind::text_list: return "a list of texts";
    case value_kind::label_list: return "a list of two texts or integers, or more";
    case value_kind::policy: return "a name, { name = \"...\", option = number, ... }, or the path of a plug-in";
    case value_kind::number_pair:
    case value_kind::number_list:
      return (rule.kind == value_kind::number_pair ? "a list of two numbers" : "a list of numbers") +
             to_string(rule.range);
    case value_kind::image_size: return "a list of two integers of at least 1, [height, width]";
    case value_kind::image_shape: return "a list of three integers of at least 1, [channels, height, width]";
    case value_kind::cut_list:
      return one_of(rule.choices) + ", the first layer of each shard such as [0, 2, 4], or the file of a saved plan";
    case value_kind::table:
    case value_kind::table_list:
    case value_kind::named_tables:
    case value_kind::grid: return describe_tables(rule);
    case value_kind::space:
      return "a table of distributions by key, such as learning_rate = { log_uniform = [1e-5, 1e-3] }";
  }
  return {};
}

key_rule plain_rule(std::string name, value_kind kind, std::string fallback, std::string help) {
  return {.name = std::move(name), .kind = kind, .help = std::move(help), .fallback = std::move(fallback)};
}

key_rule integer_rule(std::string name, number_range range, std::string fallback, std::string help) {
  key_rule rule = plain_rule(std::move(name), value_kind::integer, std::move(fallback), std::move(help));
  rule.range = range;
  return rule;
}

key_rule real_rule(std::string name, number_range range, std::string fallback, std::string help) {
  key_rule rule = plain_rule(std::move(name), value_kind::real, std::move(fallback), std::move(help));
  rule.range = range;
  return rule;
}

key_rule switch_rule(std::string name, std::string fallback, std::string help) {
  return plain_rule(std::move(name), value_kind::boolean, std::move(fallback), std::move(help));
}

key_rule table_rule(std::string name, table_rules inner, std::string help) {
  return {.name = std::move(name), .kind = value_kind::table, .help = std::move(help), .inner = {std::move(inner)}};
}

key_rule selector_rule(std::string name, const std::vector<table_variant>& variants, std::string fallback) {
  return {.name = std::move(name),
          .help = "which one",
          .required = fallback.empty(),
          .fallback = std::move(fallback),
          .choices = all_names(variants)};
}

key_rule required(key_rule rule) {
  rule.required = true;
  return rule;
}

key_rule changeable(key_rule rule) {
  rule.may_change = true;
  return rule;
}

}  // namespace hydra::apps
