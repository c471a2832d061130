#include "apps/workload/optimizer_keys.hpp"

#include "apps/workload/convert.hpp"

namespace hydra::apps {

namespace {

constexpr number_range positive{.least = 0, .open_least = true};
constexpr number_range share{.least = 0, .most = 1};
constexpr number_range below_one{.least = 0, .most = 1, .open_most = true};

key_rule real_rule(std::string name, number_range range, std::string fallback, std::string help) {
  return {.name = std::move(name),
          .kind = value_kind::real,
          .help = std::move(help),
          .fallback = std::move(fallback),
          .range = range};
}

key_rule weight_decay_rule(std::string fallback) {
  return real_rule("weight_decay", {.least = 0}, std::move(fallback), "of all parameters");
}

table_variant adamw_variant() {
  return {"adamw",
          {weight_decay_rule("0.01"),
           {.name = "betas",
            .kind = value_kind::number_pair,
            .help = "decay of the moments",
            .fallback = "[0.9, 0.999]",
            .range = below_one},
           real_rule("eps", positive, "1e-8", "added to the root of the second moment")}};
}

table_variant sgd_variant() {
  return {"sgd",
          {weight_decay_rule("0"),
           real_rule("momentum", below_one, "0", "0 = off"),
           {.name = "nesterov", .kind = value_kind::boolean, .help = "needs momentum", .fallback = "false"}}};
}

void read_betas(const value_table& optimizer, update_options& o) {
  const value* const betas = optimizer.find("betas");
  if (!betas) return;
  const auto& pair = std::get<value_list>(betas->content);
  o.beta1 = to<double>(pair.at(0));
  o.beta2 = to<double>(pair.at(1));
}

schedule_kind kind_of(const std::string& name) {
  if (name == "linear") return schedule_kind::linear;
  return name == "cosine" ? schedule_kind::cosine : schedule_kind::constant;
}

learning_schedule read_schedule(const value_table& schedule) {
  learning_schedule s;
  std::string kind = "constant";
  assign(schedule, "kind", kind);
  s.kind = kind_of(kind);
  assign(schedule, "warmup", s.warmup);
  assign(schedule, "floor", s.floor);
  return s;
}

update_options defaults_of(const std::string& kind) { return kind == "sgd" ? sgd({}) : adamw({}); }

}  // namespace

table_rules optimizer_rules() {
  table_rules rules{.selector = "kind", .variants = {adamw_variant(), sgd_variant()}};
  key_rule rate = real_rule("learning_rate", positive, "", "before the schedule");
  rate.required = true;
  rules.keys = {selector_rule("kind", rules.variants, "adamw"), rate,
                real_rule("clip_norm", {.least = 0}, "0", "largest norm of a step's gradient; 0 = off")};
  return rules;
}

table_rules schedule_rules() {
  const key_rule floor = real_rule("floor", share, "0", "share of the learning rate at the last step");
  table_rules rules{.selector = "kind", .variants = {{"constant", {}}, {"linear", {floor}}, {"cosine", {floor}}}};
  rules.keys = {selector_rule("kind", rules.variants, "constant"),
                {.name = "warmup",
                 .kind = value_kind::integer,
                 .help = "steps that rise to the learning rate",
                 .fallback = "0",
                 .range = {0, 1e9}}};
  return rules;
}

update_options read_update_options(const value_table& model) {
  const value_table& optimizer = sub_table(model, "optimizer");
  std::string kind = "adamw";
  assign(optimizer, "kind", kind);
  update_options o = defaults_of(kind);
  assign(optimizer, "learning_rate", o.learning_rate);
  assign(optimizer, "weight_decay", o.weight_decay);
  assign(optimizer, "eps", o.eps);
  assign(optimizer, "momentum", o.momentum);
  assign(optimizer, "nesterov", o.nesterov);
  assign(optimizer, "clip_norm", o.clip_norm);
  read_betas(optimizer, o);
  o.schedule = read_schedule(sub_table(model, "schedule"));
  return o;
}

}  // namespace hydra::apps
