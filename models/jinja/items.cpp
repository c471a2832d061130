#include "models/jinja/filters.hpp"
#include "models/jinja/texts.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace hydra::jinja {

namespace {

/// Of a list of `size` items; from the end if it is negative.
std::optional<std::size_t> place_in(std::int64_t index, std::size_t size) {
  const auto count = static_cast<std::int64_t>(size);
  if (index < 0) index += count;
  if (index < 0 || index >= count) return std::nullopt;
  return static_cast<std::size_t>(index);
}

value loop_attribute(const loop_box& loop, const std::string& name) {
  const auto index = static_cast<std::int64_t>(loop.index), count = static_cast<std::int64_t>(loop.items.size());
  if (name == "index") return index + 1;
  if (name == "index0") return index;
  if (name == "revindex") return count - index;
  if (name == "revindex0") return count - index - 1;
  if (name == "first") return index == 0;
  if (name == "last") return index + 1 == count;
  if (name == "length") return count;
  if (name == "depth") return loop.depth;
  if (name == "depth0") return loop.depth - 1;
  if (name == "previtem") return index == 0 ? value::nothing("loop.previtem") : loop.items[loop.index - 1];
  if (name == "nextitem") return index + 1 == count ? value::nothing("loop.nextitem") : loop.items[loop.index + 1];
  complain(fmt::format("loop.{} is not supported", shown(name)));
}

std::string name_of(const value& key) { return key.string() ? *key.string() : "[]"; }

}  // namespace

value_list items_of(const value& v, budget& limits) {
  if (v.is_undefined()) return {};
  value_list all;
  const auto add = [&](value one) {
    limits.take_bytes(sizeof(value) + 8);
    all.push_back(std::move(one));
  };
  if (const auto* t = v.string()) {
    for (const std::string_view letter : letters_of(*t)) add(std::string{letter});
  } else if (const auto* entries = v.entries()) {
    for (const auto& [key, is] : *entries) add(key);
  } else if (const auto* list = v.items()) {
    limits.take_bytes(list->size() * sizeof(value));
    return *list;
  } else {
    complain(fmt::format("{} has no items to go through", kind_of(v)));
  }
  return all;
}

value attribute_of(const value& of, const std::string& name) {
  if (of.is_undefined()) complain(fmt::format("\"{}\" of {}", shown(name), kind_of(of)));
  if (const auto* loop = of.as<value::loop>()) return loop_attribute(**loop, name);
  const auto* space = of.as<value::space>();
  const value_map* const entries = space ? &(*space)->entries : of.entries();
  const value* const found = entries ? find(*entries, name) : nullptr;
  return found ? *found : value::nothing(name);
}

value item_of(const value& of, const value& key, budget& limits) {
  if (key.string()) return attribute_of(of, *key.string());
  if (of.is_undefined()) complain(fmt::format("an item of {}", kind_of(of)));
  const auto* index = key.as<std::int64_t>();
  if (!index) return value::nothing(name_of(key));
  if (const auto* list = of.items()) {
    const auto place = place_in(*index, list->size());
    return place ? (*list)[*place] : value::nothing(fmt::format("[{}]", *index));
  }
  if (!of.string()) return value::nothing(fmt::format("[{}]", *index));
  limits.take_bytes(of.string()->size());
  const std::vector<std::string_view> letters = letters_of(*of.string());
  const auto place = place_in(*index, letters.size());
  return place ? value{std::string{letters[*place]}} : value::nothing(fmt::format("[{}]", *index));
}

value pairs_of(const value_map& entries, budget& limits) {
  limits.take_bytes(entries.size() * 4 * sizeof(value));
  value_list all;
  for (const auto& [key, v] : entries) all.push_back(value::of_list({key, v}, true));
  return value::of_list(std::move(all));
}

}  // namespace hydra::jinja
