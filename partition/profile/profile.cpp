#include "partition/profile/profile.hpp"

#include "models/chain_loss.hpp"
#include "models/layer_values.hpp"
#include "models/named_backward.hpp"
#include "models/parameter_layout.hpp"
#include "models/row_chunks.hpp"
#include "models/scalar_type.hpp"
#include "partition/profile/footprint.hpp"
#include "runtime/device/cpu/accounting_allocator.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones_like_ops.h>
#include <ATen/ops/zeros_ops.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

namespace {

at::Tensor zeros(const tensor_spec& spec, const measurement_context& on) {
  return at::_ops::zeros::call(c10::fromIntArrayRefSlow(spec.shape), scalar_type(spec.type), std::nullopt,
                               at::Device(on.torch_device), std::nullopt);
}

at::Tensor zero_bytes(byte_count bytes, const measurement_context& on) {
  return at::_ops::zeros::call(c10::SymIntArrayRef{c10::SymInt(static_cast<std::int64_t>(bytes.value()))}, at::kByte,
                               std::nullopt, at::Device(on.torch_device), std::nullopt);
}

byte_count less(byte_count a, byte_count b) { return a > b ? a - b : byte_count{}; }

at::Tensor ones_like(const at::Tensor& y) {
  return at::_ops::ones_like::call(y, std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt);
}

/// Measured times and bytes of one forward or backward with gradient.
struct measured_pass {
  byte_count saved;
  byte_count transient;
  duration elapsed{};
  byte_count forward_transient{};  ///< of a backward: in its forward alone
};

/// A function and what it works on, measured.
class bench {
 public:
  explicit bench(work_meter& meter) : meter_(meter) {}

  /// Peak of `make()` beyond the tensors it returns; its time.
  template <class Make>
  measured_pass forward(const Make& make) {
    const at::NoGradGuard no_grad;
    const auto base = meter_.used();
    meter_.reset_peak();
    const auto start = meter_.now();
    const at::Tensor y = make();
    return passed(base, start);
  }

  /// The same with gradient, then backward through these layers: `upstream(y)` returns the gradient of the output,
  /// which is not charged here.
  template <class Make, class Upstream>
  measured_pass backward(const layer_range& layers, const Make& make, const Upstream& upstream) {
    const at::AutoGradMode with_grad(true);
    const auto base = meter_.used();
    meter_.reset_peak();
    const auto start = meter_.now();
    at::Tensor y = make();
    auto pass = passed(base, start);
    pass.forward_transient = pass.transient;
    const at::Tensor gradient = upstream(y);
    const auto before = meter_.used();
    meter_.reset_peak();
    const auto again = meter_.now();
    if (y.requires_grad()) {  // not behind a frozen first layer
      backward_through(layers, y, gradient);
    }
    pass.elapsed += meter_.now() - again;
    pass.transient = std::max(pass.transient, less(meter_.peak(), before));
    return pass;
  }

 private:
  measured_pass passed(byte_count base, time_point start) {
    measured_pass pass{.saved = less(meter_.used(), base), .transient = {}, .elapsed = meter_.now() - start};
    pass.transient = less(meter_.peak(), base + pass.saved);
    return pass;
  }

  work_meter& meter_;
};

/// A warm-up pass, which also measures the bytes, then timed ones; none for a slow layer, whose first pass is as long
/// as the others.
template <class Pass>
measured_pass repeat(std::size_t visits, const Pass& pass, std::vector<duration>& times) {
  const auto warm = pass();
  for (auto left = timed_repeats(visits, warm.elapsed); left > 0; --left) {
    times.push_back(pass().elapsed);
  }
  if (times.empty()) {
    times.push_back(warm.elapsed);
  }
  return warm;
}

/// One distinct layer of a chain.
struct layer_place {
  std::size_t index = 0;      ///< of the first of its kind
  std::size_t visits = 0;     ///< by two training steps, of all layers of its kind
  tensor_spec in, out;        ///< of the whole micro-batch
  std::vector<row_range> chunks{};  ///< of a last layer that is computed in chunks; empty: whole
};

tensor_spec chunk_of(const tensor_spec& whole, const row_range& rows) {
  return {{1, rows.count, whole.shape.back()}, whole.type};
}

/// What one of its computations works on: the first chunk is a largest one.
tensor_spec at_once(const tensor_spec& whole, const layer_place& place) {
  return place.chunks.empty() ? whole : chunk_of(whole, place.chunks.front());
}

/// Times of one chunk -> of all.
void repeat_for(std::size_t chunks, std::vector<duration>& times) {
  for (auto& t : times) {
    t *= static_cast<duration::rep>(std::max<std::size_t>(chunks, 1));
  }
}

/// Chunks of the last layer and the loss; empty: all rows at once.
std::vector<row_range> chunks_of(const chain& model, const tensor_spec& in) {
  if (model.loss_chunk() == 0) {
    return {};
  }
  auto chunks = row_chunks(rows_of(in), model.loss_chunk());
  return chunks.size() > 1 ? chunks : std::vector<row_range>{};
}

layer_profile measure_layer(const chain& model, const layer_place& place, const measurement_context& on,
                            timed_passes& times) {
  const parameter_layout layout(model, place.index, place.index + 1);
  const tensor_spec stepped{{static_cast<std::int64_t>(layout.elements())}, layout.type()};
  const at::Tensor flat = zeros(stepped, on), gradients = zeros(stepped, on);
  const layer_values values(layout, flat, zero_bytes(layout.base_bytes(), on), place.index);
  const auto memory = std::make_shared<widening>();
  const layer_context context{.seed = 1, .step = 0, .micro_batch = 0, .layer = static_cast<std::uint32_t>(place.index)};
  const auto slices = layout.views(gradients, place.index);
  at::Tensor x = zeros(at_once(place.in, place), on);
  x.set_requires_grad(model.depends_on_gradients() && place.index > 0 && place.in.type != element::i64);

  bench measure(on.meter);
  const auto forward = repeat(
      place.visits,
      [&] {
        return measure.forward([&] { return compute_layer_forward(model, place.index, values, x, context, memory); });
      },
      times.forward);
  const auto backward = repeat(
      place.visits,
      [&] {
        auto bound = values;
        bound.parameters = leaves_of(values.parameters, slices);
        const at::Tensor leaf = place.in.type != element::i64 ? x.detach().requires_grad_(true) : x;
        const auto compute = [&] { return compute_layer(model, place.index, bound, leaf, context, memory); };
        const auto pass = measure.backward({model, place.index, place.index + 1}, compute, ones_like);
        memory->release();
        return pass;
      },
      times.backward);
  repeat_for(place.chunks.size(), times.forward);
  repeat_for(place.chunks.size(), times.backward);
  layer_profile profile;
  profile.kind = model.signature(place.index);
  profile.parameters = charged_bytes(layout.device_bytes());
  profile.base = charged_bytes(layout.base_bytes());
  profile.input = charged_bytes(place.in.bytes());
  profile.output = charged_bytes(at_once(place.out, place).bytes());
  profile.input_spec = place.in;
  profile.output_spec = place.out;
  profile.saved = backward.saved;
  // A forward visit may record a graph: what that saves is counted by itself.
  profile.forward_transient = std::max(forward.transient + less(forward.saved, profile.output),
                                       less(backward.forward_transient, profile.output));
  profile.backward_transient = backward.transient;
  return profile;
}

/// While the chunks are computed: the gradient of the whole input (in an evaluation the input itself), and memory to
/// add bf16 gradients to their sum.
byte_count beside_chunks(const layer_profile& head, precision numbers) {
  const auto adding = numbers == precision::bf16 ? std::min(head.parameters * 2, widening_room) : byte_count{};
  return head.input + adding;
}

void measure_loss(chain_samples& all, const chain& model, std::size_t visits, const measurement_context& on) {
  const auto& head = all.profile.layers.back();
  const auto chunks = chunks_of(model, head.input_spec);
  const bool whole = chunks.empty();
  const at::Tensor y = zeros(whole ? head.output_spec : chunk_of(head.output_spec, chunks.front()), on);
  const at::Tensor targets =
      zeros(whole ? all.profile.target_spec : tensor_spec{{1, chunks.front().count}, all.profile.target_spec.type}, on);
  bench measure(on.meter);
  const auto pass = repeat(
      visits,
      [&] {
        const at::Tensor leaf = y.detach().requires_grad_(true);
        return measure.backward(
            {model, model.size() - 1, model.size()}, [&] { return summed_loss(model, leaf, targets); },
            [](const at::Tensor&) { return at::Tensor(); });
      },
      all.loss.backward);
  repeat_for(chunks.size(), all.loss.backward);
  all.profile.loss_saved = pass.saved + (whole ? byte_count{} : beside_chunks(head, model.numbers()));
  all.profile.loss_transient = pass.transient;
}

/// The distinct layers of a chain, in order; fills `kind_of`.
std::vector<layer_place> distinct_layers(const chain& model, std::int64_t samples, std::size_t visits,
                                         std::vector<std::size_t>& kind_of) {
  std::map<std::string, std::size_t> known;
  std::vector<layer_place> places;
  const auto inputs = model.inputs(samples), outputs = model.outputs(samples);
  for (std::size_t i = 0; i < model.size(); ++i) {
    const auto& in = inputs[i];
    auto chunks = i + 1 == model.size() ? chunks_of(model, in) : std::vector<row_range>{};
    const auto key = model.signature(i) + " on " + to_string(in) + (chunks.empty() ? "" : " in chunks");
    const auto [kind, first] = known.emplace(key, places.size());
    if (first) {
      places.push_back({i, 0, in, outputs[i], std::move(chunks)});
    }
    kind_of.push_back(kind->second);
    places[kind->second].visits += visits;
  }
  return places;
}

void take_larger(byte_count& mine, byte_count other) { mine = std::max(mine, other); }

void take_larger_bytes(chain_profile& mine, const chain_profile& other) {
  for (std::size_t i = 0; i < mine.layers.size(); ++i) {
    take_larger(mine.layers[i].saved, other.layers[i].saved);
    take_larger(mine.layers[i].forward_transient, other.layers[i].forward_transient);
    take_larger(mine.layers[i].backward_transient, other.layers[i].backward_transient);
  }
  take_larger(mine.loss_saved, other.loss_saved);
  take_larger(mine.loss_transient, other.loss_transient);
}

/// Median of what all devices have timed in `times(device)`.
template <class Times>
duration median_of(std::span<const chain_samples> devices, const Times& times) {
  std::vector<duration> all;
  for (const auto& d : devices) {
    const auto& some = times(d);
    all.insert(all.end(), some.begin(), some.end());
  }
  return median(std::move(all));
}

/// Layer 0 of a chain that has nothing frozen.
std::size_t first_trained_layer(const chain& model) {
  std::size_t first = 0;
  const auto frozen = [&](std::size_t i) { return std::ranges::all_of(model.parameters(i), &parameter_spec::frozen); };
  while (model.has_frozen() && first + 1 < model.size() && frozen(first)) {
    ++first;
  }
  return first;
}

/// Of a backward visit.
void leave_out_gradients(std::span<layer_profile> below) {
  for (auto& layer : below) {
    layer.backward = layer.forward;
    layer.backward_transient = layer.input + layer.forward_transient;
    layer.saved = &layer == &below.back() ? layer.output : byte_count{};
  }
}

}  // namespace

std::size_t timed_repeats(std::size_t visits, duration warm) noexcept {
  using namespace std::chrono_literals;
  constexpr std::size_t enough = 9, some = 3;
  constexpr duration nothing = 2ms, slow = 1s, all_together = 2s;
  if (warm >= slow) {
    return 0;
  }
  const std::size_t least = warm < nothing ? some : 1;
  const auto most = warm > duration{} ? std::min(enough, static_cast<std::size_t>(all_together / warm)) : enough;
  return std::clamp(visits - std::min<std::size_t>(visits, 1), least, most);
}

duration median(std::vector<duration> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

chain_samples sample_costs(const chain& model, const profiled_step& step, const measurement_context& on) {
  const std::size_t visits = 2 * std::size_t{step.micro_batches};
  chain_samples all;
  all.first_trained = first_trained_layer(model);
  all.profile.samples = step.samples;
  all.profile.numbers = model.numbers();
  all.profile.places = model.places();
  all.profile.target_spec = batched(step.sample_target, step.samples);
  all.profile.targets = charged_bytes(all.profile.target_spec.bytes());
  std::vector<layer_profile> kinds;
  const auto places = distinct_layers(model, step.samples, visits, all.kind_of);
  for (const auto& place : places) {
    if (step.progress) {
      step.progress("measuring", place.index, kinds.size() + 1, places.size());
    }
    kinds.push_back(measure_layer(model, place, on, all.times.emplace_back()));
  }
  std::ranges::transform(all.kind_of, std::back_inserter(all.profile.layers), [&](std::size_t k) { return kinds[k]; });
  measure_loss(all, model, visits, on);
  return all;
}

chain_profile merge(std::span<const chain_samples> devices) {
  auto all = devices.front().profile;
  for (const auto& d : devices.subspan(1)) {
    take_larger_bytes(all, d.profile);
  }
  for (std::size_t i = 0; i < all.layers.size(); ++i) {
    const auto kind = devices.front().kind_of[i];
    all.layers[i].forward = median_of(devices, [&](const chain_samples& d) { return d.times[kind].forward; });
    all.layers[i].backward = median_of(devices, [&](const chain_samples& d) { return d.times[kind].backward; });
  }
  all.layers.back().backward += median_of(devices, [](const chain_samples& d) { return d.loss.backward; });
  leave_out_gradients(std::span(all.layers).first(devices.front().first_trained));
  return all;
}

bool suits(const chain_profile& profile, const chain& model, const tensor_spec& sample_target, std::int64_t samples) {
  if (profile.samples != samples || profile.numbers != model.numbers() || profile.layers.size() != model.size() ||
      profile.target_spec != batched(sample_target, samples) || profile.places != model.places()) {
    return false;
  }
  const auto inputs = model.inputs(samples), outputs = model.outputs(samples);
  for (std::size_t i = 0; i < model.size(); ++i) {
    const auto& layer = profile.layers[i];
    const parameter_layout layout(model, i, i + 1);
    if (layer.input_spec != inputs[i] || layer.output_spec != outputs[i] ||
        layer.parameters != charged_bytes(layout.device_bytes()) || layer.base != charged_bytes(layout.base_bytes())) {
      return false;
    }
  }
  return true;
}

}  // namespace hydra
