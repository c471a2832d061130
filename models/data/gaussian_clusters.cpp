#include "models/data/gaussian_clusters.hpp"

#include "models/data/sample_bytes.hpp"
#include "models/data/smooth_pattern.hpp"
#include "models/layers/checks.hpp"
#include "models/random.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace hydra {

namespace {

void check_shape(const std::vector<std::int64_t>& shape) {
  constexpr std::int64_t most = 65536;  // upper bound, so that no product overflows
  const bool sane = std::ranges::all_of(shape, [](std::int64_t n) { return n > 0 && n <= most; });
  if (shape.size() != 3 || !sane)
    refuse(fmt::format("synthetic-classes: shape is [{}]; it must be [channels, height, width], each from 1 to {}",
                       fmt::join(shape, ", "), most));
}

}  // namespace

gaussian_clusters::gaussian_clusters(const synthetic_classes& options) : options_(options) {
  if (options.shape.empty())
    require_positive("synthetic-classes: features", options.features);
  else
    check_shape(options.shape);
  require_positive("synthetic-classes: classes", options.classes);
  require_positive("synthetic-classes: samples", options.samples);
  if (options.validation_samples != 0)
    require_positive("synthetic-classes: validation_samples", options.validation_samples);
  if (!(options.noise >= 0 && std::isfinite(options.noise)))
    refuse(fmt::format("synthetic-classes: noise is {}; it must be at least 0", options.noise));
}

std::size_t gaussian_clusters::samples(split part) const {
  return static_cast<std::size_t>(part == split::train ? options_.samples : options_.validation_samples);
}

tensor_spec gaussian_clusters::sample_input() const {
  if (options_.shape.empty()) return {{options_.features}, element::f32};
  return {options_.shape, element::f32};
}

std::vector<double> gaussian_clusters::centre(std::uint64_t label) const {
  const std::uint64_t key = random_key({options_.seed, 0, label});
  if (!options_.shape.empty()) return smooth_pattern(key, options_.shape);
  std::vector<double> values(static_cast<std::size_t>(options_.features));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = random_normal(key, i);
  return values;
}

std::size_t gaussian_clusters::read(split part, std::size_t index, std::span<std::byte> input,
                                    std::span<std::byte> target) const {
  const std::uint64_t sample = random_key({options_.seed, part == split::train ? 1u : 2u, index});
  const std::uint64_t label = random_bits(sample, 0) % static_cast<std::uint64_t>(options_.classes);
  const std::vector<double> mean = centre(label);
  const std::uint64_t noise = random_key({sample, 0});
  const auto features = values_in<float>(input, mean.size());
  for (std::size_t i = 0; i < features.size(); ++i)
    features[i] = static_cast<float>(mean[i] + options_.noise * random_normal(noise, i));
  values_in<std::int64_t>(target, 1)[0] = static_cast<std::int64_t>(label);
  return 1;
}

std::string gaussian_clusters::describe() const {
  const auto what = options_.shape.empty() ? fmt::format("features={}", options_.features)
                                           : fmt::format("shape={}", fmt::join(options_.shape, "x"));
  return fmt::format("synthetic-classes {} classes={}", what, options_.classes);
}

}  // namespace hydra
