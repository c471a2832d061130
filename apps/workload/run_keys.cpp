#include "apps/workload/run_keys.hpp"

#include "actors/policy/catalog.hpp"
#include "apps/workload/convert.hpp"
#include "apps/workload/data_kind_table.hpp"
#include "apps/workload/expense_keys.hpp"
#include "apps/workload/names.hpp"
#include "runtime/memory/host_memory.hpp"

#include <algorithm>
#include <iterator>

namespace hydra::apps {

namespace {

byte_count read_host_memory(const value& v) {
  const auto* text = v.as<std::string>();
  const auto share = text ? to_fraction(*text) : std::nullopt;
  if (!share) return to<byte_count>(v);
  return byte_count{static_cast<std::uint64_t>(*share * static_cast<double>(available_host_memory().value()))};
}

table_rules checkpoint_rules() {
  return {.keys = {integer_rule("every_steps", {0, 1e9}, "0", "of each model; 0 = off"),
                   real_rule("every_minutes", {0, 1e6}, "10", "of each model; 0 = off"),
                   integer_rule("keep", {0, 1e6}, "2",
                                "newest checkpoints of each model; 0 = nothing is saved, not even at the end")}};
}

checkpoint_options read_checkpoint(const value_table& table) {
  checkpoint_options o;
  assign(table, "every_steps", o.every_steps);
  assign(table, "every_minutes", o.every_minutes);
  assign(table, "keep", o.keep);
  return o;
}

optimizer_place read_optimizer_place(const value_table& run) {
  std::string name;
  assign(run, "optimizer_on", name);
  for (const auto place : {optimizer_place::device, optimizer_place::automatic}) {
    if (name == to_string(place)) return place;
  }
  return optimizer_place::host;
}

ablation_options read_ablation(const value_table& table) {
  ablation_options o;
  assign(table, "double_buffer", o.double_buffer);
  assign(table, "cache", o.cache);
  assign(table, "save", o.save);
  assign(table, "copy_back_clean", o.copy_back_clean);
  assign(table, "sharp", o.sharp);
  assign(table, "share", o.share);
  return o;
}

}  // namespace

table_rules run_rules() {
  table_rules rules{
      .keys = {
          {.name = "name", .help = "of the run", .fallback = "the file's name"},
          integer_rule("seed", {.least = 0}, "0", "of models that have none"),
          changeable(plain_rule("policy", value_kind::policy, default_policy, "which unit is staged next")),
          changeable(switch_rule("trusted_policy", "false",
                                 "true: a plug-in's policy is asked in place, without the limit of 100 ms")),
          {.name = "optimizer_on",
           .help = "where parameters are updated; auto: by the measured rates",
           .fallback = to_string(optimizer_place::host),
           .may_change = true,
           .choices = {to_string(optimizer_place::host), to_string(optimizer_place::device),
                       to_string(optimizer_place::automatic)}},
          changeable(plain_rule("plugins", value_kind::text_list, "",
                                "shared objects to load; relative paths start at the file's folder")),
          {.name = "output", .help = "run folder; must not exist", .fallback = "runs/<name>", .may_change = true},
          changeable(switch_rule("tensorboard", "false",
                                 "true: event files for TensorBoard in the run's folder \"tensorboard\"")),
          changeable(table_rule("checkpoint", checkpoint_rules(), "when models are saved, in addition to their end"))}};
  std::ranges::copy(run_expense_rules(), std::back_inserter(rules.keys));
  return rules;
}

table_rules host_rules() {
  table_rules rules{.keys = {plain_rule("memory", value_kind::bytes_or_percent, "75% of what is available",
                              "cap on host memory of the run"),
                   integer_rule("optimizer_threads", {1, 1024}, "half the cores, at least 1",
                                "threads that update parameters")}};
  std::ranges::copy(host_expense_rules(), std::back_inserter(rules.keys));
  return rules;
}

table_rules ablation_rules() {
  return {.keys = {switch_rule("double_buffer", "true", "false: nothing is staged while a unit computes"),
                   switch_rule("cache", "true", "false: blocks leave the device with their visit"),
                   switch_rule("save", "true", "false: backward visits always compute the forward again"),
                   switch_rule("copy_back_clean", "false", "true: parameters of forward visits are copied to the host"),
                   switch_rule("sharp", "true", "false: one model after the other"),
                   switch_rule("share", "true", "false: each model has frozen parameters of its own")}};
}

std::filesystem::path output_of(const value_table& root, const std::string& name) {
  if (const auto* const output = content_of<std::string>(find_path(root, "run.output"))) return *output;
  const auto* const own = content_of<std::string>(find_path(root, "run.name"));
  return std::filesystem::path{"runs"} / (own ? *own : name);
}

session_options read_session_options(const value_table& root, const std::string& name) {
  const value_table& run = sub_table(root, "run");
  const value_table& host = sub_table(root, "host");
  session_options o{.name = name};
  if (const value* const v = run.find("name")) o.name = checked_name(*v, "run.name");
  o.output = output_of(root, o.name);
  assign(run, "seed", o.seed);
  assign(run, "tensorboard", o.tensorboard);
  assign(run, "trusted_policy", o.policies.trusted);
  if (const value* const memory = host.find("memory")) o.host_memory = read_host_memory(*memory);
  assign(host, "optimizer_threads", o.optimizer_threads);
  o.optimizer_on = read_optimizer_place(run);
  o.checkpoint = read_checkpoint(sub_table(run, "checkpoint"));
  o.goal = read_run_goal(root);
  o.terms = read_run_terms(root);
  o.ablation = read_ablation(sub_table(root, "ablation"));
  return o;
}

}  // namespace hydra::apps
