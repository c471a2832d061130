#include "apps/workload/check.hpp"

#include "apps/workload/check_leaf.hpp"
#include "apps/workload/names.hpp"
#include "apps/workload/other_tools.hpp"
#include "runtime/base/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace hydra::apps {

namespace {

void check_inner(const value_site& site, const value& v, const std::string& path) {
  const auto* table = v.as<value_table>();
  if (!table) refuse(v.where, path, fmt::format("{} is given, expected {}", describe(v), describe(site.rule)));
  check_table({*table, v.where, path + "."}, site.rule.inner.at(0));
}

void check_table_list(const value_site& site) {
  const auto* list = site.is.as<value_list>();
  if (!list) site.refuse_value();
  for (const value& v : *list) check_inner(site, v, site.key);
}

void check_named_tables(const value_site& site) {
  const auto* names = site.is.as<value_table>();
  if (!names) site.refuse_value();
  for (const table_entry& e : names->entries) {
    check_name(e.key, e.where, site.key);
    check_inner(site, e.is, fmt::format("{}.{}", site.key, e.key));
  }
}

void check_value(const value_site& site) {
  switch (site.rule.kind) {
    case value_kind::table:
      return check_inner(site, site.is, site.key);
    case value_kind::table_list:
      return check_table_list(site);
    case value_kind::named_tables:
      return check_named_tables(site);
    default:
      return check_leaf(site);
  }
}

/// The variant of the key that is given instead of the selector; null without such a key.
const table_variant* variant_instead(const table_site& site, const table_rules& rules) {
  const bool there = !rules.instead.empty() && site.table.find(rules.instead);
  if (there && site.table.find(rules.selector))
    refuse(place_of(site.table, rules.instead, site.where), site.path + rules.instead,
           fmt::format("{} is given too; exactly one of {} and {} is allowed", rules.selector, rules.selector,
                       rules.instead));
  return there ? rules.variant(rules.instead) : nullptr;
}

[[noreturn]] void refuse_missing_selector(const table_site& site, const table_rules& rules) {
  const std::string other = rules.instead.empty() ? "" : fmt::format("; or give {} in its place", rules.instead);
  refuse(site.where, site.path + rules.selector,
         fmt::format("missing, expected {}{}", describe(*rules.find(rules.selector)), other));
}

/// The variant that the table has chosen; null if there are none. Checks the selector itself.
const table_variant* chosen_variant(const table_site& site, const table_rules& rules) {
  if (rules.selector.empty()) return nullptr;
  if (const table_variant* const instead = variant_instead(site, rules)) return instead;
  const key_rule& rule = *rules.find(rules.selector);
  const value* const selector = site.table.find(rules.selector);
  if (!selector && !rule.required) return rules.variant(rule.fallback);
  if (!selector) refuse_missing_selector(site, rules);
  check_leaf({*selector, rule, site.path + rule.name});
  return rules.variant(*selector->as<std::string>());
}

/// `kind "cpu" or "cuda"`: the variants that take the key. Empty if there are none.
std::string owners(const table_rules& rules, const std::string& key) {
  std::vector<std::string> names;
  for (const table_variant& v : rules.variants) {
    if (std::ranges::count(names_of(v.keys), key) == 0) continue;
    if (v.name == rules.instead) return fmt::format("{} = ...", v.name);
    names.push_back(fmt::format("\"{}\"", v.name));
  }
  return names.empty() ? "" : fmt::format("{} {}", rules.selector, fmt::join(names, " or "));
}

/// "optimizer.learning_rate": where tables further down have the key. Empty if they do not.
std::string path_below(const table_rules& rules, const std::string& key) {
  for (const key_rule& rule : rules.keys)
    for (const table_rules& inner : rule.inner) {
      const bool has = inner.find(key) || !owners(inner, key).empty();
      const std::string below = has ? key : path_below(inner, key);
      const char* const named = rule.kind == value_kind::named_tables ? ".NAME" : "";
      if (!below.empty()) return fmt::format("{}{}.{}", rule.name, named, below);
    }
  return "";
}

/// A key that exists in a table further down, or for another variant, is misplaced and not mistyped.
std::string home_of(const table_site& site, const table_rules& rules, const std::string& key) {
  if (const std::string owner = owners(rules, key); !owner.empty()) return "it belongs to " + owner;
  const std::string below = path_below(rules, key);
  return below.empty() ? "" : fmt::format("here it is {}{}", site.path, below);
}

/// `; kind "cuda" takes index, memory`
std::string keys_of(const table_rules& rules, const table_variant* variant) {
  if (!variant || variant->name == rules.instead) return "";
  return fmt::format("; {} \"{}\" takes {}", rules.selector, variant->name, fmt::join(names_of(variant->keys), ", "));
}

/// A key of none of the tables here: a word of another tool, or mistyped.
std::string meant_by(const std::string& key, const std::vector<std::string>& known) {
  const other_word* const other = find_other_word(key);
  return other ? "; " + describe(*other) : known_instead(key, known);
}

[[noreturn]] void refuse_unknown(const table_site& site, const table_entry& entry, const table_rules& rules,
                                 const table_variant* variant) {
  std::vector<std::string> known = names_of(rules.keys);
  if (variant) std::ranges::copy(names_of(variant->keys), std::back_inserter(known));
  const std::string home = home_of(site, rules, entry.key), key = site.path + entry.key;
  if (home.empty()) refuse(entry.where, key, "unknown key" + meant_by(entry.key, known));
  const std::string near = near_name(entry.key, known);
  const bool mistyped = !near.empty() && edit_distance(entry.key, near) == 1;
  refuse(entry.where, key,
         fmt::format("unknown key; {}{}", home, mistyped ? known_instead(entry.key, known) : keys_of(rules, variant)));
}

/// A missing selector was refused before.
void check_required(const table_site& site, const std::vector<key_rule>& rules, std::string_view selector) {
  for (const key_rule& rule : rules)
    if (rule.required && rule.name != selector && !site.table.find(rule.name))
      refuse(site.where, site.path + rule.name, fmt::format("missing, expected {}", describe(rule)));
}

}  // namespace

void check_table(const table_site& site, const table_rules& rules) {
  const table_variant* const variant = chosen_variant(site, rules);
  for (const table_entry& entry : site.table.entries) {
    const key_rule* const rule = find_rule(rules, variant, entry.key);
    if (!rule) refuse_unknown(site, entry, rules, variant);
    check_value({entry.is, *rule, site.path + entry.key});
  }
  check_required(site, rules.keys, rules.selector);
  if (variant) check_required(site, variant->keys, rules.selector);
}

}  // namespace hydra::apps
