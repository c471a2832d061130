#include "models/data/token_masking.hpp"

#include "models/losses/class_targets.hpp"
#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

#include <numeric>
#include <vector>

using namespace hydra;
using Catch::Matchers::Contains;

namespace {

constexpr encoder_marks marks{.classify = 1, .separate = 2, .padding = 0, .mask = 3};
constexpr std::int64_t vocabulary = 1000;

struct masked_row {
  std::vector<std::int64_t> ids, targets;
  std::size_t counted;
};

/// [CLS] 100..100+n-1 [SEP] and three padding tokens, masked.
masked_row mask(std::size_t n, std::uint64_t index, mask_options options = {}) {
  masked_row row{std::vector<std::int64_t>(n + 5), std::vector<std::int64_t>(n + 5), 0};
  row.ids[0] = marks.classify;
  std::iota(row.ids.begin() + 1, row.ids.begin() + 1 + static_cast<std::ptrdiff_t>(n), 100);
  row.ids[n + 1] = marks.separate;
  row.counted = token_masking{options, marks, vocabulary, "data"}.apply(row.ids, row.targets, 1, index);
  return row;
}

}  // namespace

TEST_CASE("fifteen per cent of the tokens are chosen, but never a special one") {
  for (std::uint64_t index = 0; index < 50; ++index) {
    const masked_row row = mask(100, index);
    CHECK(row.counted == 15);
    CHECK(std::ranges::count(row.targets, masked_target) == 90);
    CHECK(row.targets[0] == masked_target);
    for (std::size_t i = 101; i < 105; ++i) CHECK(row.targets[i] == masked_target);
    for (std::size_t i = 1; i <= 100; ++i) {
      const auto was = static_cast<std::int64_t>(99 + i);
      CHECK((row.targets[i] == was || (row.targets[i] == masked_target && row.ids[i] == was)));
    }
  }
}

TEST_CASE("of the chosen ones 80 per cent are masked, 10 per cent replaced and 10 per cent kept everywhere") {
  double hidden = 0, kept = 0, replaced = 0, chosen = 0;
  std::vector<std::size_t> places(102);
  for (std::uint64_t index = 0; index < 2000; ++index) {
    const masked_row row = mask(100, index);
    for (std::size_t i = 1; i <= 100; ++i) {
      if (row.targets[i] == masked_target) continue;
      ++chosen, ++places[i];
      ++(row.ids[i] == marks.mask ? hidden : row.ids[i] == row.targets[i] ? kept : replaced);
    }
  }
  CHECK(chosen == 30000);
  CHECK(hidden / chosen == Approx(0.8).margin(0.01));  // four standard errors
  CHECK(kept / chosen == Approx(0.1).margin(0.008));
  CHECK(replaced / chosen == Approx(0.1).margin(0.008));
  for (std::size_t i = 1; i <= 100; ++i) CHECK(places[i] == Approx(300).margin(70));
}

TEST_CASE("masks differ between samples and seeds, and a sample always has the same masks") {
  CHECK(mask(50, 7).ids == mask(50, 7).ids);
  CHECK(mask(50, 7).targets != mask(50, 8).targets);
  CHECK(mask(50, 7).targets != mask(50, 7, {.seed = 1}).targets);
}

TEST_CASE("at least one token of a sample is chosen, and with a share of 1 all are") {
  CHECK(mask(1, 0).counted == 1);
  CHECK(mask(0, 0).counted == 0);
  CHECK(mask(20, 0, {.share = 1}).counted == 20);
}

TEST_CASE("a share of 0 or above 1 is refused") {
  for (const double share : {0.0, -0.1, 1.1})
    CHECK_THROWS_WITH(mask(10, 0, {.share = share}), Contains("data: mask_share is"));
}
