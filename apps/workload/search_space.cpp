#include "apps/workload/search_space.hpp"

#include "apps/workload/convert.hpp"
#include "apps/workload/grid.hpp"
#include "apps/workload/to_toml.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace hydra::apps {

namespace {

struct form {
  const char* word;
  distribution from;
};

constexpr std::array forms{form{"uniform", distribution::uniform}, form{"log_uniform", distribution::log_uniform},
                           form{"integers", distribution::integers}, form{"choice", distribution::choice}};
constexpr double largest_integer = 1e15;  // whole numbers to there are exact
constexpr const char* expected =
    "expected { log_uniform = [1e-5, 1e-3] }, { uniform = [0.1, 0.5] }, { integers = [4, 64] } (and log = true), or "
    "{ choice = [8, 16] }";

/// A key of the space with what is written for it.
struct space_entry {
  std::string key;
  place where;
  const value* is;

  [[noreturn]] void refuse_it(const std::string& text) const { refuse(is->where, "search.space." + key, text); }
};

const form* form_of(const value_table& table) {
  const auto found = std::ranges::find_if(forms, [&](const form& f) { return table.find(f.word) != nullptr; });
  return found == forms.end() ? nullptr : &*found;
}

/// Tables without a distribution are parts of dotted keys.
void collect(const value_table& table, const std::string& prefix, std::vector<space_entry>& all) {
  for (const table_entry& e : table.entries) {
    const auto* const inner = e.is.as<value_table>();
    const bool is_part =
        inner && !inner->entries.empty() && !form_of(*inner) && inner->entries.front().is.as<value_table>();
    if (is_part)
      collect(*inner, prefix + e.key + ".", all);
    else
      all.push_back({prefix + e.key, e.where, &e.is});
  }
}

std::vector<space_entry> entries_of(const value& space) {
  std::vector<space_entry> all;
  collect(*space.as<value_table>(), "", all);
  return all;
}

void check_bounds(const space_entry& e, const form& f, const value& given, bool logarithmic) {
  const auto* const list = given.as<value_list>();
  const bool whole = f.from == distribution::integers;
  const auto suits = [whole](const value& v) {
    return v.as<std::int64_t>() || (!whole && v.as<double>() && std::isfinite(*v.as<double>()));
  };
  if (!list || list->size() != 2 || !std::ranges::all_of(*list, suits))
    e.refuse_it(fmt::format("{} = {} is given, expected a list of two {}, the bounds", f.word, inline_toml(given),
                            whole ? "integers" : "numbers"));
  const double least = real_from(list->front()), most = real_from(list->back());
  if (least >= most)
    e.refuse_it(fmt::format("{} = {}: the first bound must be below the second", f.word, inline_toml(given)));
  if (logarithmic && least <= 0)
    e.refuse_it(
        fmt::format("{} = {}: bounds of a logarithmic distribution must be above 0", f.word, inline_toml(given)));
  if (whole && std::max(-least, most) > largest_integer)
    e.refuse_it(fmt::format("{} = {}: bounds may be at most {:g}", f.word, inline_toml(given), largest_integer));
}

void check_choices(const space_entry& e, const value& given) {
  const auto* const list = given.as<value_list>();
  const auto is_table = [](const value& v) { return v.as<value_table>() != nullptr; };
  if (!list || list->empty() || std::ranges::any_of(*list, is_table))
    e.refuse_it(
        fmt::format("choice = {} is given, expected a list of one value or more, such as [8, 16]", inline_toml(given)));
}

void check_entry(const space_entry& e) {
  const auto* const table = e.is->as<value_table>();
  const form* const f = table ? form_of(*table) : nullptr;
  if (!f && table && !table->entries.empty())
    refuse(table->entries.front().where, fmt::format("search.space.{}.{}", e.key, table->entries.front().key),
           fmt::format("this is not a distribution, {}", expected));
  if (!f) e.refuse_it(fmt::format("{} is given, {}", describe(*e.is), expected));
  const bool whole = f->from == distribution::integers;
  for (const table_entry& other : table->entries)
    if (other.key != f->word && !(whole && other.key == "log"))
      refuse(other.where, fmt::format("search.space.{}.{}", e.key, other.key),
             fmt::format("{} has no such key; {}", f->word, expected));
  const value* const log = table->find("log");
  if (log && !log->as<bool>()) e.refuse_it(fmt::format("log = {} is given, expected true or false", inline_toml(*log)));
  if (f->from == distribution::choice) return check_choices(e, *table->find(f->word));
  const bool logarithmic = f->from == distribution::log_uniform || (log && *log->as<bool>());
  check_bounds(e, *f, *table->find(f->word), logarithmic);
}

searched_key read_distribution(const value_table& table) {
  const form& f = *form_of(table);
  searched_key key{.key = {}, .from = f.from};
  const value_list& values = *table.find(f.word)->as<value_list>();
  if (f.from == distribution::choice) {
    for (const value& v : values) key.choices.push_back(inline_toml(v));
    return key;
  }
  key.least = real_from(values.front());
  key.most = real_from(values.back());
  if (const value* const log = table.find("log"); log && to<bool>(*log)) key.from = distribution::log_integers;
  return key;
}

}  // namespace

void check_space(const value_site& site) {
  const auto* const table = site.is.as<value_table>();
  if (!table || table->entries.empty()) site.refuse_value();
  for (const space_entry& e : entries_of(site.is)) check_entry(e);
}

std::vector<searched_axis> read_space(const value& space, const table_rules& models) {
  std::vector<searched_axis> axes;
  for (const space_entry& e : entries_of(space)) {
    searched_axis axis{e.key, read_distribution(*e.is->as<value_table>()), e.where};
    axis.draws.key = resolve_grid_key(e.where, e.key, models, "search.space");
    const auto same = [&](const searched_axis& other) { return other.draws.key == axis.draws.key; };
    if (std::ranges::any_of(axes, same))
      refuse(e.where, "search.space." + e.key, fmt::format("\"{}\" is varied twice", shown(axis.draws.key)));
    axes.push_back(std::move(axis));
  }
  return axes;
}

}  // namespace hydra::apps
