#include "apps/commands/command_line.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace hydra::apps {

declared_option& declared_option::required() {
  is_->required();
  return *this;
}

declared_option& declared_option::repeated() {
  is_->type_size(1)->allow_extra_args(false);
  return *this;
}

declared_option& declared_option::repeated(const std::string& value) {
  is_->type_name(value);
  return repeated();
}

declared_option& declared_option::within(int least, int most) {
  is_->check(CLI::Range(least, most));
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

template <class Value>
declared_option command_line::add_option(const std::string& name, Value& into, const std::string& help) {
  return declared_option{app_.add_option(name, into, help)};
}

declared_option command_line::add_flag(const std::string& name, bool& into, const std::string& help) {
  return declared_option{app_.add_flag(name, into, help)};
}

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
