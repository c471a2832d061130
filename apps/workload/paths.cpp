#include "apps/workload/paths.hpp"

#include <algorithm>
#include <string>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;

/// Of the key in whichever variant has it: those that share a name are alike in naming files or not.
const key_rule* find_anywhere(const table_rules& rules, const std::string& key) {
  if (const key_rule* const rule = rules.find(key)) return rule;
  for (const table_variant& v : rules.variants)
    if (const key_rule* const rule = find_rule(rules, &v, key)) return rule;
  return nullptr;
}

/// A path, a list of such, or a table of such.
void visit_values(value& v, const key_rule& rule, const path_visitor& visit) {
  if (auto* const text = v.as<std::string>(); text && !text->empty() && std::ranges::count(rule.choices, *text) == 0)
    visit(*text, rule.kind);
  if (auto* const list = v.as<value_list>())
    for (value& each : *list) visit_values(each, rule, visit);
  if (auto* const table = v.as<value_table>())
    for (table_entry& e : table->entries) visit_values(e.is, rule, visit);
}

void visit_inner(value& v, const key_rule& rule, const path_visitor& visit) {
  auto* const table = v.as<value_table>();
  if (rule.kind == value_kind::table && table) for_each_path(*table, rule.inner.at(0), visit);
  if (rule.kind == value_kind::named_tables && table)
    for (table_entry& e : table->entries)
      if (auto* const inner = e.is.as<value_table>()) for_each_path(*inner, rule.inner.at(0), visit);
  if (auto* const list = v.as<value_list>(); rule.kind == value_kind::table_list && list)
    for (value& each : *list)
      if (auto* const inner = each.as<value_table>()) for_each_path(*inner, rule.inner.at(0), visit);
}

/// "bytes" names no file.
bool may_hold_paths(const value& v, const key_rule& rule) {
  if (rule.kind == value_kind::tokenizer) return v.as<value_table>();
  return names_input(rule) || rule.kind == value_kind::cut_list;
}

}  // namespace

bool names_input(const key_rule& rule) {
  return rule.kind == value_kind::file || rule.kind == value_kind::files || rule.kind == value_kind::folder ||
         rule.kind == value_kind::paths;
}

void for_each_path(value_table& table, const table_rules& rules, const path_visitor& visit) {
  for (table_entry& e : table.entries) {
    const key_rule* const rule = find_anywhere(rules, e.key);
    if (!rule) continue;
    if (may_hold_paths(e.is, *rule))
      visit_values(e.is, *rule, visit);
    else
      visit_inner(e.is, *rule, visit);
  }
}

void resolve_paths(value_table& table, const table_rules& rules, const fs::path& folder) {
  for_each_path(table, rules, [&folder](std::string& path, value_kind) {
    path = fs::absolute(folder / path).lexically_normal().string();
  });
}

}  // namespace hydra::apps
