#include "partition/execute/saved_graph.hpp"

#include "runtime/base/fault.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_ops.h>
#include <ATen/ops/set_ops.h>
#include <ATen/ops/zeros_like_ops.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/saved_variable_hooks.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

namespace hydra {

namespace {

/// The buffers of a visit by number, and those of the visit that reads them again.
struct buffer_table {
  std::array<at::Tensor, 3> all;

  explicit buffer_table(const read_buffers& b) : all{b.parameters.trained, b.parameters.base, b.input} {}

  std::optional<std::size_t> holder_of(const at::Tensor& t) const {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].defined() && t.has_storage() && t.storage().is_alias_of(all[i].storage())) {
        return i;
      }
    }
    return std::nullopt;
  }
};

std::int64_t first_byte(const at::Tensor& t) {
  return t.storage_offset() * static_cast<std::int64_t>(t.element_size());
}

/// A tensor inside a buffer, by its place there.
struct place_in_buffer {
  std::size_t buffer = 0;
  std::int64_t byte = 0;
  std::vector<std::int64_t> sizes, strides;
  at::TensorOptions options;

  at::Tensor in(const buffer_table& table) const {
    const auto& holder = table.all[buffer];
    const at::NoGradGuard no_grad;
    const auto offset = (first_byte(holder) + byte) / static_cast<std::int64_t>(options.dtype().itemsize());
    return at::_ops::empty_memory_format::call(c10::SymIntArrayRef{c10::SymInt(0)},
                                               c10::typeMetaToScalarType(options.dtype()), {}, holder.device(), {}, {})
        .set_(holder.storage(), offset, sizes, strides);
  }
};

/// What the graphs of one micro-batch look into when they run: null but then.
using current_buffers = std::shared_ptr<const buffer_table*>;

/// While a thread records: where what it saves goes.
struct recording {
  const buffer_table& buffers;
  current_buffers current;
};

thread_local const recording* recorded_now = nullptr;  // autograd has no argument for it

class recording_scope {
 public:
  explicit recording_scope(const recording& r) { recorded_now = &r; }
  ~recording_scope() { recorded_now = nullptr; }
  recording_scope(const recording_scope&) = delete;
  recording_scope& operator=(const recording_scope&) = delete;
};

/// One saved tensor.
class saved_value final : public torch::autograd::SavedVariableHooks {
 public:
  explicit saved_value(const recording& r) : recording_(&r), current_(r.current) {}

  void call_pack_hook(const at::Tensor& t) override {
    const bool plain = !t.is_conj() && !t.is_neg();
    if (const auto buffer = recording_->buffers.holder_of(t); buffer && plain) {
      place_ = {.buffer = *buffer,
                .byte = first_byte(t) - first_byte(recording_->buffers.all[*buffer]),
                .sizes = t.sizes().vec(),
                .strides = t.strides().vec(),
                .options = t.options()};
    } else {
      value_ = buffer ? t.clone() : t.detach();  // an output would keep its own graph
    }
    recording_ = nullptr;
  }

  at::Tensor call_unpack_hook() override { return place_ ? place_->in(**current_) : value_; }

 private:
  const recording* recording_;
  current_buffers current_;
  std::optional<place_in_buffer> place_;
  at::Tensor value_;
};

/// Is asked for the hooks of what is saved; everything else does the engine that was there before.
class recording_engine final : public torch::autograd::Engine {
 public:
  ~recording_engine() override { stop(); }

  /// Also if another library has set one since.
  static void install() {
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    if (auto& now = get_default_engine(); &now != &instance()) {
      instance().before_ = &now;
      torch::autograd::set_default_engine_stub(&recording_engine::stub);
    }
  }

  torch::autograd::variable_list execute(const torch::autograd::edge_list& roots,
                                         const torch::autograd::variable_list& inputs, bool keep_graph,
                                         bool create_graph, bool accumulate_grad,
                                         const torch::autograd::edge_list& outputs) override {
    return before_.load()->execute(roots, inputs, keep_graph, create_graph, accumulate_grad, outputs);
  }
  c10::intrusive_ptr<at::ivalue::Future> execute_with_graph_task(
      const std::shared_ptr<torch::autograd::GraphTask>& task, std::shared_ptr<torch::autograd::Node> root,
      torch::autograd::InputBuffer&& buffer) override {
    return before_.load()->execute_with_graph_task(task, std::move(root), std::move(buffer));
  }
  std::unique_ptr<torch::autograd::SavedVariableHooks> get_default_saved_variable_hooks() override {
    return recorded_now ? std::make_unique<saved_value>(*recorded_now)
                        : before_.load()->get_default_saved_variable_hooks();
  }
  std::unique_ptr<torch::autograd::AnomalyMetadata> make_anomaly_metadata() override {
    return before_.load()->make_anomaly_metadata();
  }

 private:
  static recording_engine& instance() {
    static recording_engine engine;
    return engine;
  }
  static torch::autograd::Engine& stub() { return instance(); }

  std::atomic<torch::autograd::Engine*> before_ = nullptr;
};

/// Handles of the buffers' memory.
std::size_t holders_of(const buffer_table& buffers) {
  std::size_t sum = 0;
  for (const auto& t : buffers.all) {
    sum += t.defined() ? t.storage().use_count() : 0;
  }
  return sum;
}

/// Keeps its shape and its gradient.
void take_memory(const at::Tensor& leaf) {
  const at::Tensor nothing = at::_ops::empty_memory_format::call(c10::SymIntArrayRef{c10::SymInt(0)},
                                                                 leaf.scalar_type(), {}, leaf.device(), {}, {});
  nothing.unsafeGetTensorImpl()->set_sizes_contiguous(leaf.sizes());
  leaf.set_data(nothing);
}

}  // namespace

struct saved_graph::state {
  std::vector<layer_values> leaves;
  at::Tensor input;
  torch::autograd::Edge output;
  current_buffers current = std::make_shared<const buffer_table*>(nullptr);
};

saved_graph::saved_graph() = default;
saved_graph::~saved_graph() = default;

bool saved_graph::recorded() const noexcept { return state_ != nullptr; }

at::Tensor saved_graph::record(const read_buffers& buffers, const std::vector<layer_values>& layers, bool passes_on,
                               const computation& compute) {
  recording_engine::install();
  const at::AutoGradMode with_grad(true);
  const buffer_table table(buffers);
  const auto before = holders_of(table);
  auto recorded = std::make_unique<state>();
  recorded->leaves = layers;
  for (auto& layer : recorded->leaves) {
    for (std::size_t p = 0; p < layer.parameters.size(); ++p) {
      auto& leaf = layer.parameters[p];
      leaf = leaf.defined() ? leaf.detach().requires_grad_(!layer.frozen[p]) : leaf;
    }
  }
  recorded->input = buffers.input.detach().requires_grad_(passes_on);
  const recording where{table, recorded->current};
  const recording_scope scope(where);
  at::Tensor y = compute(recorded->leaves, recorded->input);
  if (y.requires_grad()) {  // a layer may cut its gradient off
    recorded->output = torch::autograd::impl::gradient_edge(y);
  }
  y = y.detach();
  for (const auto& layer : recorded->leaves) {
    for (const auto& leaf : layer.parameters) {
      if (leaf.defined()) {
        take_memory(leaf);
      }
    }
  }
  take_memory(recorded->input);
  if (holders_of(table) <= before + (table.holder_of(y) ? 1 : 0)) {  // else a layer keeps a buffer by itself
    state_ = std::move(recorded);
  }
  return y;
}

at::Tensor saved_graph::differentiate(const bound_parameters& bound, const read_buffers& buffers,
                                      const at::Tensor& upstream) {
  if (!state_) {
    throw fault_error{fault_code::internal, "a backward visit uses a graph that was not recorded, or is used up"};
  }
  const auto graph = std::exchange(state_, nullptr);
  for (std::size_t i = 0; i < graph->leaves.size(); ++i) {
    const auto& with_gradients = bound.layers[i].parameters;
    for (std::size_t p = 0; p < with_gradients.size(); ++p) {
      auto& leaf = graph->leaves[i].parameters[p];
      if (with_gradients[p].defined()) {
        leaf.set_data(with_gradients[p].detach());  // for functions that keep it themselves
      }
      if (with_gradients[p].requires_grad()) {
        leaf.mutable_grad() = with_gradients[p].grad();
      }
    }
  }
  graph->input.set_data(buffers.input.detach());
  if (graph->output.is_valid()) {
    const buffer_table table(buffers);
    *graph->current = &table;
    torch::autograd::Engine::get_default_engine().execute({graph->output}, {upstream}, /*keep_graph=*/false,
                                                          /*create_graph=*/false, /*accumulate_grad=*/true);
  }
  if (!graph->input.requires_grad()) {
    return {};
  }
  const at::Tensor& gradient = graph->input.grad();
  return gradient.defined() ? gradient.contiguous() : at::_ops::zeros_like::call(buffers.input, {}, {}, {}, {}, {});
}

}  // namespace hydra
