#include "models/data/token_windows.hpp"

#include "runtime/base/fault.hpp"
#include "tests/conformance/data.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <numeric>

using namespace hydra;
using Catch::Matchers::Contains;

namespace {

token_list counting(std::size_t n) {
  std::vector<std::uint32_t> ids(n);
  std::iota(ids.begin(), ids.end(), 0u);
  return token_list{ids};
}

token_windows windows(std::size_t tokens, std::int64_t context, std::size_t validation = 0) {
  return token_windows{{.parts = {.name = "counting",
                                  .train = counting(tokens),
                                  .validation = validation == 0 ? token_list{} : counting(validation),
                                  .vocabulary = 100},
                        .context = context}};
}

std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> sample(const data_source& data, std::size_t index) {
  std::vector<std::int64_t> input(4), target(4);
  CHECK(data.read(split::train, index, std::as_writable_bytes(std::span{input}),
                  std::as_writable_bytes(std::span{target})) == 4);
  return {input, target};
}

}  // namespace

TEST_CASE("sample i is the window at i * context, targets one further") {
  test::conforms(windows(13, 4));
  const auto [input, target] = sample(windows(13, 4), 1);
  CHECK(input == std::vector<std::int64_t>{4, 5, 6, 7});
  CHECK(target == std::vector<std::int64_t>{5, 6, 7, 8});
}

TEST_CASE("an incomplete tail is dropped") {
  CHECK(windows(12, 4).samples(split::train) == 2);
  CHECK(windows(13, 4).samples(split::train) == 3);
  CHECK(windows(5, 4).samples(split::train) == 1);
  CHECK(windows(5, 4).samples(split::validation) == 0);
  CHECK(windows(5, 4, 9).samples(split::validation) == 2);
}

TEST_CASE("lists too short for one sample and models without a context are refused") {
  CHECK_THROWS_WITH(windows(4, 4), Contains("4 training tokens") && Contains("takes 5"));
  CHECK_THROWS_WITH(windows(5, 4, 3), Contains("3 validation tokens"));
  CHECK_THROWS_WITH(windows(5, 0), Contains("counting needs a model with a context"));
}

TEST_CASE("a sample beyond the end or into a buffer of another size is refused") {
  std::vector<std::byte> right(32), wrong(31);
  const token_windows w = windows(5, 4);
  CHECK_NOTHROW(w.read(split::train, 0, right, right));
  CHECK_THROWS_AS(w.read(split::train, 1, right, right), fault_error);
  CHECK_THROWS_AS(w.read(split::train, 0, wrong, right), fault_error);
}

namespace {

/// A language with its text as training tokens, in windows of `context`.
token_windows text_of(const markov_chain& language, std::size_t tokens, std::int64_t context) {
  return token_windows{{.parts = {.name = "language",
                                  .train = token_list{language.generate(tokens, 1)},
                                  .vocabulary = static_cast<std::int64_t>(language.symbols())},
                        .context = context,
                        .language = std::make_shared<markov_table>(language)}};
}

/// The mean, and four times its standard error from the means of 50 equal parts of the samples: parts are long enough
/// to be almost independent; the samples within a part need not be.
std::pair<double, double> mean_and_margin(const token_windows& data, std::size_t samples) {
  constexpr std::size_t parts = 50;
  double before = 0, sum = 0, squares = 0;
  for (std::size_t k = 1; k <= parts; ++k) {
    const std::size_t count = k * samples / parts;
    const double total = data.floor(split::train, count)->log_loss * static_cast<double>(count);
    const double part = (total - before) / (static_cast<double>(samples) / parts);
    before = total, sum += part, squares += part * part;
  }
  const double mean = sum / parts;
  return {mean, 4 * std::sqrt((squares / parts - mean * mean) / (parts - 1))};
}

}  // namespace

TEST_CASE("the floor's entropy is the mean over all positions, including those that see few symbols") {
  const markov_chain language{5, 3, 2};
  const markov_table table{language};
  const auto entropy = [&](std::int64_t context) {
    return text_of(language, 100, context).floor(split::train, 1)->entropy;
  };
  CHECK(entropy(1) == Approx(table.entropy(1)));
  CHECK(entropy(2) == Approx((table.entropy(1) + table.entropy(2)) / 2));
  CHECK(entropy(8) == Approx((table.entropy(1) + table.entropy(2) + 6 * table.entropy(3)) / 8));
}

TEST_CASE("the floor's log-loss is that of the chain on these tokens, each window by itself") {
  const markov_chain language{4, 2, 2};
  const markov_table table{language};
  const auto text = language.generate(7, 1);
  double sum = 0;
  for (const std::size_t start : {0u, 3u}) {
    sum -= std::log(table.probability(text[start], 1, text[start + 1]));
    for (const std::size_t i : {start + 1, start + 2})
      sum -= std::log(language.distribution(4 * text[i - 1] + text[i])[text[i + 1]]);
  }
  CHECK(text_of(language, 7, 3).floor(split::train, 2)->log_loss == Approx(sum / 6));
  CHECK(text_of(language, 7, 3).floor(split::train, 99)->log_loss == Approx(sum / 6));  // there are only two samples
}

TEST_CASE("the floor's log-loss approaches its entropy") {
  for (const std::int64_t order : {1, 2, 3}) {
    const token_windows data = text_of({8, order, 1}, 200001, 4);
    const auto [log_loss, margin] = mean_and_margin(data, 50000);
    CHECK(margin < 0.02);
    CHECK(log_loss == Approx(data.floor(split::train, 50000)->entropy).margin(margin));
  }
}

TEST_CASE("on many tokens no predictor has a log-loss below the floor") {
  const markov_chain language{6, 2, 3};
  const token_windows data = text_of(language, 60001, 6);
  const auto text = language.generate(60001, 1);
  double flattened = 0, forgetful = 0;
  const markov_table table{language};
  for (std::size_t i = 0; i < 60000; ++i) {
    const double last = table.probability(text[i], 1, text[i + 1]);
    const double both = i % 6 == 0 ? last : language.distribution(6 * text[i - 1] + text[i])[text[i + 1]];
    flattened -= std::log(0.9 * both + 0.1 / 6);
    forgetful -= std::log(last);
  }
  const double floor = data.floor(split::train, 10000)->log_loss;
  CHECK(floor < flattened / 60000);
  CHECK(floor < forgetful / 60000);
}

TEST_CASE("tokens of unknown origin, and an empty split, have no floor") {
  CHECK_FALSE(windows(13, 4).floor(split::train, 2).has_value());
  CHECK_FALSE(text_of({4, 1, 1}, 50, 4).floor(split::validation, 1).has_value());
  CHECK_FALSE(text_of({4, 1, 1}, 50, 4).floor(split::train, 0).has_value());
}
