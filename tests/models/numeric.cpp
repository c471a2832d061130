#include "tests/models/numeric.hpp"

#include "models/random.hpp"

#include <ATen/ops/zeros_ops.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace hydra::test {
namespace {

at::Tensor real(const at::Tensor& t) { return t.detach().to(at::kDouble).contiguous(); }

/// (f(x + h) - f(x - h)) / 2h for element i of x.
double central_difference(const std::function<at::Tensor()>& f, const at::Tensor& x, std::int64_t i) {
  constexpr double h = 1e-5;
  c10::NoGradGuard no_grad;
  double& value = x.mutable_data_ptr<double>()[i];
  const double before = value;
  value = before + h;
  const double above = number(f());
  value = before - h;
  const double below = number(f());
  value = before;
  return (above - below) / (2 * h);
}

}  // namespace

at::Tensor zeros(const std::vector<std::int64_t>& shape, at::ScalarType type) {
  return at::_ops::zeros::call(c10::fromIntArrayRefSlow(shape), type, {}, {}, {});
}

at::Tensor random_tensor(const std::vector<std::int64_t>& shape, std::uint64_t seed, at::ScalarType type) {
  const at::Tensor t = zeros(shape, at::kDouble);
  for (std::int64_t i = 0; i < t.numel(); ++i)
    t.mutable_data_ptr<double>()[i] = random_normal(random_key({seed}), static_cast<std::uint64_t>(i));
  return t.to(type);
}

at::Tensor random_ids(const std::vector<std::int64_t>& shape, std::int64_t limit, std::uint64_t seed) {
  const at::Tensor t = zeros(shape, at::kLong);
  for (std::int64_t i = 0; i < t.numel(); ++i)
    t.mutable_data_ptr<std::int64_t>()[i] = static_cast<std::int64_t>(
        random_bits(random_key({seed}), static_cast<std::uint64_t>(i)) % static_cast<std::uint64_t>(limit));
  return t;
}

std::span<float> values(const at::Tensor& t) {
  return {t.mutable_data_ptr<float>(), static_cast<std::size_t>(t.numel())};
}

std::vector<float> copy_of(const at::Tensor& t) { return {values(t).begin(), values(t).end()}; }

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor x = a.contiguous(), y = b.contiguous();
  return x.sizes() == y.sizes() && x.dtype() == y.dtype() &&
         std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0;
}

double distance(const at::Tensor& a, const at::Tensor& b) { return number(real(a).sub(real(b)).abs().max()); }

double number(const at::Tensor& scalar) { return real(scalar).const_data_ptr<double>()[0]; }

std::vector<at::Tensor> random_parameters(const layer& l, std::uint64_t seed, at::ScalarType type) {
  std::vector<at::Tensor> result;
  for (const parameter_spec& p : l.parameters()) {
    result.push_back(random_tensor(p.shape, seed + result.size(), type));
    result.back().set_requires_grad(true);
  }
  return result;
}

double gradient_error(const std::function<at::Tensor()>& f, std::span<const at::Tensor> leaves) {
  f().backward();
  double worst = 0;
  for (const at::Tensor& leaf : leaves) {
    const at::Tensor gradient = leaf.grad().contiguous();
    const std::int64_t stride = std::max<std::int64_t>(1, leaf.numel() / 7);
    for (std::int64_t i = 0; i < leaf.numel(); i += stride) {
      const double exact = gradient.const_data_ptr<double>()[i];
      worst = std::max(worst, std::abs(central_difference(f, leaf, i) - exact) / (1 + std::abs(exact)));
    }
  }
  return worst;
}

}  // namespace hydra::test
