#include "apps/workload/data_kinds.hpp"

#include "apps/workload/convert.hpp"
#include "apps/workload/data_kind_table.hpp"
#include "apps/workload/matching_files.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hydra::apps {

const std::vector<data_kind>& workload_data_kinds() {
  static const std::vector<data_kind> kinds{synthetic_language_kind(),
                                            synthetic_classes_kind(),
                                            text_kind(),
                                            tokens_kind(),
                                            jsonl_kind(),
                                            alpaca_kind(),
                                            prompt_completion_kind(),
                                            chat_kind(),
                                            csv_kind(),
                                            images_kind(),
                                            cifar_kind(),
                                            tensors_kind()};
  return kinds;
}

table_rules data_rules() {
  table_rules rules{.selector = "kind"};
  for (const data_kind& kind : workload_data_kinds()) rules.variants.push_back({kind.name, kind.keys});
  rules.keys = {selector_rule("kind", rules.variants, ""),
                switch_rule("shuffle", "true", "false keeps the order of the file")};
  return rules;
}

namespace {

value_list files_in(const value& v) {
  const auto* const pattern = v.as<std::string>();
  value_list files;
  if (pattern)
    for (const auto& file : matching_files(*pattern)) files.push_back(text_value(file.string(), v.where));
  else
    for (const value& each : *v.as<value_list>()) std::ranges::move(files_in(each), std::back_inserter(files));
  return files;
}

const data_kind& kind_of(const value_table& keys) {
  return *std::ranges::find(workload_data_kinds(), to<std::string>(*keys.find("kind")), &data_kind::name);
}

}  // namespace

void expand_patterns(value_table& keys) {
  for (const key_rule& rule : kind_of(keys).keys) {
    value* const v = rule.kind == value_kind::files ? keys.find(rule.name) : nullptr;
    if (!v) continue;
    value_list files = files_in(*v);
    if (v->as<value_list>() || files.size() > 1)
      v->content = std::move(files);
    else
      *v = std::move(files.front());
  }
}

data_description read_data(const value_table& keys) {
  data_description d = kind_of(keys).read(keys);
  assign(keys, "shuffle", d.shuffle);
  return d;
}

}  // namespace hydra::apps
