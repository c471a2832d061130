#include "apps/workload/data_kinds.hpp"

#include "apps/workload/convert.hpp"
#include "apps/workload/data_kind_table.hpp"

#include <algorithm>

namespace hydra::apps {

const std::vector<data_kind>& workload_data_kinds() {
  static const std::vector<data_kind> kinds{synthetic_language_kind(),
                                            synthetic_classes_kind(),
                                            text_kind(),
                                            tokens_kind(),
                                            jsonl_kind(),
                                            chat_kind(),
                                            csv_kind(),
                                            images_kind(),
                                            cifar_kind()};
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
