#include "apps/workload/check_leaf.hpp"
#include "apps/workload/convert.hpp"
#include "apps/workload/data_kind_table.hpp"
#include "apps/workload/parse.hpp"
#include "models/data/record_shapes.hpp"

#include <memory>

namespace hydra::apps {

namespace {

constexpr const char* packing_help =
    "true: several records in a sample, none of which attends to another; batch_size counts samples";

key_rule tokenizer_rule() {
  return {.name = "tokenizer",
          .kind = value_kind::tokenizer,
          .help =
              "how text becomes tokens; { file } or { vocab, merges } of a trained one. Default of a model that starts "
              "from a checkpoint: the checkpoint's",
          .fallback = "bytes"};
}

std::vector<key_rule> masking_rules(const std::string& seed_help = "of the choice of hidden tokens") {
  return {real_rule("mask_share", {.least = 0, .most = 1, .open_least = true}, "0.15",
                    "of the tokens of a sample, hidden from models that guess them"),
          seed_rule(seed_help)};
}

key_rule field_rule(std::string name, std::string fallback, std::string help) {
  key_rule rule = name_rule(std::move(name), std::move(fallback), std::move(help));
  rule.kind = value_kind::field_text;
  return rule;
}

key_rule bad_rows_rule() {
  return {.name = "bad_rows",
          .help = "records that cannot be read: refuse the file with their number, or leave them out",
          .fallback = "refuse",
          .choices = {"refuse", "leave-out"}};
}

tokenizer_choice read_tokenizer(const value_table& keys) {
  tokenizer_choice choice;
  const value* const v = keys.find("tokenizer");
  const auto* table = content_of<value_table>(v);
  choice.bytes = v && !table;
  if (!table) return choice;
  assign(*table, "file", choice.file);
  assign(*table, "vocab", choice.vocab);
  assign(*table, "merges", choice.merges);
  return choice;
}

/// Patterns are expanded already.
void read_part(const value_table& keys, std::string_view key, file_list& files) {
  files = read_list<std::filesystem::path>(keys, key);
}
void read_part(const value_table& keys, std::string_view key, std::filesystem::path& file) { assign(keys, key, file); }

/// The keys that all kinds of text have.
template <class Files>
Files read_text_files(const value_table& keys) {
  Files d;
  read_part(keys, "train", d.train);
  read_part(keys, "validation", d.validation);
  d.tokenizer = read_tokenizer(keys);
  if constexpr (requires { d.validation_share; }) assign(keys, "validation_share", d.validation_share);
  if constexpr (requires { d.bad_rows; }) {
    std::string rule = "refuse";
    assign(keys, "bad_rows", rule);
    d.bad_rows = rule == "leave-out" ? bad_row_rule::leave_out : bad_row_rule::refuse;
  }
  if constexpr (requires { d.masking; }) {
    assign(keys, "mask_share", d.masking.share);
    assign(keys, "seed", d.masking.seed);
  }
  return d;
}

std::vector<key_rule> text_file_rules() { return joined(joined(file_rules(), {tokenizer_rule()}), masking_rules()); }

data_description read_tokens(const value_table& keys) {
  auto d = read_text_files<token_files>(keys);
  assign(keys, "vocabulary", d.vocabulary);
  if (d.vocabulary == 0 && (d.tokenizer == tokenizer_choice{} || d.tokenizer.bytes))
    refuse(place_of(keys, "kind", {}), "data.vocabulary",
           "missing, expected an integer of at least 1; or a tokenizer, whose vocabulary it is");
  return {d};
}

data_description read_jsonl(const value_table& keys) {
  auto d = read_text_files<jsonl_files>(keys);
  assign(keys, "text", d.text);
  assign(keys, "prompt", d.prompt);
  assign(keys, "answer", d.answer);
  assign(keys, "label", d.label);
  d.labels = read_labels(keys, "labels");
  assign(keys, "packing", d.packing);
  return {d};
}

template_choice template_from(const value& v) {
  const auto* const roles = v.as<value_table>();
  if (!roles) return {.name = to<std::string>(v)};
  template_choice choice;
  for (const table_entry& e : roles->entries) {
    const auto& marks = *e.is.as<value_list>();
    choice.roles[e.key] = {to<std::string>(marks[0]), to<std::string>(marks[1])};
  }
  return choice;
}

chat_loss read_loss(const value_table& keys) {
  std::string name = "assistant";
  assign(keys, "loss_on", name);
  return name == "all" ? chat_loss::all : name == "last" ? chat_loss::last : chat_loss::assistant;
}

data_description read_chat(const value_table& keys) {
  auto d = read_text_files<chat_files>(keys);
  if (const value* const format = keys.find("template")) d.format = template_from(*format);
  d.loss = read_loss(keys);
  assign(keys, "packing", d.packing);
  assign(keys, "seed", d.seed);
  return {d};
}

key_rule template_rule() {
  return {.name = "template",
          .kind = value_kind::chat_template,
          .help = "how a conversation becomes a text; checkpoint: by the chat template beside its tokenizer",
          .fallback = "checkpoint, where it has one",
          .choices = chat_template::choices()};
}

data_description read_csv(const value_table& keys) {
  auto d = read_text_files<csv_files>(keys);
  assign(keys, "target", d.target);
  d.columns = read_list<std::string>(keys, "columns");
  d.labels = read_labels(keys, "labels");
  assign(keys, "regression", d.regression);
  assign(keys, "standardise", d.standardise);
  assign(keys, "text", d.text);
  if (const value* const separator = keys.find("separator")) {
    const auto text = to<std::string>(*separator);
    d.separator = text == "tab" ? '\t' : text.front();
  }
  return {d};
}

/// Records whose fields have the names of a usual shape.
data_kind shaped_kind(const std::string& name, const record_shape& shape) {
  std::vector<key_rule> keys{tokenizer_rule(), bad_rows_rule(), switch_rule("packing", "false", packing_help),
                             seed_rule("of the validation share, and of which records share a sample")};
  return {name, joined(record_file_rules(), std::move(keys)), [name, &shape](const value_table& table) {
            auto d = read_text_files<jsonl_files>(table);
            d.kind = name;
            d.prompt = shape.prompt;
            d.short_prompt = shape.short_prompt;
            d.answer = shape.answer;
            assign(table, "packing", d.packing);
            return data_description{d};
          }};
}

}  // namespace

template_choice read_template(const std::string& option, const std::string& text) {
  const place where{std::make_shared<std::string>(option), 0};
  value v = parse_value(text).value_or(text_value(text, where));
  v.where = where;
  if (auto* const roles = v.as<value_table>())
    for (table_entry& e : roles->entries) e.where = e.is.where = where;
  check_leaf({v, template_rule(), "template"});
  return template_from(v);
}

data_kind text_kind() {
  return {"text", text_file_rules(),
          [](const value_table& keys) { return data_description{read_text_files<text_files>(keys)}; }};
}

data_kind tokens_kind() {
  key_rule vocabulary = integer_rule("vocabulary", {1, 4294967296.0}, "the tokenizer's", "number of token ids");
  return {"tokens", joined({std::move(vocabulary)}, text_file_rules()), read_tokens};
}

data_kind jsonl_kind() {
  std::vector<key_rule> rules =
      joined({tokenizer_rule()},
             masking_rules("of hidden tokens, of the validation share, and of which records share a sample"));
  std::vector<key_rule> keys{field_rule("text", "\"text\"", "what is learnt"),
                             field_rule("prompt", "none", "what stands right before the answer, without a loss"),
                             field_rule("answer", "none", "what is learnt after the prompt, instead of text"),
                             name_rule("label", "none", "field of the class, for models that want one"),
                             bad_rows_rule(),
                             switch_rule("packing", "false", packing_help)};
  return {"jsonl", joined(joined(joined(record_file_rules(), std::move(rules)), std::move(keys)), {label_rule()}),
          read_jsonl};
}

data_kind alpaca_kind() { return shaped_kind("alpaca", alpaca_shape()); }
data_kind prompt_completion_kind() { return shaped_kind("prompt-completion", completion_shape()); }

data_kind chat_kind() {
  std::vector<key_rule> keys{tokenizer_rule(),
                             template_rule(),
                             {.name = "loss_on",
                              .help = "messages of the assistant, the last of them, or every token",
                              .fallback = "assistant",
                              .choices = {"assistant", "last", "all"}},
                             bad_rows_rule(),
                             switch_rule("packing", "true", packing_help),
                             seed_rule("of the validation share, and of which records share a sample")};
  return {"chat", joined(record_file_rules(), std::move(keys)), read_chat};
}

data_kind csv_kind() {
  std::vector<key_rule> keys{
      name_rule("target", "none", "column of classes or of numbers to predict"),
      {.name = "columns", .kind = value_kind::text_list, .help = "of numbers", .fallback = "all but the target"},
      switch_rule("regression", "false", "true: the target is a number"),
      switch_rule("standardise", "true", "columns to mean 0 and deviation 1 over the training file"),
      name_rule("text", "none", "column of texts, instead of columns"),
      {.name = "separator", .help = "of fields", .fallback = ",", .choices = {",", ";", "|", "tab"}},
      bad_rows_rule()};
  return {"csv", joined(joined(text_file_rules(), std::move(keys)), {label_rule()}), read_csv};
}

}  // namespace hydra::apps
