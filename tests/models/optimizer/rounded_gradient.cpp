#include "models/optimizer/rounded_gradient.hpp"

#include "models/optimizer/bf16.hpp"
#include "models/optimizer/gradient_clip.hpp"
#include "models/random.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

using namespace hydra;

namespace {

std::vector<std::uint16_t> random_halves(std::size_t n, std::uint64_t key) {
  std::vector<std::uint16_t> all;
  for (std::size_t i = 0; i < n; ++i) all.push_back(to_bf16(static_cast<float>(random_normal(key, i))));
  return all;
}

}  // namespace

TEST_CASE("a gradient in bf16 is widened with its tied copies, added in fp32 in their order, from any offset") {
  const auto own = random_halves(100, 1), first = random_halves(100, 2), second = random_halves(100, 3);
  const rounded_gradient gradient{{own, first, second}};
  std::vector<float> part(30);
  gradient.widen(50, part);
  std::size_t rounded_sums = 0;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const float sum = from_bf16(own[50 + i]) + from_bf16(first[50 + i]) + from_bf16(second[50 + i]);
    CHECK(part[i] == sum);
    rounded_sums += static_cast<std::size_t>(sum == from_bf16(to_bf16(sum)));
  }
  CHECK(rounded_sums < part.size());  // bf16 could not represent them
}

TEST_CASE("the norm of a gradient in bf16 is the norm of its pieces' norms, near that of the whole") {
  for (const std::size_t n : {std::size_t{1}, widened_at_once, widened_at_once + 1, 3 * widened_at_once - 5}) {
    const auto own = random_halves(n, 1), tied_copy = random_halves(n, 2);
    const rounded_gradient gradient{{own, tied_copy}};
    std::vector<float> whole(n), norms;
    gradient.widen(0, whole);
    for (std::size_t i = 0; i < n; i += widened_at_once)
      norms.push_back(gradient_norm(std::span<const float>(whole).subspan(i, std::min(widened_at_once, n - i))));
    CHECK(gradient_norm(gradient) == (n > widened_at_once ? total_norm(norms) : gradient_norm(whole)));
    CHECK(gradient_norm(gradient) == Approx(gradient_norm(whole)).epsilon(1e-5));
  }
}
