#include "apps/workload/to_toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace hydra::apps {

namespace {

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f')
      out += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + '"';
}

bool is_bare(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-'; }

std::string key_text(const std::string& key) {
  return !key.empty() && std::ranges::all_of(key, is_bare) ? key : in_quotes(key);
}

std::string list_text(const value_list& list) {
  std::vector<std::string> parts;
  for (const value& v : list) parts.push_back(inline_toml(v));
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

std::string table_text(const value_table& table) {
  std::vector<std::string> parts;
  for (const table_entry& e : table.entries)
    parts.push_back(fmt::format("{} = {}", key_text(e.key), inline_toml(e.is)));
  return parts.empty() ? "{}" : fmt::format("{{ {} }}", fmt::join(parts, ", "));
}

std::string section(const std::string& header, const value_table& table) {
  std::string out = header + "\n";
  for (const table_entry& e : table.entries) out += fmt::format("{} = {}\n", key_text(e.key), inline_toml(e.is));
  return out + "\n";
}

bool holds_only_tables(const value_list& list) {
  return !list.empty() && std::ranges::all_of(list, [](const value& v) { return v.as<value_table>() != nullptr; });
}

bool holds_only_tables(const value_table& table) {
  return !table.entries.empty() &&
         std::ranges::all_of(table.entries, [](const table_entry& e) { return e.is.as<value_table>() != nullptr; });
}

std::string list_sections(const std::string& key, const value_list& list) {
  std::string out;
  for (const value& v : list) out += section(fmt::format("[[{}]]", key), *v.as<value_table>());
  return out;
}

std::string named_sections(const std::string& key, const value_table& table) {
  std::string out;
  for (const table_entry& e : table.entries)
    out += section(fmt::format("[{}.{}]", key, key_text(e.key)), *e.is.as<value_table>());
  return out;
}

std::string top_level(const table_entry& e) {
  const std::string key = key_text(e.key);
  const auto* list = e.is.as<value_list>();
  const auto* table = e.is.as<value_table>();
  if (list && holds_only_tables(*list)) return list_sections(key, *list);
  if (table && holds_only_tables(*table)) return named_sections(key, *table);
  if (table) return section(fmt::format("[{}]", key), *table);
  return "";
}

}  // namespace

std::string inline_toml(const value& v) {
  if (const auto* text = v.as<std::string>()) return in_quotes(*text);
  if (const auto* list = v.as<value_list>()) return list_text(*list);
  if (const auto* table = v.as<value_table>()) return table_text(*table);
  return v.written;
}

std::string to_toml(const value_table& root) {
  std::string scalars, sections;
  for (const table_entry& e : root.entries) {
    const std::string text = top_level(e);
    if (text.empty())
      scalars += fmt::format("{} = {}\n", key_text(e.key), inline_toml(e.is));
    else
      sections += text;
  }
  if (sections.ends_with("\n\n")) sections.pop_back();
  return scalars + sections;
}

}  // namespace hydra::apps
