#include "apps/workload/check_utf8.hpp"

#include "runtime/base/shown_text.hpp"
#include "runtime/base/utf8.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <span>
#include <string>

namespace hydra::apps {

namespace {

void check_text(const std::string& text, const place& where, const std::string& key) {
  if (const std::string why = utf8_complaint(text); !why.empty())
    refuse(where, key,
           fmt::format("\"{}\" {}; workload.toml cannot store it, so choose another text", shown(text), why));
}

void check_table(const value_table& table, const std::string& path);

void check_value(const value& v, const std::string& key) {
  if (const auto* text = v.as<std::string>()) check_text(*text, v.where, key);
  if (const auto* list = v.as<value_list>())
    for (const value& each : *list) check_value(each, key);
  if (const auto* table = v.as<value_table>()) check_table(*table, key + ".");
}

void check_table(const value_table& table, const std::string& path) {
  for (const table_entry& e : table.entries) {
    check_text(e.key, e.where, path + e.key);
    check_value(e.is, path + e.key);
  }
}

}  // namespace

void check_utf8(const value_table& root) { check_table(root, ""); }

}  // namespace hydra::apps
