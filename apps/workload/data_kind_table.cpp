#include "apps/workload/data_kind_table.hpp"

#include "apps/workload/convert.hpp"

#include <algorithm>
#include <iterator>

namespace hydra::apps {

namespace {

constexpr double many = 1e15;

}  // namespace

key_rule count_rule(std::string name, double least, std::string fallback, std::string help) {
  return integer_rule(std::move(name), {least, many}, std::move(fallback), std::move(help));
}

key_rule seed_rule(std::string help) {
  return integer_rule("seed", {.least = 0}, "0", std::move(help));
}

key_rule name_rule(std::string name, std::string fallback, std::string help) {
  return {.name = std::move(name), .help = std::move(help), .fallback = std::move(fallback)};
}

key_rule label_rule() {
  return plain_rule("labels", value_kind::label_list,
                    "the classes of the head that the model starts with, else the labels of the training data, sorted",
                    "classes 0, 1, ... by their labels");
}

std::vector<key_rule> file_rules() {
  return {{.name = "train", .kind = value_kind::file, .help = "file to train on", .required = true},
          {.name = "validation", .kind = value_kind::file, .help = "file to validate on", .fallback = "none"}};
}

std::vector<key_rule> record_file_rules() {
  return {
      {.name = "train", .kind = value_kind::files, .help = "files to train on; a .gz is unpacked", .required = true},
      {.name = "validation", .kind = value_kind::files, .help = "files to validate on", .fallback = "none"},
      real_rule("validation_share", {.least = 0, .most = 1, .open_most = true}, "0",
                "of the training records, taken to validate on")};
}

std::vector<key_rule> joined(std::vector<key_rule> first, std::vector<key_rule> second) {
  std::ranges::move(second, std::back_inserter(first));
  return first;
}

std::vector<class_label> read_labels(const value_table& keys, std::string_view key) {
  std::vector<class_label> labels;
  for (const value& v : sub_tables(keys, key))
    if (const auto* number = v.as<std::int64_t>())
      labels.emplace_back(*number);
    else
      labels.emplace_back(to<std::string>(v));
  return labels;
}

}  // namespace hydra::apps
