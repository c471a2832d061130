#include "apps/workload/optimizer_keys.hpp"

#include "apps/workload/convert.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hydra::apps {

namespace {

constexpr number_range positive{.least = 0, .open_least = true};
constexpr number_range share_range{.least = 0, .most = 1};
constexpr number_range below_one{.least = 0, .most = 1, .open_most = true};

key_rule weight_decay_rule(std::string fallback) {
  return real_rule("weight_decay", {.least = 0}, std::move(fallback), "of all parameters, but see decay and groups");
}

key_rule betas_rule(std::string fallback, std::string help) {
  return {.name = "betas",
          .kind = value_kind::number_pair,
          .help = std::move(help),
          .fallback = std::move(fallback),
          .range = below_one};
}

key_rule eps_rule() { return real_rule("eps", positive, "1e-8", "added to the root of the second moment"); }

table_variant adamw_variant(std::string name) {
  return {std::move(name), {weight_decay_rule("0.01"), betas_rule("[0.9, 0.999]", "decay of the moments"), eps_rule()}};
}

key_rule nesterov_rule(std::string fallback) {
  return switch_rule("nesterov", std::move(fallback), "needs momentum");
}

table_variant sgd_variant() {
  return {"sgd", {weight_decay_rule("0"), real_rule("momentum", below_one, "0", "0 = off"), nesterov_rule("false")}};
}

table_variant muon_variant() {
  return {
      "muon",
      {weight_decay_rule("0.1"),
       real_rule("momentum", below_one, "0.95", "of the matrices in hidden layers"),
       nesterov_rule("true"),
       {.name = "adjust_lr",
        .help = "a matrix' rate: times sqrt(max(1, rows / columns)), or 0.2 sqrt(max(rows, columns)), for which rates "
                "of adamw are right",
        .fallback = "original",
        .choices = {"original", "match_rms_adamw"}},
       real_rule("adamw_learning_rate", {.least = 0}, "the optimizer's",
                 "of what adamw steps: vectors, and the first and the last layer"),
       betas_rule("[0.9, 0.999]", "of adamw: decay of the moments"),
       eps_rule()}};
}

table_variant lion_variant() {
  return {
      "lion",
      {weight_decay_rule("0"), betas_rule("[0.9, 0.99]", "share of the moment in the step, and in the next moment")}};
}

table_variant adafactor_variant() {
  return {
      "adafactor",
      {weight_decay_rule("0"),
       real_rule("decay_rate", {.least = 0, .most = 1, .open_least = true}, "0.8",
                 "step t, from 1, keeps 1 - t^-decay_rate of the second moments"),
       real_rule("clip_threshold", positive, "1", "largest root mean square of a parameter's step, before the rate"),
       real_rule("eps", positive, "1e-30", "added to squares of gradients")}};
}

table_rules group_rules() {
  return {.keys = {required(plain_rule(
                       "parameters", value_kind::text_list, "",
                       "by names in the checkpoint: \"*\" for any text, \"!\" before an exception, the last match "
                       "decides")),
                   real_rule("learning_rate", {.least = 0}, "the optimizer's", "before the schedule"),
                   real_rule("weight_decay", {.least = 0}, "the optimizer's", "of all these parameters")}};
}

void read_betas(const value_table& optimizer, update_options& o) {
  const value* const betas = optimizer.find("betas");
  if (!betas) return;
  const auto& pair = std::get<value_list>(betas->content);
  o.beta1 = to<double>(pair.at(0));
  o.beta2 = to<double>(pair.at(1));
}

template <class T>
using named = std::pair<const char*, T>;

constexpr std::array<named<update_kind>, 6> update_kinds{{{"adamw", update_kind::adamw},
                                                          {"sgd", update_kind::sgd},
                                                          {"lion", update_kind::lion},
                                                          {"adamw8bit", update_kind::adamw8bit},
                                                          {"muon", update_kind::muon},
                                                          {"adafactor", update_kind::adafactor}}};
constexpr std::array<named<schedule_kind>, 6> schedule_kinds{{{"constant", schedule_kind::constant},
                                                              {"linear", schedule_kind::linear},
                                                              {"cosine", schedule_kind::cosine},
                                                              {"wsd", schedule_kind::wsd},
                                                              {"cosine-restarts", schedule_kind::cosine_restarts},
                                                              {"inverse-sqrt", schedule_kind::inverse_sqrt}}};

/// Of a checked table: the first one without the key.
template <class Kinds>
auto kind_in(const value_table& table, const Kinds& kinds) {
  std::string name = kinds.front().first;
  assign(table, "kind", name);
  return std::ranges::find(kinds, name, [](const auto& k) { return std::string{k.first}; })->second;
}

void require_one_warmup(const value_table& schedule) {
  const value* const ratio = schedule.find("warmup_ratio");
  if (!ratio || !schedule.find("warmup")) return;
  refuse(ratio->where, "model.schedule.warmup_ratio",
         "warmup is given too; give steps or a share of all steps, not both");
}

learning_schedule read_schedule(const value_table& schedule) {
  learning_schedule s{.kind = kind_in(schedule, schedule_kinds)};
  require_one_warmup(schedule);
  assign(schedule, "warmup", s.warmup);
  assign(schedule, "warmup_ratio", s.warmup_ratio);
  assign(schedule, "decay_ratio", s.decay_ratio);
  assign(schedule, "cycles", s.cycles);
  assign(schedule, "floor", s.floor);
  return s;
}

update_options defaults_of(update_kind kind) {
  if (kind == update_kind::lion) return lion({});
  if (kind == update_kind::adamw8bit) return adamw8bit({});
  if (kind == update_kind::muon) return muon({});
  if (kind == update_kind::adafactor) return adafactor({});
  return kind == update_kind::sgd ? sgd({}) : adamw({});
}

std::optional<double> number_in(const value_table& table, std::string_view key) {
  const value* const v = table.find(key);
  return v ? std::optional{to<double>(*v)} : std::nullopt;
}

parameter_group read_group(const value_table& group) {
  return {.parameters = name_patterns{read_list<std::string>(group, "parameters")},
          .learning_rate = number_in(group, "learning_rate"),
          .weight_decay = number_in(group, "weight_decay")};
}

}  // namespace

table_rules optimizer_rules() {
  table_rules rules{.selector = "kind",
                    .variants = {adamw_variant("adamw"), sgd_variant(), lion_variant(), adamw_variant("adamw8bit"),
                                 muon_variant(), adafactor_variant()}};
  rules.keys = {
      selector_rule("kind", rules.variants, "adamw"),
      required(real_rule("learning_rate", positive, "", "before the schedule")),
      real_rule("clip_norm", {.least = 0}, "0", "largest norm of a step's gradient; 0 = off"),
      {.name = "decay",
       .help = "matrices: biases, norms and other vectors do not decay",
       .fallback = "all",
       .choices = {"all", "matrices"}},
      {.name = "groups",
       .kind = value_kind::table_list,
       .help =
           "[{ parameters = [\"*.bias\"], learning_rate = 1e-4, weight_decay = 0 }]: parameters with a rate or a decay "
           "of their own; of several groups with a parameter the last one decides",
       .fallback = "none",
       .inner = {group_rules()}}};
  return rules;
}

table_rules schedule_rules() {
  const key_rule floor = real_rule("floor", share_range, "0", "share of the learning rate at the last step");
  const key_rule low =
      real_rule("floor", share_range, "0",
                "share of the learning rate that a cycle falls towards; its last step, of n, has floor + "
                "(1 - floor) * (1 + cos(pi * (n - 1) / n)) / 2");
  const key_rule decay_ratio = real_rule("decay_ratio", {.least = 0, .most = 1, .open_least = true}, "0.1",
                                         "share of all steps, the last ones, that fall along a line to the floor");
  const key_rule cycles = integer_rule("cycles", {1, 1e9}, "1", "half cosines, each from the learning rate down");
  table_rules rules{.selector = "kind",
                    .variants = {{"constant", {}},
                                 {"linear", {floor}},
                                 {"cosine", {floor}},
                                 {"wsd", {floor, decay_ratio}},
                                 {"cosine-restarts", {low, cycles}},
                                 {"inverse-sqrt", {}}}};
  rules.keys = {
      selector_rule("kind", rules.variants, "constant"),
      integer_rule("warmup", {0, 1e9}, "0",
                   "n steps that rise to the learning rate: step 1 has 1/n of it, step n all of it (in transformers "
                   "step 1 has 0, and step n + 1 all)"),
      real_rule("warmup_ratio", below_one, "0", "instead of warmup: share of all steps, rounded up")};
  return rules;
}

update_options read_update_options(const value_table& model) {
  const value_table& optimizer = sub_table(model, "optimizer");
  update_options o = defaults_of(kind_in(optimizer, update_kinds));
  assign(optimizer, "learning_rate", o.learning_rate);
  assign(optimizer, "weight_decay", o.weight_decay);
  assign(optimizer, "eps", o.eps);
  assign(optimizer, "momentum", o.momentum);
  assign(optimizer, "nesterov", o.nesterov);
  assign(optimizer, "clip_norm", o.clip_norm);
  read_betas(optimizer, o);
  std::string adjustment = "original";
  assign(optimizer, "adjust_lr", adjustment);
  o.adjustment = adjustment == "original" ? rate_adjustment::original : rate_adjustment::match_rms_adamw;
  assign(optimizer, "decay_rate", o.decay_rate);
  assign(optimizer, "clip_threshold", o.clip_threshold);
  o.adamw_learning_rate = number_in(optimizer, "adamw_learning_rate");
  std::string decay = "all";
  assign(optimizer, "decay", decay);
  o.decay = decay == "matrices" ? decay_scope::matrices : decay_scope::all;
  for (const value& group : sub_tables(optimizer, "groups"))
    o.groups.push_back(read_group(std::get<value_table>(group.content)));
  o.schedule = read_schedule(sub_table(model, "schedule"));
  return o;
}

}  // namespace hydra::apps
