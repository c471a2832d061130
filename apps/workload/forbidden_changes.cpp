#include "apps/workload/forbidden_changes.hpp"

#include "apps/workload/convert.hpp"
#include "apps/workload/key_rule.hpp"
#include "apps/workload/parse.hpp"
#include "apps/workload/schema.hpp"
#include "apps/workload/to_toml.hpp"
#include "runtime/base/counted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace hydra::apps {

namespace {

/// One table of both workloads.
struct table_pair {
  const value_table& was;
  const value_table& is;
  place was_at;
  place is_at;
  std::string path;  ///< ends with a dot, or is empty
};

/// A table that is found by its name: one of [[model]], one of [data.NAME].
struct named_table {
  std::string name;
  const value_table* keys = nullptr;
  place where;
};

// -- values -----------------------------------------------------------------------------------------------------------

bool is_number(const value& v) { return v.as<std::int64_t>() || v.as<double>(); }

bool same(const value& a, const value& b);

/// The order of the keys does not matter.
bool same_keys(const value_table& a, const value_table& b) {
  const auto in_b = [&](const table_entry& e) { return b.find(e.key) && same(e.is, *b.find(e.key)); };
  return a.entries.size() == b.entries.size() && std::ranges::all_of(a.entries, in_b);
}

/// 1 and 1.0 are the same value, "1" is another.
bool same(const value& a, const value& b) {
  if (const auto* x = a.as<std::int64_t>(), *y = b.as<std::int64_t>(); x && y) return *x == *y;
  if (is_number(a) && is_number(b)) return real_from(a) == real_from(b);
  const auto *x = a.as<value_list>(), *y = b.as<value_list>();
  if (x && y) return std::ranges::equal(*x, *y, same);
  const auto *s = a.as<value_table>(), *t = b.as<value_table>();
  if (s && t) return same_keys(*s, *t);
  return a.content.index() == b.content.index() && inline_toml(a) == inline_toml(b);
}

/// The value that applies without the key, where the rule's fallback is a value.
std::optional<value> default_of(const key_rule& rule) {
  switch (rule.kind) {
    case value_kind::text:
    case value_kind::field_text:
      if (rule.fallback.starts_with('"')) return parse_value(rule.fallback);
      if (std::ranges::count(rule.choices, rule.fallback) == 0) return std::nullopt;
      return text_value(rule.fallback, {});
    case value_kind::tokenizer:
      return text_value(rule.fallback, {});
    case value_kind::boolean:
    case value_kind::boolean_or_auto:
    case value_kind::integer:
    case value_kind::integer_or_auto:
    case value_kind::real:
    case value_kind::number_pair:
      return parse_value(rule.fallback);
    default:
      return std::nullopt;
  }
}

std::optional<value> value_or_default(const value* v, const key_rule* rule) {
  if (v) return *v;
  return rule ? default_of(*rule) : std::nullopt;
}

std::string spelled(const value* v, const key_rule* rule) {
  if (v) return inline_toml(*v);
  return rule && !rule->fallback.empty() ? fmt::format("{} by default", rule->fallback) : "not set";
}

// -- tables -----------------------------------------------------------------------------------------------------------

/// The table in a value; an empty one for anything else.
const value_table& table_in(const value* v) {
  static const value_table none;
  const auto* table = content_of<value_table>(v);
  return table ? *table : none;
}

/// The tables [key.NAME], or those of [[key]] by their `name` or their position.
std::vector<named_table> named_tables(const value* v) {
  static const value_list none;
  std::vector<named_table> all;
  for (const table_entry& e : table_in(v).entries) all.push_back({e.key, &table_in(&e.is), e.is.where});
  const auto* list = content_of<value_list>(v);
  for (const value& each : list ? *list : none) {
    const auto* name = content_of<std::string>(table_in(&each).find("name"));
    all.push_back({name ? *name : fmt::format("{}", all.size() + 1), &table_in(&each), each.where});
  }
  return all;
}

const named_table* find_name(const std::vector<named_table>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &named_table::name);
  return found == all.end() ? nullptr : &*found;
}

/// Keys of both, in the order of the new table.
std::vector<std::string> keys_of(const table_pair& p) {
  std::vector<std::string> keys;
  for (const table_entry& e : p.is.entries) keys.push_back(e.key);
  for (const table_entry& e : p.was.entries)
    if (!p.is.find(e.key)) keys.push_back(e.key);
  return keys;
}

const table_variant* variant_of(const value_table& table, const table_rules& rules) {
  if (rules.selector.empty()) return nullptr;
  if (!rules.instead.empty() && table.find(rules.instead)) return rules.variant(rules.instead);
  const std::optional<value> chosen = value_or_default(table.find(rules.selector), rules.find(rules.selector));
  const auto* name = chosen ? chosen->as<std::string>() : nullptr;
  return name ? rules.variant(*name) : nullptr;
}

// -- comparison -------------------------------------------------------------------------------------------------------

class comparison {
 public:
  void compare(const table_pair& p, const table_rules& rules) {
    const table_variant* const variant = variant_of(p.is, rules);
    for (const std::string& key : keys_of(p)) {
      const key_rule* const rule = find_rule(rules, variant, key);
      if (!rule || !rule->may_change) compare_key(p, key, rule);
    }
  }

  std::vector<forbidden_change> found;

 private:
  void compare_key(const table_pair& p, const std::string& key, const key_rule* rule) {
    const value_kind kind = rule ? rule->kind : value_kind::text;
    if (kind == value_kind::table)
      compare({table_in(p.was.find(key)), table_in(p.is.find(key)), place_of(p.was, key, p.was_at),
               place_of(p.is, key, p.is_at), p.path + key + "."},
              rule->inner.at(0));
    else if (kind == value_kind::table_list || kind == value_kind::named_tables)
      compare_named(p, *rule);
    else
      compare_leaf(p, key, rule);
  }

  void compare_leaf(const table_pair& p, const std::string& key, const key_rule* rule) {
    const value *was = p.was.find(key), *is = p.is.find(key);
    const auto old_value = value_or_default(was, rule), new_value = value_or_default(is, rule);
    if (old_value && new_value ? same(*old_value, *new_value) : !old_value && !new_value) return;
    add(place_of(p.is, key, p.is_at), p.path + key,
        fmt::format("another value than in {} (was {}, is {})", to_string(place_of(p.was, key, p.was_at)),
                    spelled(was, rule), spelled(is, rule)));
  }

  void compare_named(const table_pair& p, const key_rule& rule) {
    const std::vector<named_table> was = named_tables(p.was.find(rule.name)), is = named_tables(p.is.find(rule.name));
    for (const named_table& n : is) {
      const std::string path = fmt::format("{}{}.{}", p.path, rule.name, n.name);
      if (const named_table* const old = find_name(was, n.name))
        compare({*old->keys, *n.keys, old->where, n.where, path + "."}, rule.inner.at(0));
      else
        add(n.where, path, fmt::format("new (was absent from {}, is here)", *p.was_at.source));
    }
    for (const named_table& o : was)
      if (!find_name(is, o.name))
        add(place_of(p.is, rule.name, p.is_at), fmt::format("{}{}.{}", p.path, rule.name, o.name),
            fmt::format("missing (was at {}, is absent)", to_string(o.where)));
  }

  void add(place where, std::string key, std::string text) {
    found.push_back({std::move(where), std::move(key), std::move(text)});
  }
};

/// Afterwards every model has a seed of its own.
value_table with_seeds(value_table root) {
  const value* const given = find_path(root, "run.seed");
  const value seed = given ? *given : *parse_value("0");
  auto* list = content_of<value_list>(root.find("model"));
  for (std::size_t i = 0; list && i < list->size(); ++i)
    if (auto* model = (*list)[i].as<value_table>(); model && !model->find("seed")) model->set("seed", seed);
  return root;
}

}  // namespace

std::vector<forbidden_change> forbidden_changes(const table_site& was, const table_site& is) {
  const value_table old_table = with_seeds(was.table), new_table = with_seeds(is.table);
  comparison c;
  c.compare({old_table, new_table, was.where, is.where, ""}, workload_rules());
  return c.found;
}

namespace {

/// The digest of the weights in a folder says that it is the one that a model began from, not its path.
std::string hint_on_moved(const std::vector<forbidden_change>& changes) {
  const bool moved = std::ranges::any_of(changes, [](auto& c) { return c.key.ends_with(".chain.from"); });
  return moved ? "; where the folder has only moved, leave chain.from as it was and give --base FOLDER" : "";
}

}  // namespace

bool is_default(const value& given, const key_rule& rule) {
  const std::optional<value> usual = default_of(rule);
  const auto* text = given.as<std::string>();
  return usual ? same(given, *usual) : text && *text == rule.fallback;
}

void refuse_changes(const std::vector<forbidden_change>& changes) {
  if (changes.empty()) return;
  // Models that a search draws and evaluates change with it.
  const auto search = std::ranges::find_if(changes, [](auto& c) { return c.key.starts_with("search."); });
  const forbidden_change& first = search == changes.end() ? changes.front() : *search;
  const std::string more = changes.size() > 1 ? "; and " + counted(changes.size() - 1, "more such change") : "";
  refuse(first.where, first.key,
         fmt::format(
             "{}{}{}; with --resume only device (but for kind, threads, precision, gradients and tf32), host, policy, "
             "plugins, optimizer_on, cuts, waves, steps, epochs, priority, deadline, arrival, checkpoint, ablation, "
             "tensorboard, currency, grams_per_kwh, objective and output may change: undo the change, or train afresh "
             "in another folder by --output",
             first.text, more, hint_on_moved(changes)));
}

}  // namespace hydra::apps
