#include "models/layers/activation.hpp"

#include "tests/models/numeric.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <numbers>

using namespace hydra;
using namespace hydra::test;

namespace {

/// x * Phi(x).
double plain_gelu(double x) { return x * 0.5 * std::erfc(-x / std::numbers::sqrt2); }

double plain_gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

double value_at(activation f, double x) { return number(activate(f, zeros({1}, at::kDouble).fill_(x))); }

}  // namespace

TEST_CASE("each activation is the function of its name") {
  for (const double x : {-3.0, -0.7, 0.0, 0.2, 1.5}) {
    CHECK(value_at(activation::gelu, x) == Approx(plain_gelu(x)).margin(1e-14));
    CHECK(value_at(activation::gelu_tanh, x) == Approx(plain_gelu_tanh(x)).margin(1e-14));
    CHECK(value_at(activation::relu, x) == std::max(x, 0.0));
    CHECK(value_at(activation::silu, x) == Approx(x / (1 + std::exp(-x))).margin(1e-14));
  }
}

TEST_CASE("activations are found by Hugging Face's names and written with the first of them") {
  for (const std::string& name : activation_names()) CHECK(activation_named(name).has_value());
  CHECK(activation_named("gelu_pytorch_tanh") == activation::gelu_tanh);
  CHECK(to_string(activation::gelu_tanh) == "gelu_new");
  CHECK(to_string(activation::gelu) == "gelu");
  CHECK(to_string(activation::relu) == "relu");
  CHECK_FALSE(activation_named("quick_gelu").has_value());
}
