#include "apps/workload/model_keys.hpp"

#include "apps/workload/adapter_keys.hpp"
#include "apps/workload/chain_keys.hpp"
#include "apps/workload/convert.hpp"
#include "apps/workload/names.hpp"
#include "apps/workload/optimizer_keys.hpp"
#include "models/loss.hpp"
#include "runtime/base/counted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace hydra::apps {

namespace {

constexpr number_range count{.least = 1, .most = 1e9};

key_rule count_rule(std::string name, std::string fallback, std::string help) {
  return integer_rule(std::move(name), count, std::move(fallback), std::move(help));
}

/// Whether a resumed run may train for another number of steps is decided from its checkpoints.
key_rule length_rule(std::string name, std::string help) {
  return changeable(count_rule(std::move(name), "", std::move(help)));
}

/// A time that only affects scheduling: results do not depend on it.
key_rule time_rule(std::string name, std::string fallback, std::string help) {
  return changeable(plain_rule(std::move(name), value_kind::time, std::move(fallback), std::move(help)));
}

table_rules validation_rules() {
  return {.keys = {count_rule("every_steps", "", "default: after the last step only"),
                   count_rule("batches", "", "from the beginning of the validation data; default: all"),
                   changeable(switch_rule("keep_best", "false",
                                          "save the state of the evaluation with the smallest loss, too"))}};
}

std::optional<validation_options> read_validation(const value_table& table) {
  const value* const v = table.find("validate");
  if (!v) return std::nullopt;
  const auto& keys = std::get<value_table>(v->content);
  validation_options o;
  assign(keys, "every_steps", o.every_steps);
  assign(keys, "batches", o.batches);
  assign(keys, "keep_best", o.keep_best);
  return o;
}

constexpr std::array base_formats{base_format::as_computed, base_format::bf16, base_format::nf4};

key_rule base_rule() {
  key_rule rule{
      .name = "base",
      .help =
          "format in which frozen parameters are stored, copied and kept on devices; fp32: as devices compute "
          "with them; nf4: weights of linear maps in 4 bits, as QLoRA",
      .fallback = to_string(base_format::as_computed)};
  for (const base_format f : base_formats) rule.choices.push_back(to_string(f));
  return rule;
}

base_format read_base(const std::string& name) {
  return *std::ranges::find(base_formats, name, [](base_format f) { return to_string(f); });
}

/// A number, or "auto": the planner chooses it.
key_rule automatic_rule(std::string name, std::string help) {
  key_rule rule = count_rule(std::move(name), "1", std::move(help));
  rule.kind = value_kind::integer_or_auto;
  return rule;
}

key_rule side_by_side_rule() {
  key_rule rule = switch_rule("side_by_side", "false",
                              "several devices compute pieces of one layer at the same time; decides no results");
  rule.kind = value_kind::boolean_or_auto;
  return rule;
}

table_rules parallel_rules() {
  return {
      .keys = {
          automatic_rule("replicas",
                         "groups of micro-batches that devices may visit at the same time; decides results"),
          plain_rule("replicas_until", value_kind::text, "none",
                     "name of a layer: from there on all micro-batches of a step are visited together, with one "
                     "gradient sum; decides results"),
          changeable(automatic_rule(
              "waves",
              "parts of a replica's micro-batches, of which a unit visits one, as in a pipeline; decides no results")),
          automatic_rule("pieces",
                         "into which embedding, blocks, hidden dense layers and a language model's head are divided, "
                         "so that a device needs to hold only one at a time; decides results"),
          changeable(side_by_side_rule()),
          changeable(count_rule("shards", "1",
                                "of a pipeline: at least so many, also if fewer fit; decides no results")),
          changeable(count_rule(
              "nodes", "1",
              "of a cluster, that train the model together, each some of its replicas; decides no results"))}};
}

std::uint32_t read_automatic(const value_table& table, std::string_view key) {
  const value* const v = table.find(key);
  return !v ? 1 : v->as<std::string>() ? 0 : to<std::uint32_t>(*v);
}

parallel_options read_parallel(const value_table& table) {
  const value_table& keys = sub_table(table, "parallel");
  return {.replicas = read_automatic(keys, "replicas"), .waves = read_automatic(keys, "waves")};
}

chain_description read_pieces(chain_description chain, const value_table& table, const place& where) {
  const value_table& keys = sub_table(table, "parallel");
  const std::uint32_t pieces = read_automatic(keys, "pieces");
  const value* const beside = keys.find("side_by_side");
  const bool chosen = !beside || beside->as<bool>();
  const std::optional side_by_side = chosen ? std::optional{beside && to<bool>(*beside)} : std::nullopt;
  if (pieces == 0) return with_open_pieces(std::move(chain), std::nullopt, side_by_side);
  if (pieces > 1 && !chosen) return with_open_pieces(std::move(chain), pieces, side_by_side);
  if (pieces > 1) return with_pieces(std::move(chain), pieces, *side_by_side);
  if (side_by_side.value_or(true) && !keys.find("pieces"))
    refuse(place_of(table, "parallel", where), "model.parallel.side_by_side",
           "pieces are asked for side by side, but layers are not divided; give \"pieces\", too, or leave it out");
  return chain;
}

/// Requires its cuts.
void read_shards(model_description& m, const value_table& table, const place& where) {
  const std::uint32_t shards = read_automatic(sub_table(table, "parallel"), "shards");
  if (auto* const rule = std::get_if<balanced_cut>(&m.cuts))
    rule->shards = shards;
  else if (shards > 1)
    refuse(place_of(table, "parallel", where), "model.parallel.shards",
           fmt::format("{} are asked for, and `cuts` has others; leave one of the two out", shards));
}

cut_choice read_cuts(const value_table& table) {
  const value* const v = table.find("cuts");
  if (!v) return balanced_cut{};
  if (const auto* text = v->as<std::string>()) {
    if (*text == "balanced") return balanced_cut{};
    return *text == "greedy" ? cut_choice{greedy_cut{}} : cut_choice{saved_cuts{*text}};
  }
  cut_points points;
  for (const value& layer : *v->as<value_list>()) points.push_back(to<std::size_t>(layer));
  return points;
}

void check_length(const value_table& table, const place& where) {
  const bool epochs = table.find("epochs"), steps = table.find("steps");
  if (epochs && steps)
    refuse(place_of(table, "steps", where), "model.steps",
           "epochs is given too; exactly one of epochs and steps is allowed");
  if (!epochs && !steps) refuse(where, "model.steps", "missing; exactly one of epochs and steps is required");
}

void check_split(const model_description& m, const value_table& table, const place& where) {
  if (m.batch_size % m.micro_batches == 0) return;
  refuse(place_of(table, "micro_batches", where), "model.micro_batches",
         fmt::format("{} micro-batches do not divide a batch of {} samples evenly", m.micro_batches, m.batch_size));
}

void check_parallel(const model_description& m, const value_table& table, const place& where) {
  const auto [replicas, waves] = m.parallel.or_one();
  if (m.micro_batches % replicas != 0) {
    refuse(place_of(table, "parallel", where), "model.parallel.replicas",
           fmt::format("{} replicas do not divide {} micro-batches evenly", replicas, m.micro_batches));
  }
  if (const auto each = m.micro_batches / replicas; each % waves != 0) {
    refuse(place_of(table, "parallel", where), "model.parallel.waves",
           fmt::format("{} waves do not divide the {} micro-batches of a replica evenly", waves, each));
  }
}

std::string read_meeting(const model_description& m, const value_table& table) {
  const value* const layer = sub_table(table, "parallel").find("replicas_until");
  if (!layer) return {};
  const bool alone = !sub_table(table, "parallel").find("replicas");
  const auto name = to<std::string>(*layer);
  if (alone || m.parallel.waves != 1 || m.nodes > 1)
    refuse(layer->where, "model.parallel.replicas_until",
           fmt::format("replicas meet before layer \"{}\"{}", name,
                       alone ? ", but there are none: give \"replicas\", too"
                             : ", all at once and in one place: leave out \"waves\" and \"nodes\""));
  return name;
}

void check_nodes(const model_description& m, const value_table& table, const place& where) {
  if (m.parallel.replicas == 0 || (m.nodes > 0 && m.nodes <= m.parallel.replicas)) return;
  refuse(
      place_of(table, "parallel", where), "model.parallel.nodes",
      fmt::format("{} nodes cannot share {}: each has at least one", m.nodes, counted(m.parallel.replicas, "replica")));
}

void check_deadline(const model_description& m, const value_table& table, const place& where) {
  if (!m.deadline || *m.deadline > m.arrival) return;
  refuse(place_of(table, "deadline", where), "model.deadline",
         fmt::format("{} is not after the model's arrival at {}; both count from the start of the run",
                     hydra::to_string(*m.deadline), hydra::to_string(m.arrival)));
}

void check_optimizer(const model_description& m, const value_table& table, const place& where) {
  located(place_of(table, "optimizer", where), "model.optimizer", [&] { validate(m.optimizer); });
  located(place_of(table, "schedule", where), "model.schedule", [&] { validate(m.optimizer.schedule); });
}

void read_numbers(const value_table& table, model_description& m) {
  assign(table, "batch_size", m.batch_size);
  assign(table, "micro_batches", m.micro_batches);
  assign(table, "epochs", m.epochs);
  assign(table, "steps", m.steps);
  assign(table, "priority", m.priority);
  assign(table, "arrival", m.arrival);
  if (const value* const deadline = table.find("deadline")) m.deadline = to<duration>(*deadline);
  if (const value* const seed = table.find("seed")) m.seed = to<std::uint64_t>(*seed);
  assign(table, "begins", m.begins);
}

}  // namespace

table_rules model_rules() {
  return {
      .keys = {
          {.name = "name", .help = "unique; may contain {grid keys}", .required = true},
          required(table_rule("chain", chain_rules(), "family and its options, or from = \"FOLDER\" of a checkpoint")),
          {.name = "data", .help = "NAME of a [data.NAME]", .required = true},
          required(
              count_rule("batch_size", "", "samples per optimizer step; with packing a sample has several records")),
          count_rule("micro_batches", "1", "parts that a batch is computed in"),
          table_rule("parallel", parallel_rules(), "how a step, and a layer, are divided"),
          length_rule(
              "epochs",
              "passes over the training data, in whole batches: what is left over is in none; either this or steps"),
          length_rule("steps", "either this or epochs"),
          required(table_rule("optimizer", optimizer_rules(), "update rule")),
          table_rule("schedule", schedule_rules(), "of the learning rate"),
          {.name = "loss", .help = "what is minimised", .fallback = "the family's", .choices = loss_names()},
          integer_rule("loss_chunk", {0, 1e9}, "0",
                       "rows (tokens) for which a language model's head and loss are computed at a time, so that the "
                       "logits of a large vocabulary are never whole in memory; 0 = all"),
          plain_rule("freeze", value_kind::text_list, "none",
                     "parameters that are not trained, by names in the checkpoint: \"*\" for any text, \"!\" before an "
                     "exception, the last match decides"),
          table_rule("adapter", adapter_rules(),
                     "trains maps of low rank beside frozen parameters (LoRA); default: none"),
          base_rule(),
          {.name = "cuts",
           .kind = value_kind::cut_list,
           .help = "where the chain is cut",
           .fallback = "balanced",
           .may_change = true,
           .choices = {"balanced", "greedy"}},
          table_rule("validate", validation_rules(), "on the validation data; default: at the end, on all"),
          integer_rule("seed", {.least = 0}, "the run's", "of initial values, dropout and data order"),
          changeable(plain_rule(
              "begins", value_kind::folder, "none",
              "checkpoint of a model with the same parameters, saved between two steps: its parameters, optimizer "
              "state, losses and step are the start, rates, schedule, data, batches and steps may be others")),
          {.name = "on_nan",
           .help = "stop: the model fails, the others continue",
           .fallback = "stop",
           .choices = {"stop", "ignore"}},
          changeable(real_rule("priority", {.least = 0, .most = 1e9, .open_least = true}, "1",
                               "weight of its completion, for policies and the report")),
          time_rule("deadline", "none", "to be complete by then, since the start of the run"),
          time_rule("arrival", "0s", "when the model joins, since the start of the run"),
          {.name = "grid", .kind = value_kind::grid, .help = "every combination becomes a model"}}};
}

model_description read_model(const value& model) {
  const auto& table = std::get<value_table>(model.content);
  model_description m;
  m.name = checked_model_name(*table.find("name"), "model.name");
  read_numbers(table, m);
  check_length(table, model.where);
  check_split(m, table, model.where);
  m.parallel = read_parallel(table);
  check_parallel(m, table, model.where);
  m.nodes = read_automatic(sub_table(table, "parallel"), "nodes");
  check_nodes(m, table, model.where);
  m.replicas_until = read_meeting(m, table);
  check_deadline(m, table, model.where);
  m.optimizer = read_update_options(table);
  check_optimizer(m, table, model.where);
  m.chain = read_chain(table);
  if (const value* const loss = table.find("loss")) m.chain = with_loss(m.chain, make_loss(to<std::string>(*loss)));
  m.chain = read_adapted(table, with_frozen(std::move(m.chain), freezing{read_list<std::string>(table, "freeze")}));
  if (const value* const base = table.find("base"))
    m.chain = with_base(std::move(m.chain), read_base(to<std::string>(*base)));
  if (const value* const rows = table.find("loss_chunk"))
    m.chain = with_loss_chunk(std::move(m.chain), to<std::int64_t>(*rows));
  m.chain = read_pieces(std::move(m.chain), table, model.where);
  m.cuts = read_cuts(table);
  read_shards(m, table, model.where);
  m.validate = read_validation(table);
  std::string on_nan = "stop";
  assign(table, "on_nan", on_nan);
  m.stop_on_nan = on_nan == "stop";
  return m;
}

}  // namespace hydra::apps
