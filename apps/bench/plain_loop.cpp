#include "apps/bench/plain_loop.hpp"

#include "models/parameter_layout.hpp"
#include "partition/execute/shard.hpp"
#include "partition/execute/shard_tensors.hpp"

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <memory>

namespace hydra::apps {

namespace {

at::Tensor zeros(const tensor_spec& spec) {
  return at::zeros(spec.shape, spec.type == element::i64 ? at::kLong : at::kFloat);
}

}  // namespace

duration train_plainly(const model_description& m, std::uint32_t steps) {
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const auto data = open_data(m.data, m.chain.wants());
  const auto model = std::make_shared<const chain>(m.chain.build(*data));
  const shard whole{model, 0, model->size()};
  const auto n = static_cast<std::int64_t>(whole.layout().elements());
  const at::Tensor parameters = at::zeros({n}), gradients = at::zeros({n}), first = at::zeros({n}),
                   second = at::zeros({n});
  const auto memory = [](const at::Tensor& t) { return t.mutable_data_ptr<float>(); };
  whole.layout().initialise({memory(parameters), static_cast<std::size_t>(n)}, *model, 0);
  const at::Tensor number_of_updates = at::ones({});
  const auto update = [&] {
    const at::NoGradGuard no_grad;
    at::_fused_adamw_({parameters}, {gradients}, {first}, {second}, {}, {number_of_updates}, /*lr=*/1e-3, /*beta1=*/0.9,
                      /*beta2=*/0.999, /*weight_decay=*/0.01, /*eps=*/1e-8, /*amsgrad=*/false, /*maximize=*/false);
  };
  const auto samples = m.batch_size / m.micro_batches;
  const at::Tensor input = zeros(batched(data->sample_input(), samples)),
                   target = zeros(batched(data->sample_target(), samples));
  const std::size_t targets = static_cast<std::size_t>(target.numel()) * m.micro_batches;
  const auto step = [&](std::uint32_t number) {
    gradients.zero_();
    const auto bound = whole.bind(parameters, gradients);
    for (std::uint32_t k = 0; k < m.micro_batches; ++k)
      whole.backward(bound, input, target, {.step = number, .micro_batch = k, .targets = targets});
    update();
  };
  step(0);
  const auto begin = steady_clock::now();
  for (std::uint32_t i = 1; i <= steps; ++i) step(i);
  const auto took = steady_clock::now() - begin;
  at::set_num_threads(threads);
  return took;
}

}  // namespace hydra::apps
