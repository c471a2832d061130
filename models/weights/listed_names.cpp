#include "models/weights/listed_names.hpp"

#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace hydra {

std::string listed_names(std::span<const std::string> names) {
  constexpr std::size_t named_at_most = 5;
  std::vector<std::string> first;
  std::ranges::transform(names.first(std::min(names.size(), named_at_most)), std::back_inserter(first), shown);
  const std::string text = fmt::format("{}", fmt::join(first, ", "));
  return names.size() == first.size() ? text : fmt::format("{} and {} more", text, names.size() - first.size());
}

}  // namespace hydra
