#include "apps/commands/command_line.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

namespace hydra::apps {

namespace {

template <class Value>
struct value_of {
  using type = Value;
};

template <class Value>
struct value_of<std::optional<Value>> {
  using type = Value;
};

/// Keeps the digits, or returns what is wrong. Needed because CLI11 reads -1 as the largest unsigned number, a number
/// that is too large as the largest one, and 010 as 8.
template <class Integer>
std::string read_integer(std::string& text) {
  Integer value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  using limits = std::numeric_limits<Integer>;
  if (error != std::errc{} || stop != end)
    return fmt::format("\"{}\" is not a whole number from {} to {}", text, limits::min(), limits::max());
  text = std::to_string(value);
  return "";
}

}  // namespace

declared_option& declared_option::required() {
  is_->required();
  return *this;
}

declared_option& declared_option::takes(const std::string& value) {
  is_->type_name(value);
  return *this;
}

declared_option& declared_option::repeated() {
  is_->type_size(1)->allow_extra_args(false);
  return *this;
}

declared_option& declared_option::repeated(const std::string& value) { return takes(value).repeated(); }

declared_option& declared_option::within(int least, int most) {
  is_->check(CLI::Range(least, most));
  return *this;
}

declared_option& declared_option::optional(const std::string& value, const std::string& otherwise) {
  is_->expected(0, 1)->default_str(otherwise)->type_name(value);
  return *this;
}

declared_option& declared_option::shows_default() {
  is_->capture_default_str();
  return *this;
}

declared_option& declared_option::needs(const declared_option& other) {
  is_->needs(other.is_);
  return *this;
}

declared_option& declared_option::excludes(const declared_option& other) {
  is_->excludes(other.is_);
  return *this;
}

bool declared_option::is_given() const { return is_->count() > 0; }

template <class Value>
declared_option command_line::add_option(const std::string& name, Value& into, const std::string& help) {
  CLI::Option* const option = app_.add_option(name, into, help);
  using value = typename value_of<Value>::type;
  if constexpr (std::is_integral_v<value>) option->transform(CLI::Validator{read_integer<value>, ""});
  return declared_option{option};
}

declared_option command_line::add_flag(const std::string& name, bool& into, const std::string& help) {
  return declared_option{app_.add_flag(name, into, help)};
}

void command_line::example(const std::string& line) { app_.footer("such as: " + line); }

template declared_option command_line::add_option(const std::string&, std::string&, const std::string&);
template declared_option command_line::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template declared_option command_line::add_option(const std::string&, int&, const std::string&);
template declared_option command_line::add_option(const std::string&, std::int64_t&, const std::string&);
template declared_option command_line::add_option(const std::string&, std::uint64_t&, const std::string&);
template declared_option command_line::add_option(const std::string&, double&, const std::string&);
template declared_option command_line::add_option(const std::string&, std::optional<std::string>&, const std::string&);
template declared_option command_line::add_option(const std::string&, std::optional<std::int64_t>&, const std::string&);
template declared_option command_line::add_option(const std::string&, std::optional<std::uint64_t>&,
                                                  const std::string&);

}  // namespace hydra::apps
