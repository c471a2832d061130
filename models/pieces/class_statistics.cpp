#include "models/pieces/class_statistics.hpp"

#include <ATen/core/IListRef.h>
#include <ATen/ops/max_ops.h>
#include <ATen/ops/maximum_ops.h>
#include <ATen/ops/stack_ops.h>
#include <ATen/ops/where_ops.h>
#include <torch/csrc/autograd/custom_function.h>

#include <array>
#include <tuple>

namespace hydra {
namespace {

enum class column : std::int64_t { largest, sum, at_target, best };

at::Tensor of(const at::Tensor& statistics, column c) { return statistics.select(-1, static_cast<std::int64_t>(c)); }

at::Tensor together(const at::Tensor& m, const at::Tensor& s, const at::Tensor& z, const at::Tensor& i) {
  const std::array all{m, s, z, i};
  return at::_ops::stack::call(at::TensorList{all}, -1);
}

/// With the logits alone kept: the exponentials are computed again, and their gradient is the only other large tensor.
struct statistics_function : torch::autograd::Function<statistics_function> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& logits,
                            const at::Tensor& targets, std::int64_t first) {
    const std::int64_t classes = logits.size(-1);
    const auto [m, i] = at::_ops::max_dim::call(logits, -1, false);
    const at::Tensor own = targets.ge(first).logical_and(targets.lt(first + classes));
    const at::Tensor place = targets.sub(first).clamp(0, classes - 1).unsqueeze(-1);
    const at::Tensor z = at::_ops::where_ScalarOther::call(own, logits.gather(-1, place).squeeze(-1), 0);
    const at::Tensor s = logits.sub(m.unsqueeze(-1)).exp_().sum(-1);
    context->save_for_backward({logits, m, own, place});
    return together(m, s, z, i.add(first).to(at::kFloat));
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& upstream) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &logits = saved[0], &m = saved[1], &own = saved[2], &place = saved[3];
    at::Tensor gradient = logits.sub(m.unsqueeze(-1)).exp_().mul_(of(upstream[0], column::sum).unsqueeze(-1));
    const at::Tensor of_target = at::_ops::where_ScalarOther::call(own, of(upstream[0], column::at_target), 0);
    gradient.scatter_add_(-1, place, of_target.unsqueeze(-1));
    return {gradient, {}, {}};
  }
};

}  // namespace

at::Tensor class_statistics(const at::Tensor& logits, const at::Tensor& targets, std::int64_t first) {
  return statistics_function::apply(logits, targets, first);
}

at::Tensor joined_statistics(const at::Tensor& before, const at::Tensor& own) {
  const at::Tensor a = of(before, column::largest).detach(), b = of(own, column::largest).detach();
  const at::Tensor m = at::_ops::maximum::call(a, b);
  const at::Tensor s = of(before, column::sum).mul(a.sub(m).exp()).add(of(own, column::sum).mul(b.sub(m).exp()));
  const at::Tensor i = at::_ops::where_self::call(b.gt(a), of(own, column::best), of(before, column::best));
  return together(m, s, of(before, column::at_target).add(of(own, column::at_target)), i.detach());
}

at::Tensor loss_of(const at::Tensor& statistics) {
  const at::Tensor of_all = of(statistics, column::largest).detach().add(of(statistics, column::sum).log());
  return of_all.sub(of(statistics, column::at_target));
}

at::Tensor best_class(const at::Tensor& statistics) { return of(statistics, column::best).detach(); }

}  // namespace hydra
