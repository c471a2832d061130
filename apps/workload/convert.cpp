#include "apps/workload/convert.hpp"

#include <charconv>

namespace hydra::apps {

std::optional<double> to_fraction(std::string_view percent) {
  if (!percent.ends_with('%')) return std::nullopt;
  const char* const end = percent.data() + percent.size() - 1;
  double number = 0;
  const auto [stop, error] = std::from_chars(percent.data(), end, number);
  if (error != std::errc{} || stop != end || !(number > 0 && number <= 100)) return std::nullopt;
  return number / 100;
}

byte_count bytes_from(const value& v) {
  const auto* number = v.as<std::int64_t>();
  return number ? byte_count{static_cast<std::uint64_t>(*number)} : parse_bytes(std::get<std::string>(v.content));
}

byte_rate rate_from(const value& v) { return parse_rate(std::get<std::string>(v.content)); }

duration duration_from(const value& v) { return parse_duration(std::get<std::string>(v.content)); }

double real_from(const value& v) {
  const auto* integer = v.as<std::int64_t>();
  return integer ? static_cast<double>(*integer) : std::get<double>(v.content);
}

const value_table& sub_table(const value_table& table, std::string_view key) {
  static const value_table none;
  const value* const inner = table.find(key);
  return inner ? std::get<value_table>(inner->content) : none;
}

const value_list& sub_tables(const value_table& table, std::string_view key) {
  static const value_list none;
  const value* const inner = table.find(key);
  return inner ? std::get<value_list>(inner->content) : none;
}

}  // namespace hydra::apps
