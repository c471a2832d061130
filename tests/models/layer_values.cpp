#include "models/layer_values.hpp"

#include "models/data/data_catalog.hpp"
#include "models/families/gpt2/gpt2.hpp"
#include "models/lora.hpp"
#include "tests/models/numeric.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace hydra;
using namespace hydra::test;

namespace layer_values_test {

chain small(base_format format) {
  const auto data = open_data({synthetic_language{.symbols = 8, .order = 1, .tokens = 2000}}, 8);
  chain c = adapt(gpt2({.layers = 3, .width = 64, .heads = 2, .context = 8}).build(*data), {.rank = 2});
  c.store_base(format).validate();
  return c;
}

/// A chain's parameters with gradients, and its visits.
class whole_chain {
 public:
  explicit whole_chain(chain model) : model_{std::move(model)}, layout_{model_, 0, model_.size()} {
    const at::Tensor flat = zeros({static_cast<std::int64_t>(layout_.elements())});
    gradients_ = zeros({static_cast<std::int64_t>(layout_.elements())});
    base_ = zeros({static_cast<std::int64_t>(layout_.base_bytes().value())}, at::kByte);
    layout_.initialise(values(flat), model_, 3);
    layout_.initialise_base({static_cast<std::byte*>(base_.mutable_data_ptr()), base_.nbytes()}, model_, 3);
    for (std::size_t i = 0; i < model_.size(); ++i) {
      layer_values& layer = layers_.emplace_back(layout_, flat, base_, i);
      layer.parameters = leaves_of(layer.parameters, layout_.views(gradients_, i));
    }
  }

  /// `known(i)` is called when the gradient of layer i's output is known.
  at::Tensor forward(const std::function<void(std::size_t)>& known = nullptr) const {
    at::Tensor x = zeros({2, 8}, at::kLong);
    for (std::size_t i = 0; i < model_.size(); ++i) {
      x = compute_layer(model_, i, layers_[i], x, {.seed = 1}, memory_);
      if (known && x.requires_grad()) x.register_hook([known, i](const at::Tensor&) { known(i); });
    }
    return x;
  }

  const parameter_layout& layout() const { return layout_; }
  const at::Tensor& gradients() const { return gradients_; }
  widening& memory() { return *memory_; }
  /// Bytes of the widened parameters that have memory now.
  std::vector<std::size_t> in_memory() const {
    std::vector<std::size_t> bytes;
    for (const layer_values& layer : layers_) {
      std::size_t& sum = bytes.emplace_back();
      for (const widened_parameter& p : layer.widened) sum += p.values.storage().nbytes();
    }
    return bytes;
  }

 private:
  chain model_;
  parameter_layout layout_;
  at::Tensor gradients_, base_;
  std::vector<layer_values> layers_;
  std::shared_ptr<widening> memory_ = std::make_shared<widening>();
};

/// The values that a chain computes with.
class values_of_base final : public weight_source {
 public:
  explicit values_of_base(chain of) : of_{std::move(of.unfreeze())} {}
  bool read(const parameter_spec& p, std::span<float> to) const override {
    for (std::size_t i = 0; i < of_.size(); ++i)
      for (const parameter_spec& own : of_.parameters(i))
        if (own.name == p.name) initialise(to, own, of_, 3);
    return true;
  }
  std::string identity() const override { return "values of a base"; }
  std::string origin(const std::string& name) const override { return name; }

 private:
  chain of_;
};

TEST_CASE("a base in nf4 takes a seventh of the bytes of its linear maps", "[base-format]") {
  const chain plain = small(base_format::as_computed), narrow = small(base_format::nf4);
  const double whole = parameter_layout{plain, 1, 2}.base_bytes().value();
  CHECK(parameter_layout{narrow, 1, 2}.base_bytes().value() / whole < 0.17);  // 4.5 of 32 bits; norms and biases stay
  CHECK(parameter_layout{small(base_format::bf16), 1, 2}.base_bytes().value() / whole ==
        Approx(0.5).margin(0.01));  // of a multiple of 256 each
  const std::size_t head = narrow.size() - 1;
  CHECK(parameter_layout{narrow, head, head + 1}.base_bytes() == parameter_layout{plain, head, head + 1}.base_bytes());
}

TEST_CASE("widened parameters have memory only while their layer computes", "[base-format]") {
  for (const base_format format : {base_format::bf16, base_format::nf4}) {
    whole_chain c{small(format)};
    const at::AutoGradMode with_grad{true};
    const std::vector<std::size_t> none(5);
    std::size_t seen = 0;
    const at::Tensor y = c.forward([&](std::size_t layer) {
      const std::vector<std::size_t> now = c.in_memory();
      const bool is_widened = format == base_format::bf16 || layer + 1 < now.size();
      CHECK(std::ranges::count_if(now, [](std::size_t bytes) { return bytes > 0; }) == (is_widened ? 1 : 0));
      CHECK((now[layer] > 0) == is_widened);
      ++seen;
    });
    CHECK(c.in_memory() == none);
    y.sum().backward();
    CHECK(seen == 4);             // all but the embedding
    CHECK(c.in_memory()[1] > 0);  // the lowest one that is trained
    c.memory().release();
    CHECK(c.in_memory() == none);
  }
}

TEST_CASE("a graph over widened parameters has the gradients of one over parameters that stay", "[base-format]") {
  for (const base_format format : {base_format::bf16, base_format::nf4}) {
    whole_chain widened{small(format)};
    whole_chain plain{small(base_format::as_computed).begin_with(std::make_shared<values_of_base>(small(format)))};
    const at::AutoGradMode with_grad{true};
    const at::Tensor a = widened.forward(), b = plain.forward();
    CHECK(same_bits(a, b));
    a.pow(2).sum().backward();
    b.pow(2).sum().backward();
    CHECK(same_bits(widened.gradients(), plain.gradients()));
    CHECK(widened.gradients().abs().sum().item<float>() > 0);
  }
}

}  // namespace layer_values_test
