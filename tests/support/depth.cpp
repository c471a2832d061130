#include "tests/support/depth.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

namespace hydra::test {

bool is_deep() {
  const char* const depth = std::getenv("HYDRA_TESTS");
  return depth != nullptr && std::string_view(depth) == "deep";
}

std::uint32_t test_seed() {
  const char* const seed = std::getenv("HYDRA_TEST_SEED");
  return seed != nullptr && *seed != '\0' ? static_cast<std::uint32_t>(std::stoul(seed)) : 1;
}

std::vector<std::size_t> moments(std::size_t dense, std::size_t past, std::size_t stride) {
  std::vector<std::size_t> all;
  for (std::size_t n = 0; n < past; n += n < dense ? 1 : stride) all.push_back(n);
  return all;
}

std::vector<std::vector<std::size_t>> combinations(const std::vector<std::size_t>& sizes) {
  return is_deep() ? product_rows(sizes) : covering_rows(sizes, test_seed());
}

std::ranges::iota_view<std::uint32_t, std::uint32_t> seeds(std::uint32_t all) {
  if (is_deep()) return {1, all + 1};
  const std::uint32_t some = all / 5, first = 1 + test_seed() % (100'000 / some) * some;
  return {first, first + some};
}

}  // namespace hydra::test
