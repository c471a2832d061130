#include "tests/support/masked_samples.hpp"

#include "models/data/sample_bytes.hpp"
#include "models/random.hpp"

#include <algorithm>
#include <utility>

namespace hydra::test {
namespace {

constexpr std::int64_t mask_id = 1, first_word = 2, not_masked = -100;

/// Rows of a sample and the target of each position.
struct text {
  std::span<std::int64_t> ids, segments, present;
};

std::int64_t below(std::uint64_t key, std::uint64_t index, std::int64_t limit) {
  return static_cast<std::int64_t>(random_bits(key, index) % static_cast<std::uint64_t>(limit));
}

void write_text(const text& t, std::uint64_t key, std::int64_t vocabulary) {
  const auto all = static_cast<std::int64_t>(t.ids.size());
  const std::int64_t length = 2 + below(key, 0, all - 1), second = 1 + below(key, 1, length - 1);
  for (std::int64_t i = 0; i < all; ++i) {
    const auto at = static_cast<std::size_t>(i);
    t.ids[at] = i < length ? first_word + below(key, 2 + at, vocabulary - first_word) : 0;
    t.segments[at] = i >= second && i < length ? 1 : 0;
    t.present[at] = i < length ? 1 : 0;
  }
}

/// Masks every other token from the first or the second one on; returns how many.
std::size_t mask_tokens(const text& t, std::span<std::int64_t> targets, std::size_t first) {
  std::ranges::fill(targets, not_masked);
  std::size_t count = 0;
  for (std::size_t i = first; i < t.ids.size() && t.present[i] == 1; i += 2, ++count)
    targets[i] = std::exchange(t.ids[i], mask_id);
  return count;
}

}  // namespace

std::size_t masked_samples::samples(split part) const {
  return part == split::train ? options_.samples : options_.validation_samples;
}

tensor_spec masked_samples::sample_input() const { return {{3, options_.tokens}, element::i64}; }

tensor_spec masked_samples::sample_target() const {
  if (options_.classes > 0) return {{}, element::i64};
  return {{options_.tokens}, element::i64};
}

std::int64_t masked_samples::classes() const {
  return options_.classes > 0 ? options_.classes : options_.vocabulary;
}

std::size_t masked_samples::read(split part, std::size_t index, std::span<std::byte> input,
                                 std::span<std::byte> target) const {
  const auto tokens = static_cast<std::size_t>(options_.tokens);
  const auto rows = values_in<std::int64_t>(input, 3 * tokens);
  const text t{rows.first(tokens), rows.subspan(tokens, tokens), rows.last(tokens)};
  const std::uint64_t key = random_key({static_cast<std::uint64_t>(part), index});
  write_text(t, key, options_.vocabulary);
  if (options_.classes == 0)
    return mask_tokens(t, values_in<std::int64_t>(target, tokens), random_bits(key, tokens + 2) % 2);
  values_in<std::int64_t>(target, 1)[0] = t.ids[0] % options_.classes;
  return 1;
}

}  // namespace hydra::test
