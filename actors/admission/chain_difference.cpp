#include "actors/admission/chain_difference.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <vector>

namespace hydra {

namespace {

using texts = std::vector<std::string>;

/// "1 samples of i64[4] -> i64[4] by cross-entropy", "4 x llama block width=8 ...", ...
texts parts_of(const std::string& chain) {
  texts parts;
  for (std::size_t at = 0; at <= chain.size();) {
    const auto end = std::min(chain.find("; ", at), chain.size());
    parts.push_back(chain.substr(at, end - at));
    at = end + 2;
  }
  return parts;
}

/// "4 x llama block", "width=8", "scaling=none 1 1", ...: a word without "=" belongs to the one before it.
texts settings_of(const std::string& part) {
  texts settings(1);
  std::istringstream words(part);
  for (std::string word; words >> word;) {
    if (word.find('=') != std::string::npos) settings.emplace_back();
    settings.back() += (settings.back().empty() ? "" : " ") + word;
  }
  return settings;
}

/// Those of `these` that `others` have not.
std::string only_in(const texts& these, const texts& others, const char* between) {
  texts only;
  for (const auto& each : these)
    if (std::ranges::count(others, each) == 0) only.push_back(each);
  return only.empty() ? "nothing" : fmt::format("{}", fmt::join(only, between));
}

std::string difference(const texts& saved, const texts& now, const char* between) {
  return fmt::format("{} (saved), {} (now)", only_in(saved, now, between), only_in(now, saved, between));
}

std::string difference_of_parts(const std::string& saved, const std::string& now) {
  const auto before = settings_of(saved), after = settings_of(now);
  const bool alike = before.front() == after.front();
  return (alike ? before.front() + ": " : "") + difference(before, after, " ");
}

}  // namespace

std::string difference_of_chains(const std::string& saved, const std::string& now) {
  if (saved == now) return "";
  const auto before = parts_of(saved), after = parts_of(now);
  if (before.size() != after.size()) return difference(before, after, "; ");
  texts all;
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i] != after[i]) all.push_back(difference_of_parts(before[i], after[i]));
  return fmt::format("{}", fmt::join(all, "; "));
}

}  // namespace hydra
