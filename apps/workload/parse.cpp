#include "apps/workload/parse.hpp"

#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/utf8.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <vector>

namespace hydra::apps {

namespace {

/// Bytes of the first `columns` characters (the library counts characters, not bytes).
std::size_t bytes_of(std::string_view line, std::size_t columns) {
  std::size_t at = 0;
  for (; at < line.size(); ++at) {
    if (begins_code_point(line[at]) && columns-- == 0) break;
  }
  return at;
}

/// Converts the library's tree, one file at a time.
class converter {
 public:
  converter(std::string_view text, const std::string& file) : source_{std::make_shared<std::string>(file)} {
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      lines_.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  }

  value_table table(const toml::table& from) const {
    value_table to;
    std::vector<std::pair<toml::source_position, table_entry>> entries;
    for (const auto& [key, node] : from)
      entries.emplace_back(key.source().begin, table_entry{std::string{key.str()}, at(key.source()), convert(node)});
    std::ranges::sort(entries, {}, [](const auto& e) { return std::pair{e.first.line, e.first.column}; });
    for (auto& [position, entry] : entries) to.entries.push_back(std::move(entry));
    return to;
  }

 private:
  place at(const toml::source_region& region) const { return {source_, region.begin.line}; }

  /// A scalar never spans lines, except long texts, which are not asked for.
  std::string written(const toml::source_region& region) const {
    const std::string_view line = lines_.at(region.begin.line - 1);
    const std::size_t first = bytes_of(line, region.begin.column - 1);
    return std::string{line.substr(first, bytes_of(line, region.end.column - 1) - first)};
  }

  value_list list(const toml::array& from) const {
    value_list to;
    for (const auto& node : from) to.push_back(convert(node));
    return to;
  }

  value convert(const toml::node& node) const {
    if (const auto* t = node.as_table()) return {at(node.source()), {}, table(*t)};
    if (const auto* a = node.as_array()) return {at(node.source()), {}, list(*a)};
    if (const auto* s = node.as_string()) return {at(node.source()), {}, s->get()};
    value scalar{at(node.source()), written(node.source()), std::monostate{}};
    if (const auto* b = node.as_boolean()) scalar.content = b->get();
    if (const auto* i = node.as_integer()) scalar.content = i->get();
    if (const auto* f = node.as_floating_point()) scalar.content = f->get();
    return scalar;
  }

  std::shared_ptr<const std::string> source_;
  std::vector<std::string_view> lines_;
};

}  // namespace

value_table parse_toml(std::string_view text, const std::string& file) {
  try {
    return converter{text, file}.table(toml::parse(text, std::string_view{file}));
  } catch (const toml::parse_error& e) {
    const place where{std::make_shared<std::string>(file), e.source().begin.line};
    refuse(fmt::format("{}: not valid TOML: {}", to_string(where), shown(e.description())));
  }
}

std::optional<value> parse_value(std::string_view text) {
  try {
    value_table parsed = parse_toml(fmt::format("value = {}", text), "value");
    return parsed.entries.size() == 1 ? std::optional{std::move(parsed.entries.front().is)} : std::nullopt;
  } catch (const fault_error&) {
    return std::nullopt;
  }
}

}  // namespace hydra::apps
