#include "apps/workload/schema.hpp"

#include "apps/workload/controller_keys.hpp"
#include "apps/workload/data_kinds.hpp"
#include "apps/workload/model_keys.hpp"
#include "apps/workload/run_keys.hpp"
#include "apps/workload/search_keys.hpp"

namespace hydra::apps {

namespace {

key_rule inner_rule(std::string name, value_kind kind, table_rules inner) {
  return {.name = std::move(name), .kind = kind, .inner = {std::move(inner)}};
}

}  // namespace

const table_rules& workload_rules() {
  static const table_rules rules = workload_rules(device_kinds());
  return rules;
}

table_rules workload_rules(const std::vector<device_kind>& kinds) {
  return {.keys = {inner_rule("run", value_kind::table, run_rules()),
                   changeable(inner_rule("host", value_kind::table, host_rules())),
                   required(changeable(inner_rule("device", value_kind::table_list, device_rules(kinds)))),
                   required(inner_rule("data", value_kind::named_tables, data_rules())),
                   required(inner_rule("model", value_kind::table_list, model_rules())),
                   inner_rule("search", value_kind::table, search_rules()),
                   inner_rule("controller", value_kind::table_list, controller_rules()),
                   changeable(inner_rule("ablation", value_kind::table, ablation_rules()))}};
}

}  // namespace hydra::apps
