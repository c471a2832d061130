#include "models/data/token_counter.hpp"

#include <algorithm>

namespace hydra {

std::shared_ptr<const token_counts> count_tokens(const data_source& source, const batch_order& order) {
  token_counts counts{.of_samples = {}, .order = order};
  counts.of_samples.reserve(order.samples);
  for (std::size_t i = 0; i < order.samples; ++i)
    counts.of_samples.push_back(static_cast<std::uint32_t>(source.tokens_of(split::train, i)));
  const auto places = source.sample_target().elements();
  const auto full = [places](std::uint32_t tokens) { return tokens == places; };
  if (std::ranges::all_of(counts.of_samples, full)) return nullptr;
  return std::make_shared<const token_counts>(std::move(counts));
}

std::uint64_t token_counter::after(std::uint64_t steps) {
  if (steps < steps_) steps_ = tokens_ = 0;
  for (; steps_ < steps; ++steps_)
    for (const std::size_t sample : cursor_.batch(steps_)) tokens_ += counts_->of_samples.at(sample);
  return tokens_;
}

}  // namespace hydra
