#include "models/parameter_slice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <numeric>
#include <span>

namespace hydra {
namespace {

std::int64_t product(std::span<const std::int64_t> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{1}, std::multiplies{});
}

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace

std::vector<std::int64_t> parameter_slice::shape() const {
  std::vector<std::int64_t> own = whole;
  own.at(dimension) = 0;
  for (const range& r : parts) own[dimension] += r.size();
  return own;
}

void parameter_slice::for_each_run(const std::function<void(std::size_t, std::size_t, std::size_t)>& run) const {
  const std::span all{whole};
  const std::int64_t outer = product(all.first(dimension)), inner = product(all.subspan(dimension + 1));
  std::size_t in_slice = 0;
  for (std::int64_t o = 0; o < outer; ++o) {
    for (const range& r : parts) {
      const auto n = static_cast<std::size_t>(r.size() * inner);
      run(static_cast<std::size_t>((o * whole[dimension] + r.first) * inner), in_slice, n);
      in_slice += n;
    }
  }
}

parameter_slice::range piece_place::of_row(std::int64_t n) const noexcept {
  return {n * number / of, n * (number + 1) / of};
}

std::vector<parameter_slice::range> piece_place::of_each_row(const std::vector<std::int64_t>& rows) const {
  std::vector<parameter_slice::range> parts;
  std::int64_t first = 0;
  for (const std::int64_t n : rows) {
    const auto own = of_row(n);
    parts.push_back({first + own.first, first + own.past});
    first += n;
  }
  return parts;
}

std::string piece_name(const std::string& parameter, const piece_place& piece) {
  return fmt::format("{}/{}of{}", parameter, piece.number + 1, piece.of);
}

std::string whole_name(std::string_view parameter) {
  const auto slash = parameter.rfind('/');
  if (slash == std::string_view::npos) return std::string{parameter};
  const std::string_view place = parameter.substr(slash + 1);
  const auto middle = place.find("of");
  const bool is_piece =
      middle != std::string_view::npos && is_number(place.substr(0, middle)) && is_number(place.substr(middle + 2));
  return std::string{is_piece ? parameter.substr(0, slash) : parameter};
}

}  // namespace hydra
