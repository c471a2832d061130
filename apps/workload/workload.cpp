#include "apps/workload/workload.hpp"

#include "actors/plugin/known_plugins.hpp"
#include "actors/session/device_registry.hpp"
#include "apps/workload/check.hpp"
#include "apps/workload/check_utf8.hpp"
#include "apps/workload/convert.hpp"
#include "apps/workload/data_kinds.hpp"
#include "apps/workload/expense_keys.hpp"
#include "apps/workload/expand_search.hpp"
#include "apps/workload/foreign_code.hpp"
#include "apps/workload/grid.hpp"
#include "apps/workload/model_keys.hpp"
#include "apps/workload/parse.hpp"
#include "apps/workload/paths.hpp"
#include "apps/workload/run_keys.hpp"
#include "apps/workload/schema.hpp"
#include "apps/workload/search_keys.hpp"
#include "apps/workload/to_toml.hpp"
#include "apps/workload/varied_keys.hpp"
#include "runtime/base/nearest.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/text_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

namespace hydra::apps {

namespace {

device_entry read_device(const value& v, const std::vector<device_kind>& kinds) {
  const auto& keys = std::get<value_table>(v.content);
  const auto kind = std::ranges::find(kinds, to<std::string>(*keys.find("kind")), &device_kind::name);
  device_entry d{*kind, 1, v};
  assign(keys, "count", d.count);
  return d;
}

std::map<std::string, data_entry> read_all_data(const value_table& root) {
  std::map<std::string, data_entry> all;
  for (const table_entry& e : sub_table(root, "data").entries)
    all.emplace(e.key, data_entry{read_data(std::get<value_table>(e.is.content)), e.is.where});
  return all;
}

/// The NAME of a [data.NAME] that is there.
std::string read_data_name(const value& model, const std::map<std::string, data_entry>& all) {
  const value& name = *std::get<value_table>(model.content).find("data");
  const auto& text = std::get<std::string>(name.content);
  if (all.contains(text)) return text;
  std::vector<std::string> known;
  for (const auto& [each, entry] : all) known.push_back(each);
  refuse(name.where, "model.data", fmt::format("there is no [data.{}]{}", text, known_instead(text, known)));
}

void check_unique_name(const model_entry& added, const std::vector<model_entry>& models) {
  const auto same = [&](const model_entry& m) { return m.description.name == added.description.name; };
  const auto first = std::ranges::find_if(models, same);
  if (first == models.end()) return;
  const value& name = *std::get<value_table>(added.keys.content).find("name");
  refuse(name.where, "model.name",
         fmt::format(
             "\"{}\" is used twice (first at {}); names are unique, and a grid's name contains each key as {{key}}",
             shown(added.description.name), to_string(first->keys.where)));
}

std::vector<model_entry> read_models(const value_table& root, const std::map<std::string, data_entry>& data) {
  std::vector<model_entry> models;
  for (const value& v : sub_tables(root, "model")) {
    model_entry m{read_model(v), read_data_name(v, data), v};
    check_unique_name(m, models);
    models.push_back(std::move(m));
  }
  return models;
}

/// A best state is a checkpoint in addition to the newest ones.
void check_kept(const workload& w) {
  if (w.options.checkpoint.keep > 0) return;
  for (const model_entry& m : w.models) {
    if (!m.description.validate || !m.description.validate->keep_best) continue;
    refuse(place_of(std::get<value_table>(m.keys.content), "validate", m.keys.where), "model.validate.keep_best",
           "true asks for a saved state, but run.checkpoint.keep = 0 saves nothing; keep 1 or more, or no best state");
  }
}

/// A key that must not be an empty list or table.
void check_some(const value_table& root, std::string_view key) {
  const value& v = *root.find(key);
  const auto* list = v.as<value_list>();
  if (list ? list->empty() : v.as<value_table>()->entries.empty()) refuse(v.where, key, "at least one is needed");
}

/// With the run's name, which the file's name may have decided.
value_table with_name(value_table root, const session_options& options, const place& file) {
  if (!find_path(root, "run.name")) set_path(root, "run.name", text_value(options.name, file));
  const auto run = std::ranges::find(root.entries, "run", &table_entry::key);
  std::rotate(root.entries.begin(), run, std::next(run));  // [run] comes first
  return root;
}

/// The plug-ins of a file and the device kinds that are known with them.
struct brought {
  std::vector<plugin_file> files;
  std::shared_ptr<plugin_set> plugins;  ///< null: the file's are not loaded
  std::vector<device_kind> kinds;  ///< and those that need none of them
};

/// Before the file is checked: which keys a device takes depends on it.
brought load_plugins(const value_table& root) {
  brought b{read_plugins(root), make_plugin_set(), {}};
  for (const plugin_file& p : b.files) located(p.where, "run.plugins", [&] { b.plugins->load(p.file); });
  b.kinds = device_kinds_with(device_registry{b.plugins}.all());
  return b;
}

/// Erases a key from each table of a list or of a table of tables.
void erase_in_tables(value* tables, const std::string& key) {
  const auto erase_in = [&](value& each) {
    if (auto* const table = each.as<value_table>()) table->erase(key);
  };
  if (!tables) return;
  if (auto* const list = tables->as<value_list>()) std::ranges::for_each(*list, erase_in);
  if (auto* const named = tables->as<value_table>()) std::ranges::for_each(named->entries, erase_in, &table_entry::is);
}

/// Also removes what depends on devices: the policy, the plug-ins that provide either, and the cuts of models.
void leave_out_devices(value_table& root) {
  root.erase("device");
  leave_out_policy(root);
  erase_in_tables(root.find("model"), "cuts");
}

table_rules rules_without_devices() {
  table_rules rules = workload_rules();
  std::ranges::find(rules.keys, "device", &key_rule::name)->required = false;
  return rules;
}

/// Removes the files and folders that samples come from; the rules no longer require them.
void leave_out_samples(value_table& root, table_rules& rules) {
  table_rules& of_data = std::ranges::find(rules.keys, "data", &key_rule::name)->inner.at(0);
  for (table_variant& kind : of_data.variants)
    for (key_rule& rule : kind.keys) {
      if (!names_input(rule)) continue;
      rule.required = false;
      erase_in_tables(root.find("data"), rule.name);
    }
}

void expand_all_patterns(value_table& root) {
  for (table_entry& e : root.find("data")->as<value_table>()->entries) expand_patterns(*e.is.as<value_table>());
}

/// `no_trials`: names of models that the search does not have.
workload build(const value_table& root, const place& file, const brought& b,
               const std::vector<std::string>& no_trials = {}) {
  for (const char* key : {"data", "model"}) check_some(root, key);
  workload w;
  w.file = file;
  w.options = read_session_options(root, std::filesystem::path{*file.source}.stem().string());
  w.output_place = place_of(sub_table(root, "run"), "output", {file.source, 0});
  w.plugins = b.files;
  if (b.plugins) w.policy = read_policy(root, b.plugins);
  for (const value& v : sub_tables(root, "device")) w.devices.push_back(read_device(v, b.kinds));
  check_device_count(w.devices);
  check_expenses(root);
  w.data = read_all_data(root);
  w.models = read_models(root, w.data);
  check_kept(w);
  w.controllers = sub_tables(root, "controller");
  std::vector<model_entry> trials = w.models;
  std::erase_if(trials, [&](const model_entry& m) { return std::ranges::count(no_trials, m.description.name) > 0; });
  w.search = read_search(root, trials, b.plugins.get());
  w.as_run = with_name(root, w.options, file);
  check_utf8(w.as_run);
  w.expanded = to_toml(w.as_run);
  return w;
}

}  // namespace

workload read_workload(const std::filesystem::path& file, const std::vector<key_override>& overrides,
                       const path_places& places) {
  return parse_workload(read_text(file, text_kind::settings), file.string(), overrides, places);
}

namespace {

/// Devices of plug-ins that were left out.
void check_kinds(const value_table& root, const brought& b, const std::vector<plugin_file>& left_out) {
  const auto* const devices = content_of<value_list>(root.find("device"));
  for (const value& d : devices && !left_out.empty() ? *devices : value_list{}) {
    const auto* const keys = d.as<value_table>();
    const value* const kind = keys ? keys->find("kind") : nullptr;
    const auto* const name = content_of<std::string>(kind);
    if (!name || std::ranges::count(b.kinds, *name, &device_kind::name) > 0) continue;
    refuse(kind->where, "device.kind",
           fmt::format("\"{}\" is of a plug-in; {}: give it by --plugin FILE", *name, not_loaded(left_out)));
  }
}

/// `left_out`: plug-ins that the table named.
workload read_table(value_table root, const std::string& name, const std::vector<key_override>& overrides,
                    const path_places& places, const std::vector<plugin_file>& left_out = {}) {
  if (!places.began_in.empty()) resolve_paths(root, workload_rules(), places.began_in);
  const std::vector<key_override> of_members = apply_overrides(root, overrides);
  const value_table written = root;
  expand_search(root, model_rules());
  expand_grids(root, model_rules());
  apply_to_members(root, of_members);
  if (places.moved) places.moved(root);
  const place file{std::make_shared<std::string>(name), 1};
  resolve_plugins(root);
  const brought b = load_plugins(root);
  check_kinds(root, b, left_out);
  check_table({root, file, ""}, workload_rules(b.kinds));
  check_some(root, "device");
  expand_all_patterns(root);
  workload w = build(root, file, b);
  w.notes = notes_on_varied_keys(written, model_rules());
  return w;
}

}  // namespace

workload parse_workload(std::string_view text, const std::string& name, const std::vector<key_override>& overrides,
                        const path_places& places) {
  return read_table(parse_toml(text, name), name, overrides, places);
}

workload read_workload_of_run(const std::filesystem::path& file, const std::vector<key_override>& overrides,
                              const path_places& places) {
  value_table root = parse_toml(read_text(file, text_kind::settings), file.string());
  const std::vector<plugin_file> left_out = leave_out_code(root);
  return read_table(std::move(root), file.string(), overrides, places, left_out);
}

value_list parse_models(std::string_view text, const std::string& name) {
  value_table root = parse_toml(text, name);
  for (const table_entry& e : root.entries)
    if (e.key != "model")
      refuse(e.where, e.key,
             "only [[model]] tables can be added to a run; what else they name comes from its workload");
  expand_grids(root, model_rules());
  const auto* list = content_of<value_list>(root.find("model"));
  if (!list || list->empty()) refuse(place{std::make_shared<std::string>(name), 1}, "model", "at least one is needed");
  return *list;
}

namespace {

/// With other models; its search is the same.
workload with_all_models(const workload& w, value_list models) {
  value_table root = w.as_run;
  root.find("model")->content = std::move(models);
  const brought b = load_plugins(root);
  check_table({root, w.file, ""}, workload_rules(b.kinds));
  expand_all_patterns(root);
  value_table without_search = root;
  without_search.erase("search");
  workload more = build(without_search, w.file, b);
  more.options = w.options;
  more.output_place = w.output_place;
  more.search = w.search;
  more.as_run = std::move(root);
  more.expanded = to_toml(more.as_run);
  return more;
}

const value_list& models_of(const workload& w) { return std::get<value_list>(w.as_run.find("model")->content); }

}  // namespace

workload with_models(const workload& w, const value_list& models) {
  value_list all = models_of(w);
  all.insert(all.end(), models.begin(), models.end());
  return with_all_models(w, std::move(all));
}

workload without_models(const workload& w, const std::vector<std::string>& names) {
  value_list all;
  for (std::size_t i = 0; i < w.models.size(); ++i)  // in the same order
    if (std::ranges::count(names, w.models[i].description.name) == 0) all.push_back(models_of(w)[i]);
  return with_all_models(w, std::move(all));
}

workload read_models(const std::filesystem::path& file, const path_places& places,
                     const std::vector<std::string>& no_trials) {
  value_table root = parse_toml(read_text(file, text_kind::settings), file.string());
  expand_search(root, model_rules());
  expand_grids(root, model_rules());
  erase_in_tables(root.find("model"), "begins");
  leave_out_devices(root);
  table_rules rules = rules_without_devices();
  if (!places.began_in.empty()) {
    resolve_paths(root, rules, places.began_in);
    leave_out_samples(root, rules);
  }
  if (places.moved) places.moved(root);
  const place top{std::make_shared<std::string>(file.string()), 1};
  check_table({root, top, ""}, rules);
  expand_all_patterns(root);
  return build(root, top, {}, no_trials);
}

}  // namespace hydra::apps
