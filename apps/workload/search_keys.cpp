#include "apps/workload/search_keys.hpp"

#include "actors/selection/search_rules.hpp"
#include "actors/session/search_rule_registry.hpp"
#include "apps/workload/convert.hpp"
#include "apps/workload/model_keys.hpp"
#include "apps/workload/policy_keys.hpp"
#include "apps/workload/search_space.hpp"
#include "apps/workload/to_toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>

namespace hydra::apps {

namespace {

constexpr std::array search_kinds{search_kind::grid, search_kind::random, search_kind::halving, search_kind::hyperband,
                                  search_kind::asha, search_kind::pbt,    search_kind::own};
constexpr number_range positive_count{.least = 1, .most = 1e9};

key_rule steps_rule(std::string name, std::string help) {
  return required(integer_rule(std::move(name), positive_count, "", std::move(help)));
}

std::vector<key_rule> drawing_keys() {
  return {integer_rule(
              "samples", {2, 10000}, "",
              "models that are drawn from the space; default: none, the search chooses among the models of the file"),
          integer_rule("seed", {.least = 0}, "0", "of what is drawn"),
          {.name = "space", .kind = value_kind::space, .help = "what varies, by keys as those of [model.grid]"}};
}

std::vector<key_rule> with(std::vector<key_rule> more) {
  std::vector<key_rule> keys = drawing_keys();
  std::ranges::move(more, std::back_inserter(keys));
  return keys;
}

std::vector<key_rule> rung_keys() {
  return with({steps_rule("first", "steps to the first rung, where models are compared"),
               integer_rule("factor", {2, 1000}, "3",
                            "1 of this many models continues, and the next rung is this many times as far")});
}

std::vector<key_rule> keys_of(search_kind kind) {
  switch (kind) {
    case search_kind::grid:
      return {};
    case search_kind::random:
      return drawing_keys();
    case search_kind::pbt:
      return with({steps_rule("every", "steps between comparisons")});
    case search_kind::own:
      return with({required(plain_rule("rule", value_kind::policy, "",
                                       "of a plug-in, with its options; it decides whenever a model is evaluated"))});
    default:
      return rung_keys();
  }
}

// -- checks of the models ---------------------------------------------------------------------------------------------

/// A checked [search] with the models that it chooses among.
struct search_site {
  const value& search;
  const value_table& keys;
  const std::vector<model_entry>& models;
  search_kind kind;

  place at(std::string_view key) const { return place_of(keys, key, search.where); }
};

const value_table& keys_of(const model_entry& m) { return std::get<value_table>(m.keys.content); }

place place_in(const model_entry& m, std::string_view key) { return place_of(keys_of(m), key, m.keys.where); }

void check_some_models(const search_site& s) {
  if (s.models.size() > 1) return;
  refuse(s.search.where, "search",
         fmt::format("there is one model, and nothing to choose from; add {}",
                     s.kind == search_kind::grid ? "[model.grid]" : "samples = N and [search.space], or [model.grid]"));
}

/// The steps of each model, which rungs are counted in.
std::uint32_t common_steps(const search_site& s) {
  for (const model_entry& m : s.models)
    if (m.description.steps == 0)
      refuse(place_in(m, "epochs"), "model.epochs",
             fmt::format("{} counts steps: give model \"{}\" steps = N instead of epochs", to_string(s.kind),
                         m.description.name));
  const model_entry& first = s.models.front();
  for (const model_entry& m : s.models)
    if (m.description.steps != first.description.steps)
      refuse(place_in(m, "steps"), "model.steps",
             fmt::format("{} of {} and {} of {}; {} compares models that train equally long", first.description.steps,
                         first.description.name, m.description.steps, m.description.name, to_string(s.kind)));
  return first.description.steps;
}

/// A quarter of fewer is none, and copies without other values would be the same models again.
void check_population(const search_site& s, const search_settings& settings) {
  if (s.models.size() < 4)
    refuse(s.search.where, "search",
           fmt::format("pbt replaces the worst quarter of the models, and {} have none; 4 or more are needed",
                       s.models.size()));
  if (settings.space.empty())
    refuse(s.search.where, "search.space",
           "pbt gives copies of models other values, and needs to know of which keys, such as "
           "\"optimizer.learning_rate\" = { log_uniform = [1e-5, 1e-2] }");
}

/// Copies begin from checkpoints. `root`: the workload.
void check_saving(const value_table& root) {
  const value* const keep = find_path(root, "run.checkpoint.keep");
  if (keep && to<std::int64_t>(*keep) == 0)
    refuse(keep->where, "run.checkpoint.keep",
           "is 0, but pbt begins models from checkpoints of others; keep 1 or more");
}

/// One's own rule decides whenever a model is evaluated.
void check_evaluations(const search_site& s) {
  for (const model_entry& m : s.models)
    if (!m.description.validate || m.description.validate->every_steps == 0)
      refuse(place_in(m, "validate"), "model.validate.every_steps",
             fmt::format("{} is evaluated at its end only, when nothing is left to decide; say after how many steps",
                         m.description.name));
}

void check_rungs(const search_site& s, const search_settings& settings) {
  const std::uint32_t interval = evaluation_interval(settings);
  const char* const key = s.kind == search_kind::pbt ? "every" : "first";
  if (interval >= settings.steps)
    refuse(s.at(key), fmt::format("search.{}", key),
           fmt::format("{} is not below the {} steps of the models, so that nothing would be decided", interval,
                       settings.steps));
  for (const model_entry& m : s.models) {
    const std::uint32_t evaluated = m.description.validate ? m.description.validate->every_steps : 0;
    if (evaluated > 0 && interval % evaluated == 0) continue;
    refuse(place_in(m, "validate"), "model.validate.every_steps",
           fmt::format("{} is evaluated {}, but {} needs an evaluation every {} steps; every_steps must divide {}, or "
                       "leave it out",
                       m.description.name, evaluated > 0 ? fmt::format("every {} steps", evaluated) : "at its end only",
                       to_string(s.kind), interval, interval));
  }
}

/// A new trial continues from the state of another one, which it must fit.
void check_changeable(const searched_axis& axis) {
  const std::string& key = axis.draws.key;
  const bool changeable = (key.starts_with("optimizer.") && key != "optimizer.kind") || key.starts_with("schedule.");
  if (!changeable)
    refuse(axis.where, "search.space." + axis.key,
           "pbt changes models on their way, which is possible for keys of optimizer (but for kind) and schedule only");
}

std::vector<key_value> drawn_keys(const model_entry& m, const std::vector<searched_key>& space) {
  std::vector<key_value> keys;
  for (const searched_key& searched : space)
    if (const value* const v = find_path(keys_of(m), searched.key)) keys.push_back({searched.key, inline_toml(*v)});
  return keys;
}

void read_numbers(const value_table& keys, search_settings& s) {
  assign(keys, "first", s.first);
  assign(keys, "factor", s.factor);
  assign(keys, "every", s.every);
  assign(keys, "seed", s.seed);
  std::string metric;
  assign(keys, "metric", metric);
  if (metric == to_string(search_metric::accuracy)) s.metric = search_metric::accuracy;
}

void read_rule(const value& rule, plugin_set* plugins, search_settings& s) {
  const named_choice choice = read_choice(rule);
  s.own = std::filesystem::path{choice.which}.filename().string();
  if (!plugins) return;
  located(choice.where, "search.rule", [&] {
    const known_search_rule known = find_search_rule(*plugins, choice.which);
    s.own = known.name;
    s.make = known.make;
    s.options = complete_numbers(fmt::format("rule \"{}\"", known.name), choice.options, known.options);
  });
}

void read_axes(const search_site& site, search_settings& s) {
  const value* const space = site.keys.find("space");
  if (!space) return;
  for (const searched_axis& axis : read_space(*space, model_rules())) {
    if (site.kind == search_kind::pbt) check_changeable(axis);
    s.space.push_back(axis.draws);
  }
}

}  // namespace

table_rules search_rules() {
  table_rules rules{.selector = "kind"};
  for (const search_kind kind : search_kinds) rules.variants.push_back({to_string(kind), keys_of(kind)});
  rules.keys = {selector_rule("kind", rules.variants, ""),
                {.name = "metric",
                 .help = "of evaluations: the smallest validation loss or the largest accuracy is best",
                 .fallback = to_string(search_settings{}.metric),
                 .choices = {to_string(search_metric::validation), to_string(search_metric::accuracy)}}};
  return rules;
}

const value* evaluation_key(const value_table& search) {
  const value* const first = search.find("first");
  return first ? first : search.find("every");
}

std::optional<search_settings> read_search(const value_table& root, const std::vector<model_entry>& models,
                                           plugin_set* plugins) {
  const value* const search = root.find("search");
  if (!search) return std::nullopt;
  const auto& keys = std::get<value_table>(search->content);
  const auto name = to<std::string>(*keys.find("kind"));
  const search_site site{*search, keys, models,
                         *std::ranges::find(search_kinds, name, [](search_kind k) { return to_string(k); })};
  check_some_models(site);
  search_settings s{.kind = site.kind};
  read_numbers(keys, s);
  read_axes(site, s);
  for (const model_entry& m : models) s.trials.push_back({m.description.name, drawn_keys(m, s.space)});
  if (!has_rule(s.kind)) return s;
  s.steps = common_steps(site);
  if (const value* const rule = keys.find("rule")) {
    read_rule(*rule, plugins, s);
    check_evaluations(site);
  } else {
    if (s.kind == search_kind::pbt) {
      check_population(site, s);
      check_saving(root);
    }
    check_rungs(site, s);
  }
  return s;
}

std::optional<std::string> note_on_search(const workload& w) {
  const auto rule = w.search ? make_search_rule(*w.search) : nullptr;
  if (!rule) return std::nullopt;
  return fmt::format("search {}; the predicted times are those of all models to their end", rule->describe());
}

}  // namespace hydra::apps
