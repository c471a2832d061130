#include "apps/workload/convert.hpp"
#include "apps/workload/data_kind_table.hpp"

namespace hydra::apps {

namespace {

std::vector<std::int64_t> read_shape(const value_table& keys) {
  const std::vector<std::int64_t> shape = read_list<std::int64_t>(keys, "shape");
  if (!shape.empty() && keys.find("features"))
    refuse(place_of(keys, "shape", {}), "data.shape", "features is given too; a sample has either of them");
  return shape;
}

}  // namespace

data_kind synthetic_language_kind() {
  return {"synthetic-language",
          {count_rule("symbols", 2, "32", "of the alphabet"),
           count_rule("order", 1, "2", "symbols that decide the next one"),
           count_rule("tokens", 1, "200000", "to train on"),
           count_rule("validation_tokens", 0, "20000", "to validate on"), seed_rule("of the data")},
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

data_kind synthetic_classes_kind() {
  return {"synthetic-classes",
          {count_rule("features", 1, "32", "of a sample"),
           plain_rule("shape", value_kind::image_shape, "none", "of an image, instead of features"),
           count_rule("classes", 2, "10", "clusters"), count_rule("samples", 1, "4096", "to train on"),
           count_rule("validation_samples", 0, "512", "to validate on"),
           real_rule("noise", {.least = 0}, "1.0", "deviation around a class's centre"), seed_rule("of the data")},
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

}  // namespace hydra::apps
