#include "partition/inference/sampling.hpp"

#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <map>
#include <vector>

using namespace hydra;
using Catch::Matchers::Contains;

namespace {

/// Of probabilities 0.1, 0.4, 0.2, 0.3.
std::vector<float> four_tokens() {
  std::vector<float> logits;
  for (const double p : {0.1, 0.4, 0.2, 0.3}) logits.push_back(static_cast<float>(std::log(p)) + 5);
  return logits;
}

/// How often each id is picked, per pick.
std::map<std::int64_t, double> shares(const sampling_options& options, int picks = 20000) {
  std::map<std::int64_t, double> result;
  const auto logits = four_tokens();
  for (int i = 0; i < picks; ++i)
    result[pick_token(logits, options, {.sample = 3, .position = static_cast<std::uint64_t>(i)})] += 1.0 / picks;
  return result;
}

}  // namespace

TEST_CASE("a temperature of zero picks the likeliest token, the smaller id of equal ones") {
  CHECK(pick_token(four_tokens(), {.temperature = 0}, {}) == 1);
  CHECK(pick_token(std::vector<float>{0, 2, 2, 1}, {.temperature = 0}, {}) == 1);
}

TEST_CASE("tokens are picked as often as they are probable") {
  auto all = shares({});
  CHECK(all[0] == Approx(0.1).margin(0.01));
  CHECK(all[1] == Approx(0.4).margin(0.015));
  CHECK(all[3] == Approx(0.3).margin(0.015));
}

TEST_CASE("a temperature raises probabilities to its inverse") {
  auto sharper = shares({.temperature = 0.5});  // 1 : 16 : 4 : 9
  CHECK(sharper[1] == Approx(16.0 / 30).margin(0.015));
  CHECK(sharper[2] == Approx(4.0 / 30).margin(0.015));
}

TEST_CASE("top-k leaves the likeliest k tokens, in their proportions") {
  auto two = shares({.top_k = 2});
  CHECK(two.size() == 2);
  CHECK(two[1] == Approx(4.0 / 7).margin(0.015));
  CHECK(two[3] == Approx(3.0 / 7).margin(0.015));
  CHECK(shares({.top_k = 9}).size() == 4);
}

TEST_CASE("top-p leaves the fewest tokens that make up that probability, after the temperature") {
  CHECK(shares({.top_p = 0.35}).size() == 1);
  CHECK(shares({.top_p = 0.65}).size() == 2);
  CHECK(shares({.top_p = 0.75}).size() == 3);
  CHECK(shares({.temperature = 0.5, .top_p = 0.75}).size() == 2);  // 25 of 30
}

TEST_CASE("a pick depends on seed, sample and position and on nothing else") {
  const auto logits = four_tokens();
  const auto text = [&](std::uint64_t seed, std::uint64_t sample) {
    std::vector<std::int64_t> ids;
    for (std::uint64_t i = 0; i < 50; ++i) ids.push_back(pick_token(logits, {.seed = seed}, {sample, i}));
    return ids;
  };
  CHECK(text(1, 0) == text(1, 0));
  CHECK(text(1, 0) != text(2, 0));
  CHECK(text(1, 0) != text(1, 1));
}

TEST_CASE("impossible numbers are refused, and logits that are not numbers") {
  CHECK_THROWS_WITH(check({.temperature = -1}), Contains("temperature is -1"));
  CHECK_THROWS_WITH(check({.top_k = -1}), Contains("top-k is -1"));
  CHECK_THROWS_WITH(check({.top_p = 0}), Contains("top-p is 0"));
  CHECK_NOTHROW(check({.temperature = 0, .top_k = 1, .top_p = 1}));
  CHECK_THROWS_WITH(pick_token(std::vector<float>{1, NAN}, {}, {}), Contains("logit of token 1 is nan"));
  CHECK(pick_token(std::vector<float>{-INFINITY, 1}, {}, {}) == 1);
}
