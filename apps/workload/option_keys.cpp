#include "apps/workload/option_keys.hpp"

#include "apps/workload/convert.hpp"

#include <array>
#include <string>

namespace hydra::apps {

namespace {

option_value option_from(const value& v, value_kind kind) {
  switch (kind) {
    case value_kind::boolean:
      return to<bool>(v);
    case value_kind::integer:
      return to<std::int64_t>(v);
    case value_kind::real:
      return to<double>(v);
    case value_kind::bytes:
      return to<byte_count>(v);
    case value_kind::rate:
      return to<byte_rate>(v);
    case value_kind::time:
      return to<duration>(v);
    default:  // a text, or what may be one
      return v.as<std::int64_t>() ? std::to_string(*v.as<std::int64_t>()) : to<std::string>(v);
  }
}

}  // namespace

key_rule rule_of(const option& o) {
  using enum value_kind;
  constexpr std::array kinds{boolean, integer, real, text, bytes, rate, time};
  static_assert(kinds.size() == std::variant_size_v<option_value>);
  return {.name = o.name,
          .kind = kinds.at(o.standard.index()),
          .help = o.help,
          .required = o.required,
          .fallback = default_text(o),
          .range = o.range,
          .choices = o.choices};
}

option_values read_options(const value_table& keys, const std::vector<key_rule>& rules) {
  option_values given;
  for (const key_rule& rule : rules)
    if (const value* const v = keys.find(rule.name)) given.emplace(rule.name, option_from(*v, rule.kind));
  return given;
}

}  // namespace hydra::apps
