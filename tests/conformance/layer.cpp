#include "tests/conformance/layer.hpp"

#include "tests/models/numeric.hpp"

#include <ATen/core/Tensor.h>
#include <c10/core/GradMode.h>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <exception>
#include <set>
#include <string>
#include <vector>

namespace hydra::test {

namespace {

bool is_real(const at::Tensor& t) { return t.is_floating_point(); }

bool is_trained(const parameter_spec& p) { return p.averaging == 0 && !p.frozen; }

bool has_averages(const layer& l) {
  for (const parameter_spec& p : l.parameters())
    if (p.averaging > 0) return true;
  return false;
}

/// What a call gets: views into one flat buffer, as in a visit, and a micro-batch. A real input is a leaf, too.
struct call {
  call(const layer& l, const at::Tensor& x, at::ScalarType type) : specs{l.parameters()} {
    std::int64_t elements = 0;
    for (const parameter_spec& p : specs) elements += p.elements();
    flat = zeros({elements}, type);
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < specs.size(); ++i) {
      const at::Tensor place = flat.narrow(0, begin, specs[i].elements()).view(specs[i].shape);
      const at::Tensor values = random_tensor(specs[i].shape, 1 + i, type);
      place.copy_(specs[i].averaging > 0 ? values.abs().add(0.5) : values);  // it may be a variance
      parameters.push_back(place.detach().set_requires_grad(!specs[i].frozen));
      begin += specs[i].elements();
    }
    input = is_real(x) ? x.detach().to(type).clone().set_requires_grad(true) : x.detach().clone();
  }

  std::vector<parameter_spec> specs;
  at::Tensor flat;
  std::vector<at::Tensor> parameters;
  at::Tensor input;
};

/// The leaves whose gradients are derivatives: those of running averages are not.
struct named_leaf {
  std::string name;
  at::Tensor leaf;
};

std::vector<named_leaf> trained_leaves(const call& c) {
  std::vector<named_leaf> leaves;
  for (std::size_t i = 0; i < c.specs.size(); ++i)
    if (is_trained(c.specs[i])) leaves.push_back({"parameter " + c.specs[i].name, c.parameters[i]});
  if (is_real(c.input)) leaves.push_back({"the input", c.input});
  return leaves;
}

layer_context in_context(bool training) { return {.seed = 3, .step = 2, .micro_batch = 1, .training = training}; }

at::Tensor without_gradient(const layer& l, const call& c, bool training) {
  const c10::NoGradGuard no_grad;
  return l.forward(c.parameters, c.input, in_context(training));
}

tensor_spec spec_of(const at::Tensor& t) { return {t.sizes().vec(), is_real(t) ? element::f32 : element::i64}; }

// -- requirements ---

void parameters_are_declared(const layer& l) {
  const auto specs = l.parameters(), again = l.parameters();
  REQUIRE(specs.size() == again.size());
  std::set<std::string> names;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    INFO("parameter " << i << ": \"" << specs[i].name << '"');
    CHECK_FALSE(specs[i].name.empty());
    CHECK(names.insert(specs[i].name).second);
    REQUIRE(specs[i].elements() > 0);
    CHECK(specs[i].name == again[i].name);
    REQUIRE(specs[i].shape == again[i].shape);
  }
  CHECK_FALSE(l.signature().empty());
  CHECK(l.signature() == l.signature());
}

void the_output_is_as_declared(const layer& l, const at::Tensor& input, at::ScalarType type) {
  const call c{l, input, type};
  const at::Tensor y = without_gradient(l, c, true);
  const tensor_spec promised = l.output(spec_of(input));
  CHECK(promised.type == element::f32);
  REQUIRE(y.sizes().vec() == promised.shape);
  REQUIRE(y.size(0) == input.size(0));
  REQUIRE(y.scalar_type() == type);
}

void forward_is_pure(const layer& l, const at::Tensor& input, bool training) {
  INFO(std::string{training ? "in training" : "outside training"});
  const call c{l, input, at::kFloat};
  const at::Tensor flat = c.flat.clone(), x = c.input.detach().clone();
  const at::Tensor y = without_gradient(l, c, training), again = without_gradient(l, c, training);
  CHECK(same_bits(y, again));
  CHECK(std::isfinite(number(y.abs().max())));
  const at::Tensor differentiable = l.forward(c.parameters, c.input, in_context(training)).detach();
  if (!l.depends_on_gradients()) CHECK(same_bits(y, differentiable));
  CHECK(same_bits(c.flat, flat));
  CHECK(same_bits(c.input.detach(), x));
}

/// Gradients of a random linear functional of the output.
void backpropagate(const layer& l, const call& c) {
  const at::Tensor y = l.forward(c.parameters, c.input, in_context(true));
  REQUIRE(y.requires_grad());
  y.mul(random_tensor(y.sizes().vec(), 2)).sum().backward();
}

void gradients_are_there_and_repeat(const layer& l, const at::Tensor& input) {
  const call c{l, input, at::kFloat}, twin{l, input, at::kFloat};
  const auto leaves = trained_leaves(c), twins = trained_leaves(twin);
  if (leaves.empty()) return;
  backpropagate(l, c);
  backpropagate(l, twin);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    INFO("gradient of " << leaves[i].name);
    const at::Tensor gradient = leaves[i].leaf.grad();
    REQUIRE(gradient.defined());
    CHECK(gradient.sizes() == leaves[i].leaf.sizes());
    CHECK(std::isfinite(number(gradient.abs().max())));
    CHECK(same_bits(gradient, twins[i].leaf.grad()));
  }
}

/// Some layers have tensors of their own in fp32.
bool computes_in_fp64(const layer& l, const call& c) {
  try {
    return without_gradient(l, c, true).scalar_type() == at::kDouble;
  } catch (const std::exception&) {
    return false;
  }
}

void gradients_are_derivatives(const layer& l, const at::Tensor& input) {
  const call c{l, input, at::kDouble};
  if (!computes_in_fp64(l, c)) {
    WARN("the layer does not compute in fp64: its gradients were not compared with numerical derivatives");
    return;
  }
  const at::Tensor weights = random_tensor(without_gradient(l, c, true).sizes().vec(), 2, at::kDouble);
  const auto f = [&] { return l.forward(c.parameters, c.input, in_context(true)).mul(weights).sum(); };
  for (const named_leaf& one : trained_leaves(c)) {
    INFO("gradient of " << one.name);
    one.leaf.mutable_grad().reset();
    const std::vector<at::Tensor> leaf{one.leaf};
    CHECK(gradient_error(f, leaf) < 1e-5);
  }
}

/// As in a loss that is computed in chunks (chain::chunk_loss).
void rows_may_be_alone(const layer& l, const at::Tensor& input) {
  if (!l.is_row_wise()) return;
  call c{l, input, at::kFloat};
  const auto rows = [](const at::Tensor& t) { return t.reshape({1, -1, t.size(-1)}); };
  const at::Tensor all = rows(without_gradient(l, c, false)), x = rows(c.input);
  const std::int64_t half = x.size(1) / 2;
  c.input = x.narrow(1, half, x.size(1) - half);
  CHECK(distance(without_gradient(l, c, false), all.narrow(1, half, all.size(1) - half)) < 1e-4);
}

}  // namespace

void conforms(const layer& l, const at::Tensor& input) {
  INFO(l.signature());
  REQUIRE(input.dim() > 0);
  REQUIRE(input.size(0) > 1);
  parameters_are_declared(l);
  the_output_is_as_declared(l, input, at::kFloat);
  if (!has_averages(l)) the_output_is_as_declared(l, input, at::kBFloat16);
  for (const bool training : {true, false}) forward_is_pure(l, input, training);
  gradients_are_there_and_repeat(l, input);
  gradients_are_derivatives(l, input);
  rows_may_be_alone(l, input);
}

}  // namespace hydra::test
