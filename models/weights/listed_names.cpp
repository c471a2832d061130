#include "models/weights/listed_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace hydra {

std::string listed_names(std::span<const std::string> names) {
  constexpr std::size_t named_at_most = 5;
  const auto shown = names.first(std::min(names.size(), named_at_most));
  const std::string text = fmt::format("{}", fmt::join(shown, ", "));
  return names.size() == shown.size() ? text : fmt::format("{} and {} more", text, names.size() - shown.size());
}

}  // namespace hydra
