// Runs Hydra's layers and its reference trainer on a Hugging Face checkpoint and writes a file for compare_models.py:
//
//   family_probe FOLDER INPUTS OUT [--head NAME] [--steps N] [--batch-size B] [--micro-batches K] [--learning-rate X]
//                [--clip X] [--adapter FOLDER] [--pieces T] [--export FOLDER]
//
// INPUTS is a safetensors file of all samples: "input" and "target", whose first dimension counts them. OUT is a folder
// that is made for results.safetensors: "begin.NAME", the first values by the names of the checkpoint; "logits" of the
// first batch in evaluation; "gradient.NAME" of its loss in training; "losses" of N AdamW steps on one batch after
// another, and "parameter.NAME" after them, which --export writes as a checkpoint, or as an adapter if the chain has
// one, too. Prints the chain's notes. With --pieces its layers are divided, and the results those of the whole layers;
// instead of the logits, which there are none of, "hidden" has what the head gets, and "loss" that of the first batch.

#include "models/families/hub_folder.hpp"
#include "models/joined_weights.hpp"
#include "models/parameter_layout.hpp"
#include "models/targets_beside_inputs.hpp"
#include "models/weights/adapter_folder.hpp"
#include "models/weights/hub_export.hpp"
#include "models/weights/joined_values.hpp"
#include "models/weights/safetensors_file.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/storage/durable_folder.hpp"
#include "tests/support/reference_trainer.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_ops.h>
#include <c10/core/GradMode.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>

namespace hydra::test {
namespace {

constexpr std::int64_t masked = -100;

struct probe_options {
  std::string folder, inputs, out, head, adapter, exported;
  std::size_t batch_size = 4, micro_batches = 1;
  std::uint32_t steps = 0, pieces = 1;
  double learning_rate = 1e-3, clip = 0;
};

/// The samples of a file; all are training data.
class stored_samples final : public data_source {
 public:
  explicit stored_samples(const std::string& path)
      : file_{path}, input_{*file_.find("input")}, target_{*file_.find("target")} {
    const auto ids = classes_of(target_);
    classes_ = ids.empty() ? 1 : *std::ranges::max_element(ids) + 1;
  }

  std::size_t samples(split part) const override {
    return part == split::train ? static_cast<std::size_t>(input_.shape.front()) : 0;
  }
  tensor_spec sample_input() const override { return sample_of(input_); }
  tensor_spec sample_target() const override { return sample_of(target_); }
  std::int64_t classes() const override { return classes_; }
  std::string describe() const override { return "stored samples"; }

  std::size_t read(split, std::size_t index, std::span<std::byte> input, std::span<std::byte> target) const override {
    std::ranges::copy(input_.data.subspan(index * input.size(), input.size()), input.begin());
    std::ranges::copy(target_.data.subspan(index * target.size(), target.size()), target.begin());
    const auto ids =
        std::span{reinterpret_cast<const std::int64_t*>(target.data()), target.size() / sizeof(std::int64_t)};
    return ids.size() - static_cast<std::size_t>(std::ranges::count(ids, masked));
  }

 private:
  static tensor_spec sample_of(const stored_tensor& t) {
    return {{t.shape.begin() + 1, t.shape.end()}, t.type == stored_type::f32 ? element::f32 : element::i64};
  }
  static std::span<const std::int64_t> classes_of(const stored_tensor& t) {
    return {reinterpret_cast<const std::int64_t*>(t.data.data()), t.data.size() / sizeof(std::int64_t)};
  }

  safetensors_file file_;
  stored_tensor input_, target_;
  std::int64_t classes_ = 1;
};

at::Tensor empty(const tensor_spec& spec) {
  const auto type = spec.type == element::f32 ? at::kFloat : at::kLong;
  return at::_ops::empty_memory_format::call(c10::fromIntArrayRefSlow(spec.shape), type, {}, {}, {}, {});
}

std::span<std::byte> bytes(const at::Tensor& t) { return {static_cast<std::byte*>(t.mutable_data_ptr()), t.nbytes()}; }

struct first_batch {
  at::Tensor input, target;
  std::size_t targets = 0;
};

first_batch read_first(const data_source& data, std::size_t n) {
  const auto samples = static_cast<std::int64_t>(n);
  first_batch b{empty(batched(data.sample_input(), samples)), empty(batched(data.sample_target(), samples)), 0};
  const std::size_t input = bytes(b.input).size() / n, target = bytes(b.target).size() / n;
  for (std::size_t i = 0; i < n; ++i)
    b.targets += data.read(split::train, i, bytes(b.input).subspan(i * input, input),
                           bytes(b.target).subspan(i * target, target));
  return b;
}

/// A chain with its first values, one leaf for each parameter.
class evaluated_chain {
 public:
  explicit evaluated_chain(const chain& model) : model_{model}, layout_{model, 0, model.size()} {
    std::vector<float> values(layout_.elements());
    layout_.initialise(values, model, 0);
    for (const placed_parameter& p : layout_.parameters()) {
      leaves_.push_back(empty({p.shape, element::f32}));
      std::memcpy(leaves_.back().mutable_data_ptr(), values.data() + p.offset, p.elements * sizeof(float));
      leaves_.back().set_requires_grad(true);
    }
  }

  at::Tensor forward(at::Tensor x, bool training, std::uint32_t past = std::numeric_limits<std::uint32_t>::max()) const {
    for (std::uint32_t i = 0; i < model_.size() && model_.at(i).number < past; ++i)
      x = model_.at(i).body->forward(of_layer(i), x, {.layer = model_.at(i).number, .training = training});
    return x;
  }

  /// Values of the owners, by name.
  std::map<std::string, at::Tensor> values() const {
    std::map<std::string, at::Tensor> all;
    for (std::size_t i = 0; i < leaves_.size(); ++i)
      if (layout_.parameters()[i].tied_to.empty()) all[layout_.parameters()[i].name] = leaves_[i];
    return all;
  }

  /// Gradients of the owners; those of tied copies are added to theirs.
  std::map<std::string, at::Tensor> gradients() const {
    std::map<std::string, at::Tensor> sums;
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      const placed_parameter& p = layout_.parameters()[i];
      if (p.averaging > 0) continue;
      at::Tensor& sum = sums[p.tied_to.empty() ? p.name : p.tied_to];
      sum = sum.defined() ? sum.add(leaves_[i].grad()) : leaves_[i].grad();
    }
    return sums;
  }

 private:
  std::vector<at::Tensor> of_layer(std::size_t layer) const {
    std::vector<at::Tensor> result;
    for (std::size_t i = 0; i < leaves_.size(); ++i)
      if (layout_.parameters()[i].layer == layer) result.push_back(leaves_[i]);
    return result;
  }

  const chain& model_;
  parameter_layout layout_;
  std::vector<at::Tensor> leaves_;
};

/// Tensors with their bytes, to be written.
class results {
 public:
  explicit results(const chain& model) : model_{model}, slices_{slices_in(model.parameters())} {}

  void add(const std::string& name, const at::Tensor& t) {
    const at::Tensor kept = t.contiguous();
    add(name, {kept.sizes().begin(), kept.sizes().end()}, bytes(kept));
  }
  void add(const std::string& name, const std::vector<float>& values) {
    add(name, {static_cast<std::int64_t>(values.size())}, std::as_bytes(std::span{values}));
  }
  /// "KIND.NAME" of the whole parameters, by the names of checkpoints; `values`: by the chain's names.
  void add_whole(const std::string& kind, std::map<std::string, std::vector<float>> values) {
    for (const auto& [name, slices] : slices_) {
      if (!slices.front().tied_to.empty() && !values.contains(slices.front().name)) continue;
      const auto& whole_shape = slices.front().slice->whole;
      std::vector<float> whole(static_cast<std::size_t>(parameter_spec{name, whole_shape, {}, {}}.elements()));
      join_slices(slices, whole, [&](const parameter_spec& p, std::span<float> to) {
        std::ranges::copy(values.extract(p.name).mapped(), to.begin());
        return true;
      });
      add(kind + model_.stored_name(name), whole_shape, std::as_bytes(std::span<const float>{whole}));
    }
    for (const parameter_spec& p : model_.parameters())
      if (const auto found = values.find(p.name); found != values.end() && p.name == whole_name(p.name))
        add(kind + model_.stored_name(p.name), p.shape, std::as_bytes(std::span<const float>{found->second}));
  }
  void write(const std::filesystem::path& folder) const {
    std::vector<named_tensor> all;
    for (const auto& [name, t] : tensors_) all.push_back({name, {stored_type::f32, t.shape, t.bytes}});
    durable_folder into{posix_file_system(), folder};
    into.write("results.safetensors", [&](byte_sink& out) { write_safetensors(out, all); });
    into.commit();
  }

 private:
  struct kept_tensor {
    std::vector<std::int64_t> shape;
    std::vector<std::byte> bytes;
  };
  void add(const std::string& name, std::vector<std::int64_t> shape, std::span<const std::byte> data) {
    tensors_[name] = {std::move(shape), {data.begin(), data.end()}};
  }
  const chain& model_;
  std::map<std::string, std::vector<parameter_spec>> slices_;
  std::map<std::string, kept_tensor> tensors_;
};

std::map<std::string, std::vector<float>> floats_in(const std::map<std::string, at::Tensor>& tensors) {
  std::map<std::string, std::vector<float>> all;
  for (const auto& [name, t] : tensors) {
    const at::Tensor kept = t.contiguous();
    all[name].assign(kept.const_data_ptr<float>(), kept.const_data_ptr<float>() + kept.numel());
  }
  return all;
}

void add_first_batch(const chain& model, const first_batch& batch, results& to) {
  const evaluated_chain evaluated{model};
  {
    const c10::NoGradGuard no_grad;
    to.add_whole("begin.", floats_in(evaluated.values()));
    std::size_t head = model.size() - 1;  // its first layer
    while (model.at(head - 1).number == model.at(head).number) --head;
    if (model.pieces() == 1)
      to.add("logits", evaluated.forward(batch.input, false));
    else
      to.add("hidden", evaluated.forward(batch.input, false, model.at(head).number)
                           .narrow(2, 0, model.parameters(head).front().shape.front()));
  }
  const at::Tensor output = evaluated.forward(batch.input, true);
  const at::Tensor loss = model.objective().sum(output, batch.target).div(static_cast<double>(batch.targets));
  loss.backward();
  if (model.pieces() > 1) to.add("loss", loss.detach().reshape({1}));
  to.add_whole("gradient.", floats_in(evaluated.gradients()));
}

void export_to(const probe_options& o, const chain& model, const reference_result& trained) {
  durable_folder into{posix_file_system(), o.exported};
  auto all = trained.parameters;
  const stored_values values = [&](const parameter_spec& p) {
    if (p.frozen) model.weights()->read(p, all[p.name] = std::vector<float>(static_cast<std::size_t>(p.elements())));
    return stored_tensor{stored_type::f32, p.shape, std::as_bytes(std::span<const float>{all.at(p.name)})};
  };
  if (adapter_of(model))
    write_adapter_files(into, model, values, o.folder);
  else
    write_hub_files(into, chain{model}.join(), joined_values(model, values));
  into.commit();
}

void add_training(const chain& model, const std::shared_ptr<const data_source>& data, const probe_options& o,
                  results& to) {
  const reference_result trained = train_reference(
      {.model = model,
       .data = data,
       .shuffle = false,
       .batch_size = o.batch_size,
       .micro_batches = o.micro_batches,
       .steps = o.steps,
       .update = adamw({.learning_rate = o.learning_rate, .clip_norm = o.clip})});
  to.add("losses", trained.losses);
  to.add_whole("parameter.", trained.parameters);
  if (!o.exported.empty()) export_to(o, model, trained);
}

void probe(const probe_options& o) {
  std::shared_ptr<const data_source> data = std::make_shared<const stored_samples>(o.inputs);
  const chain base = from_checkpoint(o.folder, {.dropout = -1, .head = o.head}).build(*data);
  chain model = o.adapter.empty() ? base : adapter_folder{o.adapter}.adapt(base);
  if (o.pieces > 1) model.divide(o.pieces);
  if (const auto tokens = model.tokens_of_targets(); tokens > 0) data = targets_beside_inputs(data, tokens);
  for (const std::string& note : model.notes()) fmt::print("{}\n", note);
  results r{model};
  add_first_batch(chain{model}.unfreeze(), read_first(*data, o.batch_size), r);
  if (o.steps > 0) add_training(model, data, o, r);
  r.write(o.out);
}

int run(int argc, char** argv) {
  CLI::App app{"Logits, gradients and losses of a checkpoint in Hydra's layers"};
  probe_options o;
  app.add_option("folder", o.folder)->required();
  app.add_option("inputs", o.inputs)->required();
  app.add_option("out", o.out, "a folder that is made")->required();
  app.add_option("--head", o.head);
  app.add_option("--steps", o.steps);
  app.add_option("--batch-size", o.batch_size);
  app.add_option("--micro-batches", o.micro_batches);
  app.add_option("--learning-rate", o.learning_rate);
  app.add_option("--clip", o.clip);
  app.add_option("--adapter", o.adapter);
  app.add_option("--pieces", o.pieces);
  app.add_option("--export", o.exported);
  CLI11_PARSE(app, argc, argv);
  probe(o);
  return 0;
}

}  // namespace
}  // namespace hydra::test

int main(int argc, char** argv) {
  try {
    return hydra::test::run(argc, argv);
  } catch (...) {
    fmt::print(stderr, "{}\n", hydra::to_fault(std::current_exception()).text);
    return 2;
  }
}
