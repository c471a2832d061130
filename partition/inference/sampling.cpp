#include "partition/inference/sampling.hpp"

#include "models/random.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace hydra {
namespace {

void require_numbers(std::span<const float> logits) {
  const auto wrong = [](float x) { return std::isnan(x) || x == std::numeric_limits<float>::infinity(); };
  const auto found = std::ranges::find_if(logits, wrong);
  if (found != logits.end())
    throw fault_error{fault_code::not_finite,
                      fmt::format("the logit of token {} is {}", found - logits.begin(), *found)};
}

/// All ids, the most probable first.
std::vector<std::int64_t> ranked(std::span<const float> logits) {
  std::vector<std::int64_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  std::ranges::stable_sort(ids, std::greater{}, [&](std::int64_t id) { return logits[static_cast<std::size_t>(id)]; });
  return ids;
}

/// exp((logit - largest) / temperature) of the ids: proportional to their probabilities.
std::vector<double> weights_of(std::span<const std::int64_t> ids, std::span<const float> logits, double temperature) {
  const double largest = logits[static_cast<std::size_t>(ids.front())];
  std::vector<double> weights;
  for (const std::int64_t id : ids)
    weights.push_back(std::exp((logits[static_cast<std::size_t>(id)] - largest) / temperature));
  return weights;
}

/// The fewest leading weights that make up `share` of all; at least one.
std::size_t nucleus(std::span<const double> weights, double share) {
  if (share >= 1) return weights.size();
  const double enough = share * std::accumulate(weights.begin(), weights.end(), 0.0);
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i)
    if ((sum += weights[i]) >= enough) return i + 1;
  return weights.size();
}

/// The index at which the running sum of the weights passes `share` of it.
std::size_t drawn(std::span<const double> weights, double share) {
  double left = share * std::accumulate(weights.begin(), weights.end(), 0.0);
  for (std::size_t i = 0; i < weights.size(); ++i)
    if ((left -= weights[i]) < 0) return i;
  return weights.size() - 1;
}

}  // namespace

void check(const sampling_options& options) {
  if (!(options.temperature >= 0) || std::isinf(options.temperature))
    refuse(fmt::format("temperature is {}; it must be at least 0", options.temperature));
  if (options.top_k < 0) refuse(fmt::format("top-k is {}; it must be positive, or 0 for all tokens", options.top_k));
  if (!(options.top_p > 0 && options.top_p <= 1))
    refuse(fmt::format("top-p is {}; it must be above 0 and at most 1", options.top_p));
}

std::int64_t pick_token(std::span<const float> logits, const sampling_options& options, const sampling_place& where) {
  require_numbers(logits);
  if (options.temperature == 0) return std::ranges::max_element(logits) - logits.begin();
  std::vector<std::int64_t> ids = ranked(logits);
  if (options.top_k > 0) ids.resize(std::min(ids.size(), static_cast<std::size_t>(options.top_k)));
  std::vector<double> weights = weights_of(ids, logits, options.temperature);
  weights.resize(nucleus(weights, options.top_p));
  const double share = random_uniform(random_key({options.seed, where.sample}), where.position);
  return ids[drawn(weights, share)];
}

}  // namespace hydra
