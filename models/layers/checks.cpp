#include "models/layers/checks.hpp"

#include "models/pieces/token_columns.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace hydra {

void require_input(std::string_view who, const tensor_spec& input, element type, std::size_t dimensions,
                   std::int64_t last) {
  const bool suits =
      input.type == type && input.shape.size() == dimensions && (last == 0 || input.shape.back() == last);
  if (suits) return;
  const std::string width = last == 0 ? "" : fmt::format(", the last one {}", last);
  refuse(fmt::format("{} gets {}; it wants {} with {} dimensions{}", who, to_string(input), to_string(type), dimensions,
                     width));
}

void require_token_columns(std::string_view who, const tensor_spec& input, std::int64_t width, bool targets) {
  const std::int64_t wanted = width + columns_of_targets(targets);
  const bool packed = input.shape.size() == 3 && input.shape[2] == wanted + 1;
  require_input(who, input, element::f32, 3, packed ? wanted + 1 : wanted);
}

void require_positive(std::string_view what, std::int64_t value) {
  if (value <= 0) refuse(fmt::format("{} is {}; it must be positive", what, value));
}

void require_context(std::string_view who, std::int64_t tokens, std::int64_t context) {
  if (tokens > context) refuse(fmt::format("{} gets samples of {} tokens; its context is {}", who, tokens, context));
}

void require_dropout(std::string_view what, double p) {
  if (!(p >= 0 && p < 1)) refuse(fmt::format("{} is {}; it must be at least 0 and below 1", what, p));
}

std::string eps_unless_usual(double eps) { return eps == 1e-5 ? "" : fmt::format(" eps={}", eps); }

void require_images(std::string_view who, const tensor_spec& input, std::int64_t channels) {
  require_input(who, input, element::f32, 4);
  if (input.shape[1] != channels)
    refuse(fmt::format("{} gets {}; it wants images of {} channels", who, to_string(input), channels));
}

void require_groups(std::string_view who, std::int64_t groups, std::int64_t width) {
  require_positive(fmt::format("{}: groups", who), groups);
  if (width % groups != 0) refuse(fmt::format("{}: {} groups do not divide width {}", who, groups, width));
}

void require_heads(std::string_view who, std::int64_t heads, std::int64_t width) {
  require_positive(fmt::format("{}: heads", who), heads);
  if (width % heads != 0) refuse(fmt::format("{}: {} heads do not divide width {}", who, heads, width));
}

void require_pieces(std::uint32_t pieces, std::int64_t n, std::string_view what) {
  if (n % pieces == 0) return;
  std::vector<std::int64_t> possible;
  for (std::int64_t i = 2; i <= n; ++i)
    if (n % i == 0) possible.push_back(i);
  const std::string others = possible.empty() ? "nothing does" : fmt::format("these do: {}", fmt::join(possible, ", "));
  refuse(fmt::format("{} pieces do not divide the {} {}; {}", pieces, n, what, others));
}

}  // namespace hydra
