#include "models/data/gaussian_clusters.hpp"

#include "models/data/sample_bytes.hpp"
#include "models/layers/checks.hpp"
#include "models/random.hpp"

#include <fmt/format.h>

#include <cmath>

namespace hydra {

gaussian_clusters::gaussian_clusters(const synthetic_classes& options) : options_(options) {
  require_positive("synthetic-classes: features", options.features);
  require_positive("synthetic-classes: classes", options.classes);
  require_positive("synthetic-classes: samples", options.samples);
  if (options.validation_samples != 0)
    require_positive("synthetic-classes: validation_samples", options.validation_samples);
  if (!(options.noise >= 0 && std::isfinite(options.noise)))
    throw fault_error{fault_code::bad_input,
                      fmt::format("synthetic-classes: noise is {}; it must be at least 0", options.noise)};
}

std::size_t gaussian_clusters::samples(split part) const {
  return static_cast<std::size_t>(part == split::train ? options_.samples : options_.validation_samples);
}

tensor_spec gaussian_clusters::sample_input() const { return {{options_.features}, element::f32}; }

std::size_t gaussian_clusters::read(split part, std::size_t index, std::span<std::byte> input,
                                    std::span<std::byte> target) const {
  const std::uint64_t sample = random_key({options_.seed, part == split::train ? 1u : 2u, index});
  const std::uint64_t label = random_bits(sample, 0) % static_cast<std::uint64_t>(options_.classes);
  const std::uint64_t centre = random_key({options_.seed, 0, label});
  const std::uint64_t noise = random_key({sample, 0});
  const auto features = values_in<float>(input, static_cast<std::size_t>(options_.features));
  for (std::size_t i = 0; i < features.size(); ++i)
    features[i] = static_cast<float>(random_normal(centre, i) + options_.noise * random_normal(noise, i));
  values_in<std::int64_t>(target, 1)[0] = static_cast<std::int64_t>(label);
  return 1;
}

std::string gaussian_clusters::describe() const {
  return fmt::format("synthetic-classes features={} classes={}", options_.features, options_.classes);
}

}  // namespace hydra
