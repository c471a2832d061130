#include "actors/selection/search_space.hpp"

#include "runtime/base/hash.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace hydra {

namespace {

constexpr int digits = 4;
constexpr double drawn_again = 0.25;

bool is_whole(const searched_key& key) {
  return key.from == distribution::integers || key.from == distribution::log_integers;
}

/// "1e-05" -> "1e-5", as people write it.
std::string short_exponent(std::string text) {
  const auto e = text.find('e');
  if (e == std::string::npos) return text;
  const auto sign = e + 1;
  while (text.size() > sign + 2 && text[sign + 1] == '0') text.erase(sign + 1, 1);
  if (text[sign] == '+') text.erase(sign, 1);
  return text;
}

template <class... Format>
std::string number_text(double number, Format... format) {
  std::array<char, 64> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number, format...);
  return short_exponent({text.data(), end});
}

double parsed(const std::string& text) {
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// Rounding does not leave the bounds.
std::string bounded_text(const searched_key& key, double number) {
  if (is_whole(key)) {
    number = std::clamp(std::round(number), key.least, key.most);
    return std::to_string(static_cast<std::int64_t>(number));
  }
  const std::string text = number_text(number, std::chars_format::general, digits);
  const double rounded = parsed(text);
  const double bounded = std::clamp(rounded, key.least, key.most);
  return bounded == rounded ? text : number_text(bounded);
}

}  // namespace

std::string draw(const searched_key& key, portable_random& random) {
  switch (key.from) {
    case distribution::uniform:
      return bounded_text(key, random.uniform(key.least, key.most));
    case distribution::log_uniform:
      return bounded_text(key, random.log_uniform(key.least, key.most));
    case distribution::integers:  // each rounds to itself on an interval of 1
      return bounded_text(key, random.uniform(key.least - 0.5, key.most + 0.5));
    case distribution::log_integers:
      return bounded_text(key, random.log_uniform(key.least - 0.5, key.most + 0.5));
    case distribution::choice:
      break;
  }
  const auto place = static_cast<std::size_t>(random.share() * static_cast<double>(key.choices.size()));
  return key.choices.at(std::min(place, key.choices.size() - 1));
}

std::string explore(const searched_key& key, const std::string& value, portable_random& random) {
  if (key.from == distribution::choice || random.share() < drawn_again) return draw(key, random);
  return bounded_text(key, parsed(value) * (random.share() < 0.5 ? 0.8 : 1.25));
}

std::uint64_t seed_for(std::uint64_t seed, std::string_view name, std::uint64_t number) {
  std::uint64_t hash = hash_of(seed, number, name.size());
  for (const char c : name) hash = mix_hash(hash, static_cast<unsigned char>(c));
  return hash;
}

}  // namespace hydra
