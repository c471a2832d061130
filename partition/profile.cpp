#include "partition/profile.hpp"

#include "models/parameter_layout.hpp"
#include "runtime/accounting_allocator.hpp"

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones_like_ops.h>
#include <ATen/ops/zeros_ops.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace hydra {

namespace {

constexpr byte_count unlimited{std::numeric_limits<std::int64_t>::max()};

at::Tensor zeros(const std::vector<std::int64_t>& shape, element type) {
  return at::_ops::zeros::call(c10::fromIntArrayRefSlow(shape), type == element::f32 ? at::kFloat : at::kLong,
                               std::nullopt, std::nullopt, std::nullopt);
}

byte_count less(byte_count a, byte_count b) { return a > b ? a - b : byte_count{}; }

duration since(time_point start) { return steady_clock::now() - start; }

/// One intra-op thread while it lives, as on a device by default; the caller's number comes back.
class one_thread {
 public:
  one_thread() : before_(at::get_num_threads()) { at::set_num_threads(1); }
  ~one_thread() { at::set_num_threads(before_); }
  one_thread(const one_thread&) = delete;
  one_thread& operator=(const one_thread&) = delete;

 private:
  int before_;
};

/// What one forward or backward with gradient was seen to take.
struct measured_pass {
  byte_count saved;
  byte_count transient;
  duration elapsed{};
};

/// A function and what it works on, measured under an account of its own.
class bench {
 public:
  explicit bench(memory_account& account) : account_(account) {}

  /// Peak of `make()` beyond the tensors it returns; its time.
  template <class Make>
  measured_pass forward(const Make& make) {
    const at::NoGradGuard no_grad;
    const auto base = account_.used();
    account_.reset_peak();
    const auto start = steady_clock::now();
    const at::Tensor y = make();
    measured_pass pass{.saved = less(account_.used(), base), .transient = {}, .elapsed = since(start)};
    pass.transient = less(account_.peak(), base + pass.saved);
    return pass;
  }

  /// The same with gradient, then backward: `upstream(y)` gives the gradient of the output, which is charged outside.
  template <class Make, class Upstream>
  measured_pass backward(const Make& make, const Upstream& upstream) {
    const at::AutoGradMode with_grad(true);
    const auto base = account_.used();
    account_.reset_peak();
    const auto start = steady_clock::now();
    at::Tensor y = make();
    measured_pass pass{.saved = less(account_.used(), base), .transient = {}, .elapsed = since(start)};
    pass.transient = less(account_.peak(), base + pass.saved);
    const at::Tensor gradient = upstream(y);
    const auto before = account_.used();
    account_.reset_peak();
    const auto again = steady_clock::now();
    y.backward(gradient);
    pass.elapsed += since(again);
    pass.transient = std::max(pass.transient, less(account_.peak(), before));
    return pass;
  }

 private:
  memory_account& account_;
};

template <class Pass>
measured_pass fastest(int repeats, const Pass& pass) {
  measured_pass best = pass();  // warm: allocators and kernels touched once
  for (int i = 0; i < std::max(repeats, 1); ++i) {
    const auto next = pass();
    best.elapsed = i == 0 ? next.elapsed : std::min(best.elapsed, next.elapsed);
  }
  return best;
}

/// Leaf parameters with preset gradients, as a visit binds them.
std::vector<at::Tensor> leaves(const parameter_layout& layout, std::size_t layer, const at::Tensor& flat,
                               const at::Tensor& gradients) {
  auto views = layout.views(flat, layer);
  auto slices = layout.views(gradients, layer);
  std::vector<at::Tensor> bound;
  for (std::size_t i = 0; i < views.size(); ++i) {
    bound.push_back(views[i].detach().requires_grad_(true));
    bound.back().mutable_grad() = slices[i];
  }
  return bound;
}

layer_profile measure_layer(const chain& model, std::size_t index, const tensor_spec& in, const tensor_spec& out,
                            int repeats, memory_account& account) {
  const parameter_layout layout(model, index, index + 1);
  const auto elements = static_cast<std::int64_t>(layout.elements());
  const at::Tensor flat = zeros({elements}, element::f32);
  const at::Tensor gradients = zeros({elements}, element::f32);
  const layer_context context{.seed = 1, .step = 0, .micro_batch = 0, .layer = static_cast<std::uint32_t>(index)};
  const auto& body = *model.at(index).body;
  const auto views = layout.views(flat, index);
  const at::Tensor x = zeros(in.shape, in.type);

  bench measure(account);
  const auto forward = fastest(repeats, [&] { return measure.forward([&] { return body.forward(views, x, context).contiguous(); }); });
  const auto backward = fastest(repeats, [&] {
    const auto bound = leaves(layout, index, flat, gradients);
    const at::Tensor leaf = in.type == element::f32 ? x.detach().requires_grad_(true) : x;
    return measure.backward(
        [&] { return body.forward(bound, leaf, context).contiguous(); },
        [](const at::Tensor& y) {
          return at::_ops::ones_like::call(y, std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt);
        });
  });
  layer_profile profile;
  profile.parameters = charged_bytes(layout.bytes());
  profile.input = charged_bytes(in.bytes());
  profile.output = charged_bytes(out.bytes());
  profile.input_spec = in;
  profile.output_spec = out;
  profile.saved = backward.saved;
  profile.forward_transient = forward.transient + less(forward.saved, profile.output);
  profile.backward_transient = backward.transient;
  profile.forward = forward.elapsed;
  profile.backward = backward.elapsed;
  return profile;
}

void measure_loss(chain_profile& profile, const chain& model, memory_account& account) {
  const auto& out = profile.layers.back().output_spec;
  const at::Tensor y = zeros(out.shape, out.type);
  const at::Tensor targets = zeros(profile.target_spec.shape, profile.target_spec.type);
  bench measure(account);
  const auto pass = fastest(1, [&] {
    const at::Tensor leaf = y.detach().requires_grad_(true);
    return measure.backward([&] { return model.objective().sum(leaf, targets); },
                            [](const at::Tensor&) { return at::Tensor(); });
  });
  profile.loss_saved = pass.saved;
  profile.loss_transient = pass.transient;
  profile.layers.back().backward += pass.elapsed;
}

}  // namespace

chain_profile measure(const chain& model, const tensor_spec& sample_target, std::int64_t samples, int repeats) {
  const one_thread alone;
  memory_account account(unlimited);
  const charge_to charged(account);
  chain_profile profile;
  profile.samples = samples;
  profile.target_spec = batched(sample_target, samples);
  profile.targets = charged_bytes(profile.target_spec.bytes());
  const auto outputs = model.outputs(samples);
  std::map<std::string, layer_profile> known;
  tensor_spec in = batched(model.sample_input(), samples);
  for (std::size_t i = 0; i < model.size(); ++i) {
    const auto key = model.at(i).body->signature() + " on " + to_string(in);
    auto found = known.find(key);
    if (found == known.end()) {
      found = known.emplace(key, measure_layer(model, i, in, outputs[i], repeats, account)).first;
    }
    profile.layers.push_back(found->second);
    in = outputs[i];
  }
  measure_loss(profile, model, account);
  return profile;
}

}  // namespace hydra
