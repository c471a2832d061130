#include "tests/support/reference_trainer.hpp"

#include "models/data/batch_order.hpp"
#include "models/optimizer/parameter_rule.hpp"
#include "models/parameter_layout.hpp"
#include "models/scalar_type.hpp"
#include "models/weights/digest.hpp"

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/clamp_max_ops.h>
#include <ATen/ops/empty_ops.h>
#include <ATen/ops/linalg_vector_norm_ops.h>
#include <ATen/ops/stack_ops.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <ranges>

namespace hydra::test {
namespace {

std::span<float> values(const at::Tensor& t) {
  return {t.mutable_data_ptr<float>(), static_cast<std::size_t>(t.numel())};
}

at::Tensor empty(const std::vector<std::int64_t>& shape, at::ScalarType type) {
  return at::_ops::empty_memory_format::call(c10::fromIntArrayRefSlow(shape), type, {}, {}, {}, {});
}

/// In fp32 `master` is `value` itself, and autograd adds up its gradients; `sum` is undefined.
struct leaf {
  placed_parameter place;
  at::Tensor value, master, sum{};
  std::vector<at::Tensor> sums{};   ///< of the replicas
  std::vector<float> first_moment{}, second_moment{};
  std::vector<std::uint8_t> first_codes{}, second_codes{};  ///< in 8 bits
  std::vector<float> first_largest{}, second_largest{};

  bool rounded() const { return value.scalar_type() != at::kFloat; }
  at::Tensor& gradient() { return rounded() ? sum : value.mutable_grad(); }
};

struct minibatch {
  at::Tensor input, target;
  std::size_t targets = 0;
};

class trainer {
 public:
  explicit trainer(const reference_options& options);
  reference_result run();

 private:
  minibatch read(std::span<const std::size_t> samples, split part) const;
  std::vector<minibatch> read_step(std::uint32_t step) const;
  at::Tensor forward(at::Tensor x, std::uint32_t step, std::uint32_t micro_batch, bool training = true) const;
  at::Tensor layer(std::uint32_t i, const at::Tensor& x, std::uint32_t step, std::uint32_t micro_batch,
                   bool training) const;
  at::Tensor below_head(at::Tensor x, std::uint32_t step, std::uint32_t micro_batch, bool training) const;
  bool in_chunks(const minibatch& b) const;
  float backward(const minibatch& b, std::uint32_t step, std::uint32_t micro_batch, double targets);
  float backward_in_chunks(const minibatch& b, std::uint32_t step, std::uint32_t micro_batch, double targets);
  void add_score(const minibatch& b, std::uint32_t steps, std::uint32_t micro_batch, reference_evaluation& e) const;
  void evaluate(std::uint32_t steps);
  float accumulate_gradients(std::uint32_t step);
  void add_to_sums();
  void end_replica(bool last);
  void add_sums();
  void round_masters();
  void add_tied_gradients();
  at::Tensor norm_of(const at::Tensor& gradient) const;
  float clip_gradients();
  void update(std::uint32_t step);
  void move_averages();
  void update_tied_copies();
  void finish();
  leaf& owner_of(const leaf& tied_copy);

  const reference_options& options_;
  std::vector<leaf> leaves_;  ///< in chain order
  reference_result result_;
};

bool is_frozen(const chain& model, const placed_parameter& p) {
  const std::vector<parameter_spec> all = model.parameters(p.layer);
  return std::ranges::find(all, p.name, &parameter_spec::name)->frozen;
}

trainer::trainer(const reference_options& options) : options_(options) {
  chain whole = options.model;
  whole.unfreeze();  // one buffer of all parameters
  const parameter_layout layout{whole, 0, whole.size()};
  std::vector<float> initial(layout.elements());
  layout.initialise(initial, whole, options.seed);
  for (const placed_parameter& p : layout.parameters()) {
    const at::Tensor master = empty(p.shape, at::kFloat);
    std::memcpy(values(master).data(), initial.data() + p.offset, p.elements * sizeof(float));
    const bool rounded = options.model.numbers() == precision::bf16;
    leaf l{p, rounded ? master.to(at::kBFloat16) : master, master};
    l.place.frozen = is_frozen(options.model, p);
    l.value.set_requires_grad(!l.place.frozen);
    const update_kind own = kind_for(options.update.kind, p.form());
    const bool in_blocks = own == update_kind::adamw8bit;
    const int moments = in_blocks ? 0 : moment_buffers(options.update);
    const auto sizes = moment_values(own, p.form());
    for (auto* codes : {&l.first_codes, &l.second_codes}) codes->resize(in_blocks ? p.elements : 0);
    for (auto* largest : {&l.first_largest, &l.second_largest})
      largest->resize(in_blocks ? moment_blocks(p.elements) : 0);
    l.first_moment.resize(moments > 0 ? sizes[0] : 0);
    l.second_moment.resize(moments > 1 ? sizes[1] : 0);
    leaves_.push_back(std::move(l));
  }
}

minibatch trainer::read(std::span<const std::size_t> samples, split part) const {
  const auto make = [&](const tensor_spec& sample) {
    const tensor_spec all = batched(sample, static_cast<std::int64_t>(samples.size()));
    return empty(all.shape, scalar_type(all.type));
  };
  minibatch b{make(options_.data->sample_input()), make(options_.data->sample_target()), 0};
  const std::size_t input = options_.data->sample_input().bytes().value();
  const std::size_t target = options_.data->sample_target().bytes().value();
  auto* inputs = static_cast<std::byte*>(b.input.mutable_data_ptr());
  auto* targets = static_cast<std::byte*>(b.target.mutable_data_ptr());
  const std::size_t there = options_.data->samples(part);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const bool counts = samples[i] < there;
    const std::size_t counted = options_.data->read(part, counts ? samples[i] : there - 1, {inputs + i * input, input},
                                                    {targets + i * target, target});
    b.targets += counts ? counted : 0;
    if (!counts) b.target[static_cast<std::int64_t>(i)].fill_(-100);
  }
  return b;
}

std::vector<minibatch> trainer::read_step(std::uint32_t step) const {
  const batch_order order{.samples = options_.data->samples(split::train),
                          .batch_size = options_.batch_size,
                          .seed = options_.data_seed,
                          .shuffle = options_.shuffle};
  const std::vector<std::size_t> samples = order.batch(step);
  const std::size_t each = options_.batch_size / options_.micro_batches;
  std::vector<minibatch> result;
  for (std::size_t k = 0; k < options_.micro_batches; ++k)
    result.push_back(read(std::span{samples}.subspan(k * each, each), split::train));
  return result;
}

at::Tensor trainer::layer(std::uint32_t i, const at::Tensor& x, std::uint32_t step, std::uint32_t micro_batch,
                          bool training) const {
  std::vector<at::Tensor> parameters;
  for (const leaf& l : leaves_)
    if (l.place.layer == i) parameters.push_back(l.value);
  const layer_context context{
      .seed = options_.seed, .step = step, .micro_batch = micro_batch, .layer = options_.model.at(i).number,
      .training = training};
  return options_.model.at(i).body->forward(parameters, x, context);
}

at::Tensor trainer::below_head(at::Tensor x, std::uint32_t step, std::uint32_t micro_batch, bool training) const {
  if (options_.model.numbers() == precision::bf16 && x.is_floating_point()) x = x.to(at::kBFloat16);
  for (std::uint32_t i = 0; i + 1 < options_.model.size(); ++i) x = layer(i, x, step, micro_batch, training);
  return x;
}

/// Logits in fp32.
at::Tensor trainer::forward(at::Tensor x, std::uint32_t step, std::uint32_t micro_batch, bool training) const {
  const auto head = static_cast<std::uint32_t>(options_.model.size() - 1);
  return layer(head, below_head(std::move(x), step, micro_batch, training), step, micro_batch, training).to(at::kFloat);
}

bool trainer::in_chunks(const minibatch& b) const {
  return options_.model.loss_chunk() > 0 && options_.model.loss_chunk() < b.target.numel();
}

float trainer::backward(const minibatch& b, std::uint32_t step, std::uint32_t micro_batch, double targets) {
  if (in_chunks(b)) return backward_in_chunks(b, step, micro_batch, targets);
  const at::Tensor output = forward(b.input, step, micro_batch);
  const at::Tensor loss = options_.model.objective().sum(output, b.target).div(targets);
  loss.backward();
  return loss.const_data_ptr<float>()[0];
}

/// Rows of the head's input, one chunk after the other; the layers below get the gradient of all.
float trainer::backward_in_chunks(const minibatch& b, std::uint32_t step, std::uint32_t micro_batch, double targets) {
  const auto head = static_cast<std::uint32_t>(options_.model.size() - 1);
  const at::Tensor below = below_head(b.input, step, micro_batch, true);
  const at::Tensor all =
      below.detach().contiguous().view({1, b.target.numel(), -1}).requires_grad_(below.requires_grad());
  float sum = 0;
  for (std::int64_t begin = 0; begin < b.target.numel(); begin += options_.model.loss_chunk()) {
    const std::int64_t n = std::min(options_.model.loss_chunk(), b.target.numel() - begin);
    const at::Tensor output = layer(head, all.narrow(1, begin, n), step, micro_batch, true).to(at::kFloat);
    const at::Tensor loss =
        options_.model.objective().sum(output, b.target.view({1, -1}).narrow(1, begin, n)).div(targets);
    loss.backward();
    add_to_sums();
    sum += loss.const_data_ptr<float>()[0];
  }
  if (below.requires_grad()) below.backward(all.grad().view(below.sizes()));
  return sum;
}

/// fp32 sums of bf16 gradients, micro-batch by micro-batch, of those that there are.
void trainer::add_to_sums() {
  const c10::NoGradGuard no_grad;
  for (leaf& l : leaves_) {
    if (!l.rounded() || l.place.frozen || !l.value.grad().defined()) continue;
    const at::Tensor more = l.value.grad().to(at::kFloat);
    l.sum = l.sum.defined() ? l.sum.add(more) : more;
    l.value.mutable_grad().reset();
  }
}

/// Its gradients may be rounded to bf16, as on the way from a device to the host. Where replicas have met, only the last
/// one ends a sum.
void trainer::end_replica(bool last) {
  const c10::NoGradGuard no_grad;
  const bool rounds = options_.model.gradients() == precision::bf16;
  for (leaf& l : leaves_) {
    const bool met = options_.meets > 0 && l.place.layer >= options_.meets;
    if (l.place.frozen || (met && !last)) continue;
    l.sums.push_back(rounds ? l.gradient().to(at::kBFloat16).to(at::kFloat) : l.gradient().clone());
    l.gradient().reset();
  }
}

void trainer::add_sums() {
  const c10::NoGradGuard no_grad;
  for (leaf& l : leaves_) {
    if (l.place.frozen) continue;
    l.gradient() = l.sums.front().clone();
    for (std::size_t r = 1; r < l.sums.size(); ++r) l.gradient().add_(l.sums[r]);
  }
}

void trainer::round_masters() {
  for (leaf& l : leaves_)
    if (l.rounded()) l.value.copy_(l.master);
}

float trainer::accumulate_gradients(std::uint32_t step) {
  const std::vector<minibatch> batches = read_step(step);
  std::size_t targets = 0;
  for (const minibatch& b : batches) targets += b.targets;
  targets = std::max(targets, std::size_t{1});  // a step without any has loss 0
  float sum = 0;
  for (std::uint32_t k = 0; k < batches.size(); ++k) {
    sum += backward(batches[k], step, k, static_cast<double>(targets));
    add_to_sums();
    if ((k + 1) % (batches.size() / options_.replicas) == 0) end_replica(k + 1 == batches.size());
  }
  add_sums();
  return sum;
}

void trainer::add_score(const minibatch& b, std::uint32_t steps, std::uint32_t micro_batch,
                        reference_evaluation& e) const {
  const c10::NoGradGuard no_grad;
  const auto head = static_cast<std::uint32_t>(options_.model.size() - 1);
  const at::Tensor below = below_head(b.input, steps, micro_batch, false).contiguous();
  const bool whole = !in_chunks(b);
  const std::int64_t rows = b.target.numel(), each = whole ? rows : options_.model.loss_chunk();
  float sum = 0, correct = 0;
  for (std::int64_t begin = 0; begin < rows; begin += each) {
    const std::int64_t n = std::min(each, rows - begin);
    const at::Tensor x = whole ? below : below.view({1, rows, -1}).narrow(1, begin, n);
    const at::Tensor targets = whole ? b.target : b.target.view({1, rows}).narrow(1, begin, n);
    const at::Tensor output = layer(head, x, steps, micro_batch, false).to(at::kFloat);
    sum += options_.model.objective().sum(output, targets).const_data_ptr<float>()[0];
    const auto right = options_.model.objective().correct(output, targets);
    if (right) correct += right->const_data_ptr<float>()[0];
    if (right) e.accuracy = e.accuracy.value_or(0);
  }
  e.loss += sum;
  if (e.accuracy) *e.accuracy += correct;
}

/// Micro-batch k of the validation data are its samples [k*n, (k+1)*n); the last one may be filled with some that do
/// not count.
void trainer::evaluate(std::uint32_t steps) {
  const std::size_t each = options_.batch_size / options_.micro_batches;
  reference_evaluation e;
  e.steps = steps;
  std::size_t targets = 0;
  for (std::size_t k = 0; k < options_.evaluation_micro_batches; ++k) {
    std::vector<std::size_t> samples(each);
    std::iota(samples.begin(), samples.end(), k * each);
    const minibatch b = read(samples, split::validation);
    add_score(b, steps, static_cast<std::uint32_t>(k), e);
    targets += b.targets;
  }
  e.loss /= static_cast<double>(targets);
  if (e.accuracy) *e.accuracy /= static_cast<double>(targets);
  result_.evaluations.push_back(e);
}

leaf& trainer::owner_of(const leaf& tied_copy) {
  return *std::ranges::find(leaves_, tied_copy.place.tied_to, [](const leaf& l) { return l.place.name; });
}

/// From the last use of a parameter to the first, as autograd does.
void trainer::add_tied_gradients() {
  for (leaf& owner : leaves_) {
    std::vector<at::Tensor> sums;
    bool tied = false;
    for (const leaf& l : leaves_ | std::views::reverse) {
      const bool is_copy = l.place.tied_to == owner.place.name;
      tied = tied || is_copy;
      if (is_copy || &l == &owner) sums.insert(sums.end(), l.sums.begin(), l.sums.end());
    }
    if (!tied || sums.empty()) continue;
    at::Tensor total = sums.front().clone();
    for (std::size_t i = 1; i < sums.size(); ++i) total.add_(sums[i]);
    owner.gradient().copy_(total);
  }
}

/// Large gradients in bf16 by pieces, which fit in memory where the whole in fp32 does not.
at::Tensor trainer::norm_of(const at::Tensor& gradient) const {
  const auto norm = [](const at::Tensor& t) { return at::_ops::linalg_vector_norm::call(t, 2, {}, false, {}); };
  if (options_.model.gradients() == precision::fp32 || gradient.numel() <= 16384) return norm(gradient);
  std::vector<at::Tensor> norms;
  for (const at::Tensor& piece : gradient.contiguous().flatten().split(16384)) norms.push_back(norm(piece));
  return norm(at::_ops::stack::call(norms, 0));
}

/// torch.nn.utils.clip_grad_norm_.
float trainer::clip_gradients() {
  std::vector<at::Tensor> norms;
  for (leaf& l : leaves_)
    if (l.place.trained()) norms.push_back(norm_of(l.gradient()));
  const at::Tensor norm = at::_ops::linalg_vector_norm::call(at::_ops::stack::call(norms, 0), 2, {}, false, {});
  const at::Tensor ratio = norm.add(1e-6).reciprocal().mul(options_.update.clip_norm);
  const at::Tensor coefficient = at::_ops::clamp_max::call(ratio, 1.0);
  for (leaf& l : leaves_)
    if (l.place.trained()) l.gradient().mul_(coefficient);
  return norm.const_data_ptr<float>()[0];
}

void trainer::update(std::uint32_t step) {
  for (leaf& l : leaves_) {
    if (!l.place.trained()) continue;
    const at::Tensor gradient = l.gradient().contiguous();
    const std::string name = options_.model.stored_name(l.place.name);
    apply_update(options_of(options_.update, name, l.place.form()), step, options_.steps, 1.0f,
                 {.parameters = values(l.master),
                  .gradients = values(gradient),
                  .first_moment = l.first_moment,
                  .second_moment = l.second_moment,
                  .first_blocks = {l.first_codes, l.first_largest},
                  .second_blocks = {l.second_codes, l.second_largest},
                  .matrix = matrix_size_of(l.place.form())});
  }
}

/// Without gradient, inside run().
void trainer::move_averages() {
  for (leaf& l : leaves_) {
    if (l.place.averaging == 0) continue;
    const double kept = std::pow(1 - l.place.averaging, static_cast<double>(options_.micro_batches));
    l.value.mul_(kept).add_(l.value.grad());
  }
}

void trainer::update_tied_copies() {
  for (const leaf& l : leaves_)
    if (!l.place.tied_to.empty() && !l.place.frozen)
      std::ranges::copy(values(owner_of(l).master), values(l.master).begin());
}

void trainer::finish() {
  digest d;
  for (const leaf& l : leaves_) {
    if (l.place.frozen) continue;
    if (l.place.tied_to.empty()) d.add(values(l.master));
    result_.parameters[l.place.name].assign(values(l.master).begin(), values(l.master).end());
  }
  result_.digest = d.finish();
}

reference_result trainer::run() {
  for (std::uint32_t step = 0; step < options_.steps; ++step) {
    result_.losses.push_back(accumulate_gradients(step));
    c10::NoGradGuard no_grad;
    add_tied_gradients();
    if (options_.update.clip_norm > 0) result_.grad_norms.push_back(clip_gradients());
    update(step);
    move_averages();
    update_tied_copies();
    round_masters();
    for (leaf& l : leaves_) {
      if (!l.place.frozen) l.gradient().reset();
      l.sums.clear();
    }
    const bool due = step + 1 == options_.steps ||
                     (options_.evaluate_every > 0 && (step + 1) % options_.evaluate_every == 0);
    if (due && options_.evaluation_micro_batches > 0) evaluate(step + 1);
  }
  finish();
  return std::move(result_);
}

}  // namespace

reference_result train_reference(const reference_options& options) {
  at::set_num_threads(1);
  return trainer{options}.run();
}

}  // namespace hydra::test
