#include "apps/workload/data_kinds.hpp"

#include "apps/workload/convert.hpp"

#include <algorithm>

namespace hydra::apps {

namespace {

constexpr double many = 1e15;

/// A count of symbols, tokens, samples.
key_rule count_rule(std::string name, double least, std::string fallback, std::string help) {
  return {.name = std::move(name),
          .kind = value_kind::integer,
          .help = std::move(help),
          .fallback = std::move(fallback),
          .range = {least, many}};
}

key_rule seed_rule() {
  return {.name = "seed", .kind = value_kind::integer, .help = "of the data", .fallback = "0", .range = {.least = 0}};
}

std::vector<key_rule> file_rules() {
  return {{.name = "train", .kind = value_kind::file, .help = "file to train on", .required = true},
          {.name = "validation", .kind = value_kind::file, .help = "file to validate on", .fallback = "none"}};
}

data_kind synthetic_language_kind() {
  return {"synthetic-language",
          {count_rule("symbols", 2, "32", "of the alphabet"),
           count_rule("order", 1, "2", "symbols that decide the next one"),
           count_rule("tokens", 1, "200000", "to train on"),
           count_rule("validation_tokens", 0, "20000", "to validate on"), seed_rule()},
          [](const value_table& keys) {
            synthetic_language d;
            assign(keys, "symbols", d.symbols);
            assign(keys, "order", d.order);
            assign(keys, "tokens", d.tokens);
            assign(keys, "validation_tokens", d.validation_tokens);
            assign(keys, "seed", d.seed);
            return data_description{d};
          }};
}

std::vector<std::int64_t> read_shape(const value_table& keys) {
  std::vector<std::int64_t> shape;
  for (const value& size : sub_tables(keys, "shape")) shape.push_back(to<std::int64_t>(size));
  if (!shape.empty() && keys.find("features"))
    refuse(place_of(keys, "shape", {}), "data.shape", "features is given too; a sample has either of them");
  return shape;
}

data_kind synthetic_classes_kind() {
  return {"synthetic-classes",
          {count_rule("features", 1, "32", "of a sample"),
           {.name = "shape",
            .kind = value_kind::image_shape,
            .help = "of an image, instead of features",
            .fallback = "none"},
           count_rule("classes", 2, "10", "clusters"),
           count_rule("samples", 1, "4096", "to train on"),
           count_rule("validation_samples", 0, "512", "to validate on"),
           {.name = "noise",
            .kind = value_kind::real,
            .help = "deviation around a class's centre",
            .fallback = "1.0",
            .range = {.least = 0}},
           seed_rule()},
          [](const value_table& keys) {
            synthetic_classes d;
            assign(keys, "features", d.features);
            d.shape = read_shape(keys);
            assign(keys, "classes", d.classes);
            assign(keys, "samples", d.samples);
            assign(keys, "validation_samples", d.validation_samples);
            assign(keys, "noise", d.noise);
            assign(keys, "seed", d.seed);
            return data_description{d};
          }};
}

data_kind text_kind() {
  std::vector<key_rule> keys = file_rules();
  keys.push_back({.name = "tokenizer", .help = "how text becomes tokens", .fallback = "bytes", .choices = {"bytes"}});
  return {"text", std::move(keys), [](const value_table& table) {
            text_files d;
            assign(table, "train", d.train);
            assign(table, "validation", d.validation);
            return data_description{d};
          }};
}

data_kind tokens_kind() {
  std::vector<key_rule> keys = file_rules();
  keys.push_back({.name = "vocabulary",
                  .kind = value_kind::integer,
                  .help = "number of token ids",
                  .required = true,
                  .range = {1, 4294967296.0}});
  return {"tokens", std::move(keys), [](const value_table& table) {
            token_files d;
            assign(table, "train", d.train);
            assign(table, "validation", d.validation);
            assign(table, "vocabulary", d.vocabulary);
            return data_description{d};
          }};
}

}  // namespace

const std::vector<data_kind>& workload_data_kinds() {
  static const std::vector<data_kind> kinds{synthetic_language_kind(), synthetic_classes_kind(), text_kind(),
                                            tokens_kind()};
  return kinds;
}

table_rules data_rules() {
  table_rules rules{.selector = "kind"};
  for (const data_kind& kind : workload_data_kinds()) rules.variants.push_back({kind.name, kind.keys});
  rules.keys = {selector_rule("kind", rules.variants, ""),
                {.name = "shuffle",
                 .kind = value_kind::boolean,
                 .help = "false keeps the order of the file",
                 .fallback = "true"}};
  return rules;
}

data_description read_data(const value_table& keys) {
  const auto kind = std::ranges::find(workload_data_kinds(), to<std::string>(*keys.find("kind")), &data_kind::name);
  data_description d = kind->read(keys);
  assign(keys, "shuffle", d.shuffle);
  return d;
}

}  // namespace hydra::apps
