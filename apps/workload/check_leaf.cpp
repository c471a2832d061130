#include "apps/workload/check_leaf.hpp"

#include "apps/workload/check_data_leaf.hpp"
#include "apps/workload/check_file.hpp"
#include "apps/workload/convert.hpp"
#include "apps/workload/other_tools.hpp"
#include "apps/workload/search_space.hpp"
#include "runtime/base/nearest.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace hydra::apps {

namespace {

void check_number(const value_site& site, const value& v) {
  const auto* integer = v.as<std::int64_t>();
  const auto* real = v.as<double>();
  const bool whole = site.rule.kind == value_kind::integer || site.rule.kind == value_kind::integer_or_auto;
  const bool type_suits = integer || (real && !whole);
  if (!type_suits || !site.rule.range.holds(integer ? static_cast<double>(*integer) : *real)) site.refuse_value();
}

bool is_automatic(const value_site& site) {
  const auto* text = site.is.as<std::string>();
  return text && *text == automatic;
}

void check_boolean(const value_site& site) {
  if (!site.is.as<bool>()) site.refuse_value();
}

void check_text(const value_site& site) {
  const auto* text = site.is.as<std::string>();
  if (!text || text->empty()) site.refuse_value();
  const auto& choices = site.rule.choices;
  if (choices.empty() || std::ranges::count(choices, *text) > 0) return;
  const other_value* const other = find_other_value(site.key, *text);
  refuse(site.is.where, site.key,
         fmt::format("unknown value \"{}\"{}", shown(*text),
                     other ? "; " + describe(*other) : known_instead(*text, choices)));
}

bool is_some_text(const value* v) {
  const auto* text = content_of<std::string>(v);
  return text && !text->empty();
}

void check_text_list(const value_site& site) {
  if (is_some_text(&site.is))
    refuse(site.is.where, site.key,
           fmt::format("{0} is given, expected {1}: [\"{2}\"]", describe(site.is), describe(site.rule),
                       shown(*site.is.as<std::string>())));
  const auto* list = site.is.as<value_list>();
  if (!list) site.refuse_value();
  const auto wrong = std::ranges::find_if_not(*list, [](const value& v) { return is_some_text(&v); });
  if (wrong != list->end())
    refuse(wrong->where, site.key,
           fmt::format("element {} of the list: {} is given, expected a text that is not empty",
                       wrong - list->begin() + 1, describe(*wrong)));
}

/// Which names there are depends on the plug-ins: that is checked when the file is built.
void check_policy(const value_site& site) {
  const auto* table = site.is.as<value_table>();
  if (!is_some_text(table ? table->find("name") : &site.is)) site.refuse_value();
  if (!table) return;
  for (const table_entry& e : table->entries)
    if (e.key != "name" && !e.is.as<std::int64_t>() && !e.is.as<double>())
      refuse(e.where, fmt::format("{}.{}", site.key, e.key),
             fmt::format("{} is given, expected a number", describe(e.is)));
}

void check_file_name(const value_site& site) {
  check_text(site);
  check_file(site.is.where, site.key, *site.is.as<std::string>());
}

void check_folder_name(const value_site& site) {
  check_text(site);
  check_folder(site.is.where, site.key, *site.is.as<std::string>());
}

/// Sizes, rates and times: what the conversion refuses.
template <class Quantity>
void check_quantity(const value_site& site) {
  located(site.is.where, site.key, [&] { return to<Quantity>(site.is); });
}

void check_bytes(const value_site& site) {
  const auto* number = site.is.as<std::int64_t>();
  if (number ? *number <= 0 : !site.is.as<std::string>()) site.refuse_value();
  check_quantity<byte_count>(site);
  if (to<byte_count>(site.is) == byte_count{}) site.refuse_value();
}

/// Rates and times have no unit to fall back on.
template <class Quantity>
void check_with_unit(const value_site& site) {
  if (!site.is.as<std::string>()) site.refuse_value();
  check_quantity<Quantity>(site);
}

/// The rate of an emulated link: "not emulated" is expressed by leaving the key out.
void check_rate(const value_site& site) {
  check_with_unit<byte_rate>(site);
  if (!to<byte_rate>(site.is).limited())
    refuse(site.is.where, site.key,
           fmt::format("{} is given; leave the key out for a link that is not emulated", describe(site.is)));
}

void check_bytes_or_percent(const value_site& site) {
  const auto* text = site.is.as<std::string>();
  if (!text || !text->ends_with('%')) return check_bytes(site);
  if (!to_fraction(*text)) site.refuse_value();
}

void check_pair(const value_site& site) {
  const auto* list = site.is.as<value_list>();
  if (!list || list->size() != 2) site.refuse_value();
  for (const value& v : *list) check_number(site, v);
}

void check_number_list(const value_site& site) {
  const auto* list = site.is.as<value_list>();
  if (!list || list->empty()) site.refuse_value();
  for (const value& v : *list) check_number(site, v);
}

/// A word that is not a choice is the file of a saved plan, unless it looks like a misspelt choice.
void check_cut_text(const value_site& site, const std::string& text) {
  const auto& choices = site.rule.choices;
  if (std::ranges::count(choices, text) > 0) return;
  std::error_code ignored;
  if (std::filesystem::exists(text, ignored) || text.find_first_of("./") != std::string::npos)
    return check_file(site.is.where, site.key, text);
  refuse(site.is.where, site.key,
         fmt::format("\"{}\" is neither a way to cut nor the file of a saved plan{}", shown(text),
                     known_instead(text, choices)));
}

void check_cuts(const value_site& site) {
  if (const auto* text = site.is.as<std::string>()) return check_cut_text(site, *text);
  const auto* list = site.is.as<value_list>();
  if (!list || list->empty()) site.refuse_value();
  std::int64_t previous = -1;
  for (const value& v : *list) {
    const auto* layer = v.as<std::int64_t>();
    if (!layer || *layer <= previous || (previous < 0 && *layer != 0))
      refuse(v.where, site.key,
             fmt::format("{} is not allowed here: layer numbers start with 0 and ascend", describe(v)));
    previous = *layer;
  }
}

}  // namespace

void value_site::refuse_value() const {
  refuse(is.where, key, fmt::format("{} is given, expected {}", describe(is), describe(rule)));
}

void check_leaf(const value_site& site) {
  switch (site.rule.kind) {
    case value_kind::boolean_or_auto:
      if (is_automatic(site)) return;
      [[fallthrough]];
    case value_kind::boolean: return check_boolean(site);
    case value_kind::integer_or_auto:
      if (is_automatic(site)) return;
      [[fallthrough]];
    case value_kind::integer:
    case value_kind::real: return check_number(site, site.is);
    case value_kind::text: return check_text(site);
    case value_kind::file: return check_file_name(site);
    case value_kind::folder: return check_folder_name(site);
    case value_kind::files: return check_files(site);
    case value_kind::paths: return check_paths(site);
    case value_kind::tokenizer: return check_tokenizer(site);
    case value_kind::chat_template: return check_chat_template(site);
    case value_kind::field_text: return check_field_text(site);
    case value_kind::text_list: return check_text_list(site);
    case value_kind::label_list: return check_labels(site);
    case value_kind::policy: return check_policy(site);
    case value_kind::bytes: return check_bytes(site);
    case value_kind::bytes_or_percent: return check_bytes_or_percent(site);
    case value_kind::rate: return check_rate(site);
    case value_kind::time: return check_with_unit<duration>(site);
    case value_kind::number_pair: return check_pair(site);
    case value_kind::number_list: return check_number_list(site);
    case value_kind::image_size: return check_image_size(site, 2);
    case value_kind::image_shape: return check_image_size(site, 3);
    case value_kind::cut_list: return check_cuts(site);
    case value_kind::space: return check_space(site);
    case value_kind::table:
    case value_kind::table_list:
    case value_kind::named_tables:
    case value_kind::grid: return site.refuse_value();
  }
}

}  // namespace hydra::apps
