#include "apps/run_folder/stop_reasons.hpp"

#include "actors/session/early_stop.hpp"
#include "apps/workload/convert.hpp"
#include "runtime/base/counted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace hydra::apps {

namespace {

bool watches(const value_table& controller, const std::string& model) {
  const value_list& named = sub_tables(controller, "models");
  return named.empty() || std::ranges::any_of(named, [&](const value& v) { return to<std::string>(v) == model; });
}

std::string early_stop_reason(const value_table& keys, const model_report& m) {
  early_stop_options o;
  assign(keys, "patience", o.patience);
  assign(keys, "minimum", o.minimum);
  std::vector<evaluation_record> history;
  std::ranges::transform(m.validation, std::back_inserter(history), [](const validation_report& v) {
    return evaluation_record{v.step, v.loss, v.accuracy};
  });
  if (!out_of_patience(history, o)) return "";
  return fmt::format("no better{} for {}", o.minimum > 0 ? fmt::format(" by {:g}", o.minimum) : "",
                     counted(o.patience, "evaluation"));
}

std::string reason_of(const model_report& m, const value_table& workload) {
  for (const value& controller : sub_tables(workload, "controller")) {
    const auto& keys = std::get<value_table>(controller.content);
    const value* const kind = keys.find("kind");
    if (!kind || to<std::string>(*kind) != "early-stop" || !watches(keys, m.name)) continue;
    if (std::string why = early_stop_reason(keys, m); !why.empty()) return why;
  }
  return "";
}

}  // namespace

void explain_stops(report& r, const value_table& workload, const std::vector<std::string>& by_command) {
  for (model_report& m : r.models)
    if (m.status == model_status::stopped)
      m.reason = std::ranges::count(by_command, m.name) > 0 ? "by command" : reason_of(m, workload);
}

}  // namespace hydra::apps
