#include "partition/inference/decoder.hpp"

#include "models/decode_memory.hpp"
#include "models/parameter_layout.hpp"
#include "partition/inference/operation_wait.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/device/device_block.hpp"
#include "runtime/memory/block_copy.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <utility>

namespace hydra {

namespace {

/// What a layer remembers, on the host.
struct parked_tensor {
  host_block_ptr home;
  std::vector<std::int64_t> shape;
};

/// A layer with its parameters on the host if they are streamed, and its blocks on the device. Shared with operations
/// that are under way.
struct placed_layer {
  placed_layer(const std::shared_ptr<const chain>& chain_of, std::size_t i)
      : model(chain_of), index(i), layout(*model, i, i + 1) {}

  std::shared_ptr<const chain> model;
  std::size_t index;
  parameter_layout layout;
  host_block_ptr home{};
  decode_memory memory{};
  std::vector<parked_tensor> parked{};

  bool last() const { return index + 1 == model->size(); }
};

using placed_layer_ptr = std::shared_ptr<placed_layer>;

/// The last layer of a language model handles each token independently: only the newest one's logits are needed.
void decode(placed_layer& place, const device_block_ptr& parameters, const device_block_ptr& x, std::int64_t seen) {
  const at::NoGradGuard no_grad;
  const auto views = place.layout.views(parameters->tensor.view(at::kFloat), place.index);
  place.memory.seen = seen;
  if (place.last()) {
    x->tensor = x->tensor.narrow(1, x->tensor.size(1) - 1, 1).contiguous();
  }
  x->tensor =
      place.model->at(place.index).body->decode(views, x->tensor, {.training = false}, place.memory).contiguous();
}

void park(placed_layer& place, host_arena& arena) {
  auto& tensors = place.memory.tensors;
  place.parked.resize(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    auto& to = place.parked[i];
    const byte_count n{tensors[i].nbytes()};
    if (!to.home || to.home->size() < n) {
      to.home.reset();
      to.home = arena.allocate(n, "what a layer remembers of a text", host_use::transferred);
    }
    to.shape = tensors[i].sizes().vec();
    copy_out(std::make_shared<device_block>(device_block{std::exchange(tensors[i], {})}), to.home)();
  }
  tensors.clear();
}

void fetch(placed_layer& place, const std::string& torch_device) {
  for (const auto& from : place.parked) {
    const auto block = std::make_shared<device_block>();
    const tensor_spec spec{from.shape, element::f32};
    copy_in(from.home, spec.bytes(), block, torch_device)();
    place.memory.tensors.push_back(block->tensor.view(at::kFloat).view(from.shape));
  }
}

}  // namespace

/// Streaming: a layer that is promoted for one token waits for the operation that frees the buffer of the layer
/// `buffers` places before it.
class decoder::state {
 public:
  state(std::shared_ptr<const chain> model, const decoder_options& options, device& on,
        std::shared_ptr<host_arena> home);

  std::vector<float> next(std::span<const std::int64_t> ids);
  void restart();
  const decode_plan& plan() const noexcept { return plan_; }

 private:
  struct promoted {
    device_block_ptr block;
    ticket arrival;
  };
  std::vector<decode_cost> measured_costs(const decode_lengths& lengths);
  void load(const decoder_options& options);
  void check(std::span<const std::int64_t> ids) const;
  ticket send_ids(std::span<const std::int64_t> ids, const device_block_ptr& to);
  promoted settle(std::size_t layer);
  promoted promote(std::size_t layer, ticket after);
  void promote_ahead();
  promoted take(std::size_t layer);
  ticket fetch_memory(std::size_t layer);
  ticket compute(std::size_t layer, const promoted& parameters, const device_block_ptr& x, ticket after);
  void park_memory(std::size_t layer, ticket after);
  std::vector<float> receive(const device_block_ptr& x, ticket after);
  ticket submit(queue_kind queue, operation op, std::span<const ticket> after);

  std::shared_ptr<const chain> model_;
  device& device_;
  std::shared_ptr<host_arena> arena_;
  std::int64_t longest_;
  std::int64_t vocabulary_ = 0;
  std::shared_ptr<operation_wait> wait_;
  std::vector<decode_cost> costs_;
  decode_plan plan_;
  std::vector<placed_layer_ptr> layers_;
  std::vector<promoted> resident_;     ///< per layer; empty for streamed ones
  std::vector<std::size_t> streamed_;  ///< in the order of the chain
  std::size_t next_streamed_ = 0;      ///< index in streamed_ of the next to be promoted
  std::deque<promoted> ahead_;         ///< promoted, not used yet
  std::deque<ticket> places_;          ///< operations that free the buffers of streamed parameters
  std::deque<ticket> memory_places_;   ///< the same for streamed memories
  std::int64_t seen_ = 0;
};

decoder::state::state(std::shared_ptr<const chain> model, const decoder_options& options, device& on,
                      std::shared_ptr<host_arena> home)
    : model_(std::move(model)),
      device_(on),
      arena_(std::move(home)),
      longest_(options.lengths.longest),
      wait_(std::make_shared<operation_wait>(on.info().name, options.stall_limit)),
      costs_(measured_costs(options.lengths)),
      plan_(plan_decoding(costs_, on.info().memory - on.info().reserve)),
      places_(plan_.buffers),
      memory_places_(plan_.buffers) {
  vocabulary_ = model_->parameters(0).front().shape.front();
  load(options);
}

ticket decoder::state::submit(queue_kind queue, operation op, std::span<const ticket> after) {
  const ticket t = device_.submit(queue, std::move(op), after);
  wait_->begin(t);
  return t;
}

/// On the compute queue: the memory of a layer depends on the device.
std::vector<decode_cost> decoder::state::measured_costs(const decode_lengths& lengths) {
  device_.on_completion([w = wait_](const completion& c) { w->complete(c); });
  const auto costs = std::make_shared<std::vector<decode_cost>>();
  auto work = [costs, model = model_, lengths, on = &device_] {
    const auto meter = on->measure();
    *costs = decode_costs(*model, lengths, {*meter, on->info().torch_device});
  };
  wait_->for_end_of(
      submit(queue_kind::compute, {.work = std::move(work), .bytes = {}, .estimate = {}, .label = {"pilot", {}}}, {}));
  return *costs;
}

void decoder::state::load(const decoder_options& options) {
  for (std::size_t i = 0; i < model_->size(); ++i) {
    auto& place = *layers_.emplace_back(std::make_shared<placed_layer>(model_, i));
    place.home =
        arena_->allocate(place.layout.bytes(), fmt::format("parameters of layer {}", i), host_use::transferred);
    place.layout.initialise(place.home->floats(), *model_, options.seed);
    resident_.push_back(plan_.resident[i] ? settle(i) : promoted{});
    if (!plan_.resident[i]) {
      streamed_.push_back(i);
    }
  }
  promote_ahead();
}

/// Waits, so that host buffers of parameters that stay on the device do not accumulate.
decoder::state::promoted decoder::state::settle(std::size_t layer) {
  auto there = promote(layer, {});
  wait_->for_end_of(there.arrival);
  layers_[layer]->home.reset();
  return there;
}

decoder::state::promoted decoder::state::promote(std::size_t layer, ticket after) {
  const auto& place = *layers_[layer];
  const auto block = std::make_shared<device_block>();
  const auto n = place.layout.bytes();
  const auto arrival = submit(queue_kind::h2d,
                              {.work = copy_in(place.home, n, block, device_.info().torch_device),
                               .bytes = n,
                               .estimate = {},
                               .label = {"h2d parameters", fmt::format("layer {}", layer)}},
                              {&after, 1});
  return {block, arrival};
}

void decoder::state::promote_ahead() {
  while (!streamed_.empty() && ahead_.size() < plan_.buffers && !places_.empty()) {
    ahead_.push_back(promote(streamed_[next_streamed_], places_.front()));
    places_.pop_front();
    next_streamed_ = (next_streamed_ + 1) % streamed_.size();
  }
}

decoder::state::promoted decoder::state::take(std::size_t layer) {
  if (plan_.resident[layer]) {
    return resident_[layer];
  }
  auto front = std::move(ahead_.front());
  ahead_.pop_front();
  return front;
}

void decoder::state::check(std::span<const std::int64_t> ids) const {
  if (ids.empty()) {
    throw fault_error(fault_code::bad_input, "there is no token to continue from");
  }
  if (seen_ + static_cast<std::int64_t>(ids.size()) > longest_) {
    throw fault_error(
        fault_code::bad_input,
        fmt::format("a text of {} tokens was planned; {} more do not fit behind {}", longest_, ids.size(), seen_));
  }
  const auto beyond = std::ranges::find_if(ids, [&](std::int64_t id) { return id < 0 || id >= vocabulary_; });
  if (beyond != ids.end()) {
    throw fault_error(fault_code::bad_input,
                      fmt::format("token id {} is not in the model's vocabulary of {}", *beyond, vocabulary_));
  }
}

ticket decoder::state::send_ids(std::span<const std::int64_t> ids, const device_block_ptr& to) {
  const byte_count n{ids.size_bytes()};
  const auto home = arena_->allocate(n, "token ids", host_use::transferred);
  std::memcpy(home->data(), ids.data(), ids.size_bytes());
  auto work = [copy = copy_in(home, n, to, device_.info().torch_device), to] {
    copy();
    to->tensor = to->tensor.view(at::kLong).unsqueeze(0);
  };
  return submit(queue_kind::h2d, {.work = std::move(work), .bytes = n, .estimate = {}, .label = {"h2d ids", {}}}, {});
}

ticket decoder::state::fetch_memory(std::size_t layer) {
  if (plan_.memory_resident || costs_[layer].memory == byte_count{}) {
    return {};
  }
  const ticket free = memory_places_.front();
  memory_places_.pop_front();
  if (seen_ == 0) {
    return free;
  }
  return submit(queue_kind::h2d,
                {.work = [place = layers_[layer], where = device_.info().torch_device] { fetch(*place, where); },
                 .bytes = costs_[layer].memory,
                 .estimate = {},
                 .label = {"h2d memory", fmt::format("layer {}", layer)}},
                {&free, 1});
}

ticket decoder::state::compute(std::size_t layer, const promoted& parameters, const device_block_ptr& x, ticket after) {
  const std::array all{parameters.arrival, fetch_memory(layer), after};
  auto work = [place = layers_[layer], block = parameters.block, x, seen = seen_, frees = !plan_.resident[layer]] {
    decode(*place, block, x, seen);
    if (frees) {
      block->tensor.reset();
    }
  };
  return submit(
      queue_kind::compute,
      {.work = std::move(work), .bytes = {}, .estimate = {}, .label = {"decode", fmt::format("layer {}", layer)}}, all);
}

void decoder::state::park_memory(std::size_t layer, ticket after) {
  if (plan_.memory_resident || costs_[layer].memory == byte_count{}) {
    return;
  }
  memory_places_.push_back(submit(queue_kind::d2h,
                                  {.work = [place = layers_[layer], arena = arena_] { park(*place, *arena); },
                                   .bytes = costs_[layer].memory,
                                   .estimate = {},
                                   .label = {"d2h memory", fmt::format("layer {}", layer)}},
                                  {&after, 1}));
}

std::vector<float> decoder::state::receive(const device_block_ptr& x, ticket after) {
  const byte_count n{static_cast<std::uint64_t>(vocabulary_) * sizeof(float)};
  const auto logits = arena_->allocate(n, "logits", host_use::transferred);
  wait_->for_end_of(submit(queue_kind::d2h,
                           {.work = copy_out(x, logits), .bytes = n, .estimate = {}, .label = {"d2h logits", {}}},
                           {&after, 1}));
  const auto values = logits->floats();
  return {values.begin(), values.end()};
}

std::vector<float> decoder::state::next(std::span<const std::int64_t> ids) {
  check(ids);
  const auto x = std::make_shared<device_block>();
  ticket done = send_ids(ids, x);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const auto parameters = take(i);
    done = compute(i, parameters, x, done);
    park_memory(i, done);
    if (!plan_.resident[i]) {
      places_.push_back(done);
      promote_ahead();
    }
  }
  seen_ += static_cast<std::int64_t>(ids.size());
  return receive(x, done);
}

void decoder::state::restart() {
  for (const ticket parking : memory_places_) {
    wait_->for_end_of(parking);
  }
  seen_ = 0;
  for (const auto& place : layers_) {
    place->memory = {};
    place->parked.clear();
  }
}

decoder::decoder(std::shared_ptr<const chain> model, const decoder_options& options, device& on,
                 std::shared_ptr<host_arena> home)
    : state_(std::make_unique<state>(std::move(model), options, on, std::move(home))) {}

decoder::~decoder() = default;

std::vector<float> decoder::next(std::span<const std::int64_t> ids) { return state_->next(ids); }

void decoder::restart() { state_->restart(); }

const decode_plan& decoder::plan() const noexcept { return state_->plan(); }

}  // namespace hydra
