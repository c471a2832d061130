// Steps and evaluations whose targets are all masked: answers cut off, texts without a word.

#include "tests/support/spilled_run.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace hydra;
using namespace hydra::test;

namespace {

/// Every other sample of another source has no target that counts; in validation none has.
class half_masked final : public data_source {
 public:
  explicit half_masked(std::shared_ptr<const data_source> from) : from_(std::move(from)) {}
  std::size_t samples(split part) const override { return from_->samples(part); }
  tensor_spec sample_input() const override { return from_->sample_input(); }
  tensor_spec sample_target() const override { return from_->sample_target(); }
  std::int64_t classes() const override { return from_->classes(); }
  std::string describe() const override { return "half-masked " + from_->describe(); }
  std::size_t read(split part, std::size_t i, std::span<std::byte> input, std::span<std::byte> target) const override {
    const auto counted = from_->read(part, i, input, target);
    if (part == split::train && i % 2 == 0) return counted;
    for (std::size_t at = 0; at < target.size(); at += sizeof(std::int64_t)) {
      const std::int64_t masked = -100;
      std::memcpy(target.data() + at, &masked, sizeof(masked));
    }
    return 0;
  }

 private:
  std::shared_ptr<const data_source> from_;
};

}  // namespace

TEST_CASE("a step without a target has no loss and no gradient; training continues with plain training's bits",
          "[exactness]") {
  auto m = tiny_gpt(0.0, true);
  m.data = std::make_shared<half_masked>(m.data);
  m.batch_size = 1;
  m.steps = 8;
  m.evaluate_every = 0;
  m.cuts = {0, 2};
  const auto spilled = train_spilled({m}, {});
  const auto& loss = spilled.summary.models[0].loss;
  CHECK(std::ranges::count(loss, 0.0F) > 0);
  CHECK(std::ranges::count(loss, 0.0F) < 8);
  const auto plain = train_plain(m);
  CHECK(plain.losses == loss);
  CHECK(plain.digest == spilled.summary.models[0].digest);
  CHECK(std::isnan(spilled.summary.models[0].validation.back().loss));
}
