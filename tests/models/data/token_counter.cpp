#include "models/data/token_counter.hpp"

#include <catch2/catch.hpp>

using namespace hydra;

/// Sample i has i + 1 tokens in 4 places, or 4 of them.

namespace token_counter_test {

class padded_samples final : public data_source {
 public:
  explicit padded_samples(bool full) : full_(full) {}
  std::size_t samples(split) const override { return 4; }
  tensor_spec sample_input() const override { return {{4}, element::i64}; }
  tensor_spec sample_target() const override { return sample_input(); }
  std::int64_t classes() const override { return 9; }
  std::size_t tokens_of(split, std::size_t index) const override { return full_ ? 4 : index + 1; }
  std::size_t read(split, std::size_t, std::span<std::byte>, std::span<std::byte>) const override { return 0; }
  std::string describe() const override { return "padded samples"; }

 private:
  bool full_;
};

const batch_order shuffled{.samples = 4, .batch_size = 3, .seed = 5};

TEST_CASE("tokens are summed over the samples of the steps, in any order of questions") {
  token_counter counter{count_tokens(padded_samples{false}, shuffled)};
  std::uint64_t sum = 0;
  for (std::uint64_t step = 0; step < 5; ++step) {
    CHECK(counter.after(step) == sum);
    for (const std::size_t sample : shuffled.batch(step)) sum += sample + 1;
  }
  CHECK(counter.after(5) == sum);
  CHECK(counter.after(0) == 0);
  CHECK(token_counter{count_tokens(padded_samples{false}, shuffled)}.after(5) == sum);  // as a resumed run asks
}

TEST_CASE("samples without padding need no counts") { CHECK_FALSE(count_tokens(padded_samples{true}, shuffled)); }

}  // namespace token_counter_test
