#include "actors/selection/search_space.hpp"

#include <catch2/catch.hpp>

#include <charconv>
#include <cmath>
#include <map>
#include <set>

using namespace hydra;

namespace search_space_test {

std::vector<std::string> draws(const searched_key& key, int n) {
  std::vector<std::string> all;
  for (int i = 0; i < n; ++i) {
    portable_random random{seed_for(1, key.key, static_cast<std::uint64_t>(i))};
    all.push_back(draw(key, random));
  }
  return all;
}

double number(const std::string& text) {
  double n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  REQUIRE(end == text.data() + text.size());
  return n;
}

std::size_t significant(const std::string& text) {
  std::string digits = text.substr(0, text.find('e'));
  std::erase_if(digits, [](char c) { return c < '0' || c > '9'; });
  digits.erase(0, digits.find_first_not_of('0'));
  return digits.size();
}

TEST_CASE("draws are within their bounds and have at most four significant digits", "[selection]") {
  for (const auto& [least, most] : {std::pair{1e-5, 1e-3}, {0.123456, 0.123457}, {1, 1e6}, {1e-9, 2e-9}})
    for (const distribution from : {distribution::uniform, distribution::log_uniform})
      for (const std::string& text : draws({"k", from, least, most}, 300)) {
        CAPTURE(text);
        CHECK(number(text) >= least);
        CHECK(number(text) <= most);
        CHECK((significant(text) <= 4 || number(text) == least || number(text) == most));
      }
}

TEST_CASE("of a log-uniform draw each decade has the same share, of a uniform one each tenth", "[selection]") {
  std::map<int, int> decades, tenths;
  for (const std::string& text : draws({"k", distribution::log_uniform, 1e-5, 1e-2}, 3000))
    ++decades[static_cast<int>(std::floor(std::log10(number(text)) + 1e-9))];
  for (int decade = -5; decade < -2; ++decade) CHECK(decades[decade] == Approx(1000).margin(100));
  for (const std::string& text : draws({"k", distribution::uniform, 2, 3}, 3000))
    ++tenths[static_cast<int>((number(text) - 2) * 10)];
  for (int tenth = 0; tenth < 10; ++tenth) CHECK(tenths[tenth] == Approx(300).margin(60));
}

TEST_CASE("integers are drawn with both bounds, alike or by their logarithm", "[selection]") {
  std::map<std::string, int> even, logarithmic;
  for (const std::string& text : draws({"k", distribution::integers, 1, 8}, 4000)) ++even[text];
  for (const std::string& text : draws({"k", distribution::log_integers, 1, 8}, 4000)) ++logarithmic[text];
  CHECK(even.size() == 8);
  for (const auto& [text, n] : even) CHECK(n == Approx(500).margin(80));
  CHECK(logarithmic.size() == 8);
  CHECK(logarithmic["1"] == Approx(4000 * std::log(3) / std::log(17)).margin(120));  // of [0.5, 8.5], 0.5 to 1.5
  CHECK(logarithmic["8"] == Approx(4000 * std::log(8.5 / 7.5) / std::log(17)).margin(60));
}

TEST_CASE("each choice is drawn, and nothing else", "[selection]") {
  std::map<std::string, int> drawn;
  for (const std::string& text :
       draws({.key = "k", .from = distribution::choice, .choices = {"8", "16", "\"a\""}}, 3000))
    ++drawn[text];
  CHECK(drawn.size() == 3);
  for (const auto& [text, n] : drawn) CHECK(n == Approx(1000).margin(120));
}

TEST_CASE("a draw depends on the seed, the name and the number, and is the same on every platform", "[selection]") {
  std::set<std::uint64_t> seeds;
  for (const std::uint64_t seed : {0, 1})
    for (const char* name : {"", "a", "b", "ab"})
      for (const std::uint64_t n : {0, 1}) seeds.insert(seed_for(seed, name, n));
  CHECK(seeds.size() == 16);
  CHECK(draws({"k", distribution::log_uniform, 1e-5, 1e-2}, 3) ==
        std::vector<std::string>{"0.001482", "3.503e-5", "0.007956"});
}

TEST_CASE("a value that is explored is 0.8 or 1.25 times as large, or drawn again, within the bounds", "[selection]") {
  const searched_key rate{"k", distribution::log_uniform, 1e-4, 1e-3};
  const searched_key rank{"k", distribution::integers, 4, 64};
  std::map<std::string, int> rates;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    portable_random random{i};
    ++rates[explore(rate, "5e-4", random)];
    const double whole = number(explore(rank, "64", random));
    CHECK(whole == std::round(whole));
    CHECK(whole >= 4);
    CHECK(whole <= 64);
  }
  CHECK(rates["0.0004"] == Approx(750).margin(90));
  CHECK(rates["0.000625"] == Approx(750).margin(90));
  CHECK(rates.size() > 100);
}

}  // namespace search_space_test
