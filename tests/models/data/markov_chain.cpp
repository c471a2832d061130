#include "models/data/markov_chain.hpp"

#include "runtime/fault.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <numeric>

using namespace hydra;

namespace {

/// Mean of -log P(symbol | the two before) over a text of an order-2 chain of `symbols` symbols.
double measured_entropy(const markov_chain& language, std::uint64_t symbols, const std::vector<std::uint32_t>& text) {
  double sum = 0;
  for (std::size_t i = 2; i < text.size(); ++i)
    sum -= std::log(language.distribution(text[i - 2] * symbols + text[i - 1])[text[i]]);
  return sum / static_cast<double>(text.size() - 2);
}

}  // namespace

TEST_CASE("a language is a function of its seed and the text's stream") {
  const auto text = [](std::uint64_t seed, std::uint64_t stream) {
    return markov_chain{32, 2, seed}.generate(100, stream);
  };
  CHECK(text(1, 1) == text(1, 1));
  CHECK(text(1, 1) != text(2, 1));
  CHECK(text(1, 1) != text(1, 2));
}

TEST_CASE("a distribution sums to one and prefers a few symbols") {
  const std::vector<double> p = markov_chain{32, 2, 1}.distribution(77);
  CHECK(std::accumulate(p.begin(), p.end(), 0.0) == Approx(1));
  CHECK(std::ranges::count_if(p, [](double x) { return x > 0.01; }) <= 6);
}

TEST_CASE("the conditional entropy is what the texts have, well below log(symbols)") {
  const markov_chain language{12, 2, 1};
  const double entropy = language.conditional_entropy().value();
  CHECK(measured_entropy(language, 12, language.generate(200000, 1)) == Approx(entropy).margin(0.01));
  CHECK(entropy < 0.7 * std::log(12));
  CHECK(entropy > 0.5);
}

TEST_CASE("every symbol occurs") {
  std::vector<int> count(32);
  for (const std::uint32_t s : markov_chain{32, 2, 1}.generate(50000, 1)) count.at(s)++;
  CHECK(std::ranges::all_of(count, [](int n) { return n > 0; }));
}

TEST_CASE("languages without a finite table have no known entropy, impossible ones are refused") {
  CHECK_FALSE(markov_chain(50000, 2, 1).conditional_entropy().has_value());
  CHECK_THROWS_AS(markov_chain(1, 2, 1), fault_error);
  CHECK_THROWS_AS(markov_chain(32, 0, 1), fault_error);
  CHECK_THROWS_AS(markov_chain(50000, 3, 1), fault_error);
}
