#include "models/families/integer_list.hpp"

#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/trimmed.hpp"

#include <fmt/format.h>

#include <charconv>

namespace hydra {

std::vector<std::int64_t> integer_list(std::string_view what, std::string_view text) {
  std::vector<std::int64_t> result;
  for (std::size_t begin = 0, end = 0; end != text.npos; begin = end + 1) {
    end = text.find(',', begin);
    const std::string_view one = trimmed(text.substr(begin, end == text.npos ? end : end - begin), " ");
    const auto [rest, error] = std::from_chars(one.data(), one.data() + one.size(), result.emplace_back());
    if (error != std::errc{} || rest != one.data() + one.size())
      refuse(fmt::format("{} is \"{}\"; it must be integers like \"3,4,6,3\"", what, shown(text)));
  }
  return result;
}

std::vector<std::int64_t> integers_or_none(std::string_view what, std::string_view text) {
  return trimmed(text, " ") == "none" ? std::vector<std::int64_t>{} : integer_list(what, text);
}

}  // namespace hydra
