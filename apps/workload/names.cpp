#include "apps/workload/names.hpp"

#include "partition/checkpoint/checkpoint_folder.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/utf8.hpp"

#include <fmt/format.h>

namespace hydra::apps {

namespace {

constexpr std::size_t most_bytes = 255;

}  // namespace

void check_name(const std::string& name, const place& where, std::string_view key) {
  const bool controls =
      utf8_complaint(name).empty() && !is_printable(name);  // what is not text is refused with its byte
  if (name == "." || name == ".." || name.find('/') != name.npos || controls)
    refuse(
        where, key,
        fmt::format("\"{}\" cannot name a folder: \"/\", control characters (also of the direction of text), \".\" and "
                    "\"..\" are not allowed",
                    shown(name)));
  if (name.size() > most_bytes)
    refuse(
        where, key,
        fmt::format("\"{}\" has {} bytes; the name of a folder has at most {}", shown(name), name.size(), most_bytes));
}

std::string checked_name(const value& v, std::string_view key) {
  const auto& name = std::get<std::string>(v.content);
  check_name(name, v.where, key);
  return name;
}

std::string checked_model_name(const value& v, std::string_view key) {
  const std::string name = checked_name(v, key);
  if (const std::string why = why_no_checkpoints(name); !why.empty())
    refuse(v.where, key, fmt::format("\"{}\": {}", shown(name), why));
  return name;
}

}  // namespace hydra::apps
