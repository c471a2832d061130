#include "apps/workload/check_data_leaf.hpp"

#include "apps/workload/check_file.hpp"
#include "apps/workload/matching_files.hpp"
#include "models/data/chat_template.hpp"
#include "models/data/field_template.hpp"
#include "runtime/base/nearest.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string_view>

namespace hydra::apps {

namespace {

/// The text of a value, which must not be empty.
const std::string& text_of(const value_site& site, const value& v) {
  const auto* text = v.as<std::string>();
  if (!text || text->empty()) site.refuse_value();
  return *text;
}

void check_tokenizer_file(const value_site& site, const table_entry& e) {
  constexpr std::array<std::string_view, 3> known{"file", "vocab", "merges"};
  const std::string key = fmt::format("{}.{}", site.key, e.key);
  if (std::ranges::find(known, e.key) == known.end())
    refuse(e.where, key, fmt::format("unknown key; expected {}", describe(site.rule)));
  if (e.key == "file")
    check_path(e.where, key, text_of(site, e.is), hub_hint(text_of(site, e.is)));
  else
    check_file(e.where, key, text_of(site, e.is));
}

/// ROLE = [prefix, suffix]; both may be empty.
void check_role(const value_site& site, const table_entry& e) {
  const auto* marks = e.is.as<value_list>();
  const auto is_text = [](const value& v) { return v.as<std::string>() != nullptr; };
  if (!marks || marks->size() != 2 || !std::ranges::all_of(*marks, is_text))
    refuse(e.where, fmt::format("{}.{}", site.key, e.key),
           fmt::format("{} is given, expected two texts: what precedes and what follows a message", describe(e.is)));
}

/// The file, or those that match.
void check_pattern(const value_site& site, const value& v, std::set<std::filesystem::path>& seen) {
  const std::string& text = text_of(site, v);
  const auto files = matching_files(text);
  if (files.empty()) refuse(v.where, site.key, fmt::format("no file matches \"{}\"{}", shown(text), home_hint(text)));
  for (const auto& file : files) {
    check_file(v.where, site.key, file.string());
    if (!seen.insert(std::filesystem::weakly_canonical(file)).second)
      refuse(v.where, site.key, fmt::format("\"{}\" is named twice: its records would be read twice", file.string()));
  }
}

}  // namespace

void check_paths(const value_site& site) {
  const auto* list = site.is.as<value_list>();
  if (!list) return check_path(site.is.where, site.key, text_of(site, site.is));
  if (list->empty()) site.refuse_value();
  for (const value& v : *list) check_path(v.where, site.key, text_of(site, v));
}

void check_files(const value_site& site) {
  std::set<std::filesystem::path> seen;
  const auto* list = site.is.as<value_list>();
  if (!list) return check_pattern(site, site.is, seen);
  if (list->empty()) site.refuse_value();
  for (const value& v : *list) check_pattern(site, v, seen);
}

void check_tokenizer(const value_site& site) {
  const auto* table = site.is.as<value_table>();
  if (!table) {
    if (text_of(site, site.is) != "bytes") site.refuse_value();
    return;
  }
  const bool file = table->find("file"), vocab = table->find("vocab"), merges = table->find("merges");
  for (const table_entry& e : table->entries) check_tokenizer_file(site, e);
  if (file == vocab || (merges && !vocab)) site.refuse_value();
}

void check_field_text(const value_site& site) {
  const std::string& text = text_of(site, site.is);
  located(site.is.where, site.key, [&] { return field_template{text}; });
}

void check_chat_template(const value_site& site) {
  const auto* table = site.is.as<value_table>();
  if (!table) {
    const std::string& name = text_of(site, site.is);
    return located(site.is.where, site.key, [&] { chat_template::require_known(name); });
  }
  if (table->entries.empty()) site.refuse_value();
  for (const table_entry& e : table->entries) check_role(site, e);
}

void check_labels(const value_site& site) {
  const auto* list = site.is.as<value_list>();
  const auto is_label = [](const value& v) { return v.as<std::string>() || v.as<std::int64_t>(); };
  if (!list || list->size() < 2 || !std::ranges::all_of(*list, is_label)) site.refuse_value();
}

void check_image_size(const value_site& site, std::size_t numbers) {
  const auto* list = site.is.as<value_list>();
  const auto is_size = [](const value& v) { return v.as<std::int64_t>() && *v.as<std::int64_t>() > 0; };
  if (!list || list->size() != numbers || !std::ranges::all_of(*list, is_size)) site.refuse_value();
}

}  // namespace hydra::apps
