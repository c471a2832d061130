#include "apps/workload/override.hpp"

#include "apps/workload/expand_search.hpp"
#include "apps/workload/grid.hpp"
#include "apps/workload/model_keys.hpp"
#include "apps/workload/other_tools.hpp"
#include "apps/workload/parse.hpp"
#include "apps/workload/to_toml.hpp"
#include "runtime/base/nearest.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/trimmed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace hydra::apps {

namespace {

constexpr const char* allowed_form =
    "allowed is --set key=value with a dotted key, such as run.seed=3 or model.steps=5";

// -- text -------------------------------------------------------------------------------------------------------------

bool has_empty_part(std::string_view path) {
  return path.empty() || path.front() == '.' || path.back() == '.' || path.find("..") != std::string_view::npos;
}

/// A text without TOML syntax: "12MiB", "sharded-lrtf", "corpus/train.txt".
bool is_bare_word(std::string_view text) {
  const auto structural = [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == '\x7f' ||
           std::string_view{"\"'[]{},=#\\"}.find(c) != std::string_view::npos;
  };
  return !text.empty() && std::ranges::none_of(text, structural);
}

value read_value(std::string_view text, const place& where, std::string_view path) {
  std::optional<value> v = parse_value(text);
  if (!v && !is_bare_word(text))
    refuse(
        where, path,
        fmt::format("\"{}\" is not a value; allowed are TOML values (3, 1e-3, true, \"text\", [0, 2]) and bare words",
                    shown(text)));
  if (!v) v = text_value(std::string{text}, where);
  move_to(*v, where);  // whatever line the parser counts
  return *v;
}

// -- tree -------------------------------------------------------------------------------------------------------------

using halves = std::pair<std::string_view, std::string_view>;

/// Of "a.b.c": "a" and "b.c".
halves split_first(std::string_view path) {
  const auto dot = path.find('.');
  return dot == std::string_view::npos ? halves{path, ""} : halves{path.substr(0, dot), path.substr(dot + 1)};
}

/// Name and key of "NAME.KEY"; names may contain dots, the longest one wins.
std::optional<halves> split_name(std::string_view path, const std::vector<std::string>& names) {
  std::optional<halves> best;
  for (const std::string& name : names)
    if (path.starts_with(name + ".") && (!best || name.size() > best->first.size()))
      best = halves{path.substr(0, name.size()), path.substr(name.size() + 1)};
  return best;
}

/// Appends a list to the existing one; an existing value that is not a list is kept, to be refused later.
value behind(const value* there, value more) {
  if (!there) return more;
  const auto* const list = there->as<value_list>();
  if (!list) return *there;
  auto& all = std::get<value_list>(more.content);
  all.insert(all.begin(), list->begin(), list->end());
  return more;
}

/// Sets a key of one table; refuses a path through something that is not a table.
void set_key(value_table& table, std::string_view path, const key_override& o) {
  for (auto dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.', dot + 1)) {
    const value* const outer = find_path(table, path.substr(0, dot));
    if (outer && !outer->as<value_table>())
      refuse(o.is.where, o.path,
             fmt::format("\"{}\" is {} ({}) and holds no keys", shown(path.substr(0, dot)), describe(*outer),
                         to_string(outer->where)));
  }
  set_path(table, path, o.adds ? behind(find_path(table, path), o.is) : o.is);
}

/// The tables of [[key]]; refuses if there are none to change.
std::vector<value*> tables_of(value_table& root, std::string_view key, const key_override& o) {
  auto* list = content_of<value_list>(root.find(key));
  std::vector<value*> tables;
  for (std::size_t i = 0; list && i < list->size(); ++i)
    if ((*list)[i].as<value_table>()) tables.push_back(&(*list)[i]);
  if (tables.empty()) refuse(o.is.where, o.path, fmt::format("there is no [[{}]] that could be changed", key));
  return tables;
}

void set_in_devices(value_table& root, std::string_view key, const key_override& o) {
  for (value* const device : tables_of(root, "device", o)) set_key(*device->as<value_table>(), key, o);
}

void set_in_data(value_table& root, std::string_view rest, const key_override& o) {
  auto* all = content_of<value_table>(root.find("data"));
  std::vector<std::string> names;
  if (all) std::ranges::transform(all->entries, std::back_inserter(names), &table_entry::key);
  const auto parts = split_name(rest, names);
  if (!parts) {
    const auto [name, key] = split_first(rest);
    refuse(o.is.where, o.path, fmt::format("there is no [data.{}]{}", name, known_instead(name, names)));
  }
  value* const named = all->find(parts->first);
  if (!named->as<value_table>()) refuse(o.is.where, o.path, fmt::format("[data.{}] is not a table", parts->first));
  set_key(*named->as<value_table>(), parts->second, o);
}

// -- models -----------------------------------------------------------------------------------------------------------

std::string name_of(const value& model) { return model.as<value_table>()->text("name"); }

std::vector<std::string> names_of_models(const std::vector<value*>& models) {
  std::vector<std::string> names;
  for (const value* m : models) names.push_back(name_of(*m));
  std::erase(names, "");
  return names;
}

/// Of one value, the list for the grid; "[...]" where it is not known for which key it stands.
std::string list_for(const varied_key& varied, std::string_view key, const value& given) {
  const bool one = (key == varied.key || key == varied.path) && !given.as<value_list>() && !given.as<value_table>();
  return one ? fmt::format("[{}]", inline_toml(given)) : "[...]";
}

[[noreturn]] void refuse_varied(const varied_key& varied, std::string_view key, const key_override& o) {
  refuse(o.is.where, o.path,
         fmt::format("the grid at {} varies it; allowed is model.grid.{}={}, or the name of one member",
                     to_string(varied.where), shown(varied.key), shown(list_for(varied, key, o.is))));
}

/// False for what is not a key that the model's grid has.
bool set_in_grid(value_table& model, std::string_view key, const key_override& o) {
  constexpr std::string_view prefix = "grid.";
  auto* const grid = content_of<value_table>(model.find("grid"));
  if (!grid || !key.starts_with(prefix) || o.is.as<value_table>()) return false;
  return replace_in_grid(*grid, key.substr(prefix.size()), o.is, model_rules());
}

void set_in_model(const value_table& root, value& model, std::string_view key, const key_override& o) {
  if (const auto varied = varied_by_grid(model, key, model_rules())) refuse_varied(*varied, key, o);
  if (const auto varied = varied_by_search(root, key, model_rules()))
    refuse(o.is.where, o.path,
           fmt::format("the search varies it at {0}; allowed is the name of one of the models that are drawn",
                       to_string(*varied)));
  auto& table = *model.as<value_table>();
  if (set_in_grid(table, key, o)) return;
  // A model has exactly one of these: to set one is to choose it.
  if (key == "steps") table.erase("epochs");
  if (key == "epochs") table.erase("steps");
  set_key(table, key, o);
}

/// False if no model has the name that the path starts with.
bool set_in_named_models(value_table& root, std::string_view rest, const key_override& o) {
  const std::vector<value*> models = tables_of(root, "model", o);
  const auto parts = split_name(rest, names_of_models(models));
  if (!parts) return false;
  for (value* const m : models)
    if (name_of(*m) == parts->first) set_in_model(root, *m, parts->second, o);
  return true;
}

bool is_model_key(std::string_view key) { return model_rules().find(key) != nullptr; }

/// False if `rest` starts with a name that is not written in the file.
bool set_in_models(value_table& root, std::string_view rest, const key_override& o) {
  const auto [head, tail] = split_first(rest);
  if (!tail.empty() && !is_model_key(head)) return set_in_named_models(root, rest, o);
  for (value* const m : tables_of(root, "model", o)) set_in_model(root, *m, rest, o);
  return true;
}

/// False if the override can only be applied after the grids are expanded.
bool apply(value_table& root, const key_override& o) {
  const auto [head, rest] = split_first(o.path);
  if (head == "model" && !rest.empty()) return set_in_models(root, rest, o);
  if (head == "device" && !rest.empty())
    set_in_devices(root, rest, o);
  else if (head == "data" && rest.find('.') != std::string_view::npos)
    set_in_data(root, rest, o);
  else
    set_key(root, o.path, o);
  return true;
}

[[noreturn]] void refuse_model_name(const key_override& o, std::string_view rest, std::vector<std::string> names) {
  const auto [name, key] = split_first(rest);
  if (const other_word* const other = find_other_word(name))
    refuse(o.is.where, o.path, fmt::format("unknown key \"{}\"; {}", shown(name), describe(*other)));
  std::ranges::copy(names_of(model_rules().keys), std::back_inserter(names));
  refuse(o.is.where, o.path,
         fmt::format("\"{}\" is neither a model nor a key of models{}", shown(name), known_instead(name, names)));
}

}  // namespace

key_override parse_override(const std::string& text, const std::string& option) {
  const place where{std::make_shared<std::string>(option + text), 0};
  const auto equals = text.find('=');
  if (equals == std::string::npos) refuse(fmt::format("{}: there is no \"=\"; {}", to_string(where), allowed_form));
  const std::string path{trimmed(std::string_view{text}.substr(0, equals))};
  if (has_empty_part(path))
    refuse(fmt::format("{}: a part of the key \"{}\" is empty; {}", to_string(where), shown(path), allowed_form));
  return {path, read_value(trimmed(std::string_view{text}.substr(equals + 1)), where, path)};
}

std::vector<key_override> apply_overrides(value_table& root, const std::vector<key_override>& overrides) {
  std::vector<key_override> left;
  for (const key_override& o : overrides)
    if (!apply(root, o)) left.push_back(o);
  return left;
}

void apply_to_members(value_table& root, const std::vector<key_override>& overrides) {
  for (const key_override& o : overrides) {
    const std::string_view rest = split_first(o.path).second;
    if (!set_in_named_models(root, rest, o)) refuse_model_name(o, rest, names_of_models(tables_of(root, "model", o)));
  }
}

}  // namespace hydra::apps
