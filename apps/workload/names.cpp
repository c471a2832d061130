#include "apps/workload/names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hydra::apps {

namespace {

bool spoils_a_name(char c) { return c == '/' || static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }

}  // namespace

std::string checked_name(const value& v, std::string_view key) {
  const auto& name = std::get<std::string>(v.content);
  if (name == "." || name == ".." || std::ranges::any_of(name, spoils_a_name))
    refuse(
        v.where, key,
        fmt::format("\"{}\" cannot name a folder: \"/\", control characters, \".\" and \"..\" are not allowed", name));
  return name;
}

}  // namespace hydra::apps
