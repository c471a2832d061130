#include "apps/workload/value.hpp"

#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hydra::apps {

const value* value_table::find(std::string_view key) const {
  const auto found = std::ranges::find(entries, key, &table_entry::key);
  return found == entries.end() ? nullptr : &found->is;
}

value* value_table::find(std::string_view key) { return const_cast<value*>(std::as_const(*this).find(key)); }

value& value_table::set(std::string_view key, value v) {
  const place where = v.where;
  if (const auto present = std::ranges::find(entries, key, &table_entry::key); present != entries.end()) {
    present->where = where;
    return present->is = std::move(v);
  }
  return entries.emplace_back(table_entry{std::string{key}, where, std::move(v)}).is;
}

void value_table::erase(std::string_view key) {
  std::erase_if(entries, [key](const table_entry& e) { return e.key == key; });
}

std::string value_table::text(std::string_view key) const {
  const auto* const found = content_of<std::string>(find(key));
  return found ? *found : "";
}

value text_value(std::string text, place where) { return {std::move(where), {}, std::move(text)}; }

std::string describe(const value& v) {
  if (const auto* text = v.as<std::string>()) return fmt::format("the text \"{}\"", shown(*text));
  if (v.as<value_list>()) return "a list";
  if (v.as<value_table>()) return "a table";
  if (v.as<std::monostate>()) return "a date or time";
  return v.written;
}

const value* find_path(const value_table& root, std::string_view path) {
  const auto dot = path.find('.');
  const value* const head = root.find(path.substr(0, dot));
  if (dot == std::string_view::npos || !head) return head;
  const auto* table = head->as<value_table>();
  return table ? find_path(*table, path.substr(dot + 1)) : nullptr;
}

void set_path(value_table& root, std::string_view path, value v) {
  const auto dot = path.find('.');
  const std::string_view head = path.substr(0, dot);
  if (dot == std::string_view::npos) {
    root.set(head, std::move(v));
    return;
  }
  value* inner = root.find(head);
  if (!inner) inner = &root.set(head, {v.where, {}, value_table{}});
  auto* table = inner->as<value_table>();
  if (!table)
    refuse(inner->where, head, fmt::format("{} is given, but \"{}\" needs a table", describe(*inner), shown(path)));
  set_path(*table, path.substr(dot + 1), std::move(v));
}

void move_to(value& v, const place& where) {
  v.where = where;
  if (auto* list = v.as<value_list>())
    for (value& each : *list) move_to(each, where);
  if (auto* table = v.as<value_table>())
    for (table_entry& e : table->entries) {
      e.where = where;
      move_to(e.is, where);
    }
}

place place_of(const value_table& table, std::string_view key, const place& otherwise) {
  const auto found = std::ranges::find(table.entries, key, &table_entry::key);
  return found == table.entries.end() ? otherwise : found->where;
}

}  // namespace hydra::apps
