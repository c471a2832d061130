// The conformance suites find what is wrong: each class here breaks one promise, and its case is to fail.

#include "tests/conformance/data.hpp"
#include "tests/conformance/layer.hpp"
#include "tests/conformance/loss.hpp"
#include "tests/models/numeric.hpp"

#include <ATen/core/Tensor.h>
#include <catch2/catch.hpp>

#include <atomic>
#include <cstring>

using namespace hydra;
using namespace hydra::test;

namespace {

/// y = w x, [samples, n] -> [samples, n].
class scaling : public layer {
 public:
  explicit scaling(std::int64_t n) : n_{n} {}
  std::vector<parameter_spec> parameters() const override { return {{"weight", {n_}, {}, {}}}; }
  tensor_spec output(const tensor_spec& input) const override { return input; }
  at::Tensor forward(std::span<const at::Tensor> p, const at::Tensor& x, const layer_context&) const override {
    return x.mul(p[0]);
  }
  std::string signature() const override { return "scaling"; }

 private:
  std::int64_t n_;
};

class of_another_shape final : public scaling {
  using scaling::scaling;
  tensor_spec output(const tensor_spec& input) const override { return {{input.shape[0]}, element::f32}; }
};

class that_counts_its_calls final : public scaling {
  using scaling::scaling;
  at::Tensor forward(std::span<const at::Tensor> p, const at::Tensor& x, const layer_context& c) const override {
    return scaling::forward(p, x, c).mul(++calls_);
  }
  mutable int calls_ = 0;
};

class that_writes_to_its_input final : public scaling {
  using scaling::scaling;
  at::Tensor forward(std::span<const at::Tensor> p, const at::Tensor& x, const layer_context& c) const override {
    x.detach().mul_(2);
    return scaling::forward(p, x, c);
  }
};

class without_a_gradient final : public scaling {
  using scaling::scaling;
  at::Tensor forward(std::span<const at::Tensor> p, const at::Tensor& x, const layer_context&) const override {
    return x.mul(p[0].detach());
  }
};

class with_half_a_gradient final : public scaling {
  using scaling::scaling;
  at::Tensor forward(std::span<const at::Tensor> p, const at::Tensor& x, const layer_context& c) const override {
    const at::Tensor y = scaling::forward(p, x, c);
    return y.div(2).add(y.detach().div(2));
  }
};

class in_fp32_only final : public scaling {
  using scaling::scaling;
  at::Tensor forward(std::span<const at::Tensor> p, const at::Tensor& x, const layer_context& c) const override {
    return scaling::forward(p, x, c).to(at::kFloat);
  }
};

/// The mean, which the trainer divides by the number of targets once more.
class mean_error final : public loss {
 public:
  at::Tensor sum(const at::Tensor& output, const at::Tensor& targets) const override {
    return mse()->sum(output, targets).div(static_cast<double>(targets.numel()));
  }
  std::string name() const override { return "mean error"; }
};

class that_forgets_to_mask final : public loss {
 public:
  at::Tensor sum(const at::Tensor& output, const at::Tensor& targets) const override {
    return cross_entropy()->sum(output, targets.clamp_min(0));
  }
  std::string name() const override { return "unmasked"; }
};

struct sample_traits {
  std::size_t counted = 1;
  std::int64_t target = 1;
  bool numbered = true;    ///< false: of each read
  std::size_t beyond = 0;  ///< bytes written behind the input
};

/// Ten samples, [2] -> one of 3 classes.
class made_samples final : public data_source {
 public:
  explicit made_samples(sample_traits traits) : traits_{traits} {}
  std::size_t samples(split part) const override { return part == split::train ? 10 : 0; }
  tensor_spec sample_input() const override { return {{2}, element::f32}; }
  tensor_spec sample_target() const override { return {{}, element::i64}; }
  std::int64_t classes() const override { return 3; }
  std::string describe() const override { return "made samples"; }

  std::size_t read(split, std::size_t index, std::span<std::byte> input, std::span<std::byte> target) const override {
    const float x[] = {static_cast<float>(traits_.numbered ? index : ++reads_), 1, 0, 0};
    std::memcpy(input.data(), x, input.size() + traits_.beyond);
    std::memcpy(target.data(), &traits_.target, target.size());
    return traits_.counted;
  }

 private:
  sample_traits traits_;
  mutable std::atomic<std::size_t> reads_ = 0;
};

at::Tensor some_input() { return random_tensor({3, 4}, 5); }

}  // namespace

TEST_CASE("what keeps all promises conforms") {
  conforms(scaling{4}, some_input());
  conforms(made_samples{{}});
}

TEST_CASE("a layer whose output has another shape does not conform", "[!shouldfail]") {
  conforms(of_another_shape{4}, some_input());
}

TEST_CASE("a layer that is not a function of its arguments does not conform", "[!shouldfail]") {
  conforms(that_counts_its_calls{4}, some_input());
}

TEST_CASE("a layer that changes its input does not conform", "[!shouldfail]") {
  conforms(that_writes_to_its_input{4}, some_input());
}

TEST_CASE("a layer whose parameter has no gradient does not conform", "[!shouldfail]") {
  conforms(without_a_gradient{4}, some_input());
}

TEST_CASE("a layer whose gradient is not its derivative does not conform", "[!shouldfail]") {
  conforms(with_half_a_gradient{4}, some_input());
}

TEST_CASE("a layer that leaves the format of its parameters does not conform", "[!shouldfail]") {
  conforms(in_fp32_only{4}, some_input());
}

TEST_CASE("a loss that is a mean does not conform", "[!shouldfail]") {
  conforms(mean_error{}, random_tensor({4, 3}, 1), random_tensor({4, 3}, 2));
}

TEST_CASE("a loss that does not mask, but says so, does not conform", "[!shouldfail]") {
  conforms(that_forgets_to_mask{}, random_tensor({4, 3}, 1), random_ids({4}, 3, 2));
}

TEST_CASE("data that count no target do not conform", "[!shouldfail]") { conforms(made_samples{{.counted = 0}}); }

TEST_CASE("data with a class beyond the last do not conform", "[!shouldfail]") {
  conforms(made_samples{{.target = 3}});
}

TEST_CASE("data that differ from read to read do not conform", "[!shouldfail]") {
  conforms(made_samples{{.numbered = false}});
}

TEST_CASE("data that write beyond a sample do not conform", "[!shouldfail]") { conforms(made_samples{{.beyond = 4}}); }
