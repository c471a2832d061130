#include "models/data/markov_chain.hpp"

#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

#include <numeric>

using namespace hydra;

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

TEST_CASE("every symbol occurs") {
  std::vector<int> count(32);
  for (const std::uint32_t s : markov_chain{32, 2, 1}.generate(50000, 1)) count.at(s)++;
  CHECK(std::ranges::all_of(count, [](int n) { return n > 0; }));
}

TEST_CASE("impossible languages are refused") {
  CHECK_THROWS_AS(markov_chain(1, 2, 1), fault_error);
  CHECK_THROWS_AS(markov_chain(32, 0, 1), fault_error);
  CHECK_THROWS_AS(markov_chain(50000, 3, 1), fault_error);
}
