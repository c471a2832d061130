#include "apps/workload/controller_keys.hpp"

#include "actors/session/early_stop.hpp"
#include "apps/workload/convert.hpp"
#include "runtime/base/nearest.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hydra::apps {

namespace {

controller_kind early_stop_kind() {
  return {"early-stop",
          {integer_rule("patience", {1, 1e6}, "3",
                        "evaluations in a row without a better one, after which a model stops"),
           real_rule("minimum", {.least = 0}, "0", "by how much the loss has to fall to count as better")},
          true,
          [](session& s, const value_table& keys, const std::vector<std::string>& models) {
            early_stop_options o;
            assign(keys, "patience", o.patience);
            assign(keys, "minimum", o.minimum);
            o.models = {models.begin(), models.end()};
            s.on<evaluation_completed>(early_stop(std::move(o)));
          }};
}

std::vector<std::string> read_models(const value_table& keys, const std::vector<model_entry>& all) {
  std::vector<std::string> models, known;
  for (const model_entry& m : all) known.push_back(m.description.name);
  for (const value& v : sub_tables(keys, "models")) {
    models.push_back(to<std::string>(v));
    if (std::ranges::count(known, models.back()) == 0)
      refuse(v.where, "controller.models",
             fmt::format("there is no model \"{}\"{}", shown(models.back()), known_instead(models.back(), known)));
  }
  return models;
}

bool is_evaluated_on_the_way(const model_entry& m) {
  return m.description.validate && m.description.validate->every_steps > 0;
}

void check_evaluations(const value& controller, const std::vector<std::string>& watched,
                       const std::vector<model_entry>& all) {
  for (const model_entry& m : all) {
    const bool named = std::ranges::count(watched, m.description.name) > 0;
    if (named && !is_evaluated_on_the_way(m))
      refuse(controller.where, "controller.models",
             fmt::format("{} is not evaluated before its end; give it validate = {{ every_steps = N }}",
                         m.description.name));
  }
  if (!watched.empty() || std::ranges::any_of(all, is_evaluated_on_the_way)) return;
  refuse(controller.where, "controller",
         "no model that it watches is evaluated before its end; give model.validate = { every_steps = N }");
}

}  // namespace

const std::vector<controller_kind>& controller_kinds() {
  static const std::vector<controller_kind> kinds{early_stop_kind()};
  return kinds;
}

table_rules controller_rules() {
  table_rules rules{.selector = "kind"};
  for (const controller_kind& kind : controller_kinds()) rules.variants.push_back({kind.name, kind.keys});
  rules.keys = {selector_rule("kind", rules.variants, ""),
                {.name = "name", .help = "for messages", .fallback = "its place in the file"},
                {.name = "models", .kind = value_kind::text_list, .help = "that it watches", .fallback = "all"}};
  return rules;
}

void add_controller(session& into, const value& controller, const std::vector<model_entry>& all) {
  const auto& keys = std::get<value_table>(controller.content);
  const auto kind = std::ranges::find(controller_kinds(), to<std::string>(*keys.find("kind")), &controller_kind::name);
  const auto models = read_models(keys, all);
  if (kind->needs_evaluations) check_evaluations(controller, models, all);
  located(controller.where, "controller", [&] { kind->add(into, keys, models); });
}

}  // namespace hydra::apps
