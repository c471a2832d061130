#include "apps/workload/names.hpp"

#include "partition/checkpoint/checkpoint_folder.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hydra::apps {

namespace {

constexpr std::size_t most_bytes = 255;

bool spoils_a_name(char c) { return c == '/' || static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }

}  // namespace

std::string checked_name(const value& v, std::string_view key) {
  const auto& name = std::get<std::string>(v.content);
  if (name == "." || name == ".." || std::ranges::any_of(name, spoils_a_name))
    refuse(
        v.where, key,
        fmt::format("\"{}\" cannot name a folder: \"/\", control characters, \".\" and \"..\" are not allowed", name));
  if (name.size() > most_bytes)
    refuse(v.where, key, fmt::format("\"{}\" has {} bytes; the name of a folder has at most {}", name, name.size(), most_bytes));
  return name;
}

std::string checked_model_name(const value& v, std::string_view key) {
  const std::string name = checked_name(v, key);
  if (const std::string why = why_no_checkpoints(name); !why.empty())
    refuse(v.where, key, fmt::format("\"{}\": {}", name, why));
  return name;
}

}  // namespace hydra::apps
