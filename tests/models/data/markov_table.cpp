#include "models/data/markov_table.hpp"

#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <functional>

using namespace hydra;

namespace {

/// The probability of every state of an order-2 chain of 3 symbols after many steps from a uniform start, computed
/// directly.
std::vector<std::vector<double>> long_run(const markov_chain& language) {
  std::vector<std::vector<double>> mass(3, std::vector<double>(3, 1.0 / 9));
  for (int step = 0; step < 2000; ++step) {
    std::vector<std::vector<double>> after(3, std::vector<double>(3));
    for (std::uint64_t a = 0; a < 3; ++a)
      for (std::uint64_t b = 0; b < 3; ++b)
        for (std::uint64_t c = 0; c < 3; ++c) after[b][c] += mass[a][b] * language.distribution(3 * a + b)[c];
    mass = after;
  }
  return mass;
}

/// Mean of -log q(next | last h symbols) under P(last h symbols, next).
double expected_log_loss(const markov_chain& language, const markov_table& truth,
                         const std::function<double(std::uint64_t, std::uint64_t)>& q) {
  const auto mass = long_run(language);
  double sum = 0;
  for (std::uint64_t s = 0; s < 9; ++s)
    for (std::uint64_t next = 0; next < 3; ++next)
      sum -= mass[s / 3][s % 3] * truth.probability(s, 2, next) * std::log(q(s, next));
  return sum;
}

const markov_chain tiny{3, 2, 5};

}  // namespace

TEST_CASE("with as many symbols as the order the table repeats the chain") {
  const markov_table table{tiny};
  REQUIRE(table.order() == 2);
  for (std::uint64_t s = 0; s < 9; ++s)
    for (std::uint64_t next = 0; next < 3; ++next)
      CHECK(table.probability(s, 2, next) == Approx(tiny.distribution(s)[next]).epsilon(1e-12));
}

TEST_CASE("with fewer symbols the forgotten ones are averaged by their frequency") {
  const markov_table table{tiny};
  const auto mass = long_run(tiny);
  for (std::uint64_t b = 0; b < 3; ++b)
    for (std::uint64_t next = 0; next < 3; ++next) {
      double joint = 0, all = 0;
      for (std::uint64_t a = 0; a < 3; ++a) joint += mass[a][b] * tiny.distribution(3 * a + b)[next], all += mass[a][b];
      CHECK(table.probability(b, 1, next) == Approx(joint / all).epsilon(1e-9));
    }
}

TEST_CASE("entropies are the expected log-losses of the true distributions") {
  const markov_table table{tiny};
  const auto seeing = [&](std::size_t h, std::uint64_t digits) {
    return [&table, h, digits](std::uint64_t s, std::uint64_t next) { return table.probability(s % digits, h, next); };
  };
  CHECK(table.entropy(2) == Approx(expected_log_loss(tiny, table, seeing(2, 9))).epsilon(1e-9));
  CHECK(table.entropy(1) == Approx(expected_log_loss(tiny, table, seeing(1, 3))).epsilon(1e-9));
  CHECK(table.entropy(2) < table.entropy(1));
  CHECK(table.entropy(7) == table.entropy(2));
}

TEST_CASE("no other predictor has an expected log-loss below the entropy") {
  const markov_table table{tiny};
  const auto flattened = [&](std::uint64_t s, std::uint64_t next) {
    return 0.99 * table.probability(s, 2, next) + 0.01 / 3;
  };
  const auto uniform = [](std::uint64_t, std::uint64_t) { return 1.0 / 3; };
  CHECK(expected_log_loss(tiny, table, flattened) > table.entropy(2));
  CHECK(expected_log_loss(tiny, table, uniform) == Approx(std::log(3)));
}

TEST_CASE("every order has entropies that fall with the number of symbols seen, and rows that sum to one") {
  for (const std::int64_t order : {1, 2, 3, 4}) {
    const markov_table table{markov_chain{6, order, 1}};
    REQUIRE(table.order() == static_cast<std::size_t>(order));
    for (std::size_t h = 1; h <= table.order(); ++h) {
      double sum = 0;
      for (std::uint64_t next = 0; next < 6; ++next) sum += table.probability(0, h, next);
      CHECK(sum == Approx(1));
      if (h > 1) CHECK(table.entropy(h) < table.entropy(h - 1));
    }
  }
}

TEST_CASE("a language is much more regular than noise") {
  const markov_table table{markov_chain{12, 2, 1}};
  CHECK(table.entropy(2) < 0.7 * std::log(12));
  CHECK(table.entropy(2) > 0.5);
}

TEST_CASE("there is no table for languages with more than 2^20 transitions") {
  CHECK(markov_table::exists_for({1024, 1, 1}));
  CHECK_FALSE(markov_table::exists_for({1025, 1, 1}));
  CHECK_THROWS_AS((markov_table{markov_chain{50000, 2, 1}}), fault_error);
}
