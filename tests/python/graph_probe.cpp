// Runs the layers of an exported model in C++ and writes files for exported_in_cpp.py:
//
//   graph_probe FOLDER (INPUTS OUT CUTS)...
//
// INPUTS is a safetensors file with the inputs of the model by their names, and "upstream", the gradient of the output.
// CUTS are the layers before which the model is cut, "3,5", or "none". OUT is a folder that is made for
// results.safetensors: "output", "gradient.NAME" of each parameter that has one, and "statistic.NAME" of each running
// average after the step. Each shard runs forward, and again before its backward, from what crosses the cuts alone.

#include "models/exported/boundary.hpp"
#include "models/exported/check_graph.hpp"
#include "models/exported/exported_model.hpp"
#include "models/exported/layer_program.hpp"
#include "models/exported/value_scalar.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/storage/byte_sink.hpp"
#include "runtime/storage/durable_folder.hpp"
#include "runtime/storage/file_system.hpp"

#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace hydra::test {
namespace {

using tensors = std::vector<at::Tensor>;

at::Tensor loaded(const stored_tensor& t, at::ScalarType type) {
  at::Tensor made = at::empty(t.shape, at::TensorOptions{}.dtype(type));
  std::memcpy(made.mutable_data_ptr(), t.data.data(), t.data.size());
  return made;
}

at::Tensor loaded(const safetensors_file& file, const graph_tensor& t, const std::string& name) {
  return with_strides(loaded(*file.find(name), scalar_type(t.type)), t.strides);
}

/// One step of a model that is cut.
class cut_model {
 public:
  cut_model(const exported_model& model, const std::vector<layer_program>& programs,
            const std::vector<std::size_t>& cuts)
      : graph_{model.graph()}, file_{model.tensors()}, programs_{programs}, begins_{0} {
    begins_.insert(begins_.end(), cuts.begin(), cuts.end());
    begins_.push_back(graph_.layers.size());
  }

  void run(const safetensors_file& given) {
    for (const graph_part& p : graph_.inputs) {
      const at::Tensor contiguous = loaded(*given.find(p.name), scalar_type(p.type));
      samples_ = contiguous.size(0);
      inputs_.push_back(with_strides(contiguous, evaluate(p.strides, samples_)));
    }
    check_sizes(graph_, samples_);
    for (std::size_t s = 0; s + 1 < begins_.size(); ++s) {
      const at::AutoGradMode on{true};
      boundaries_.push_back(forward(s, boundary_before(s), nullptr).detach());
    }
    output = boundaries_.back();
    // it lies in memory as the output does
    at::Tensor upstream = with_strides(loaded(*given.find("upstream"), output.scalar_type()), output.strides().vec());
    for (std::size_t s = begins_.size() - 1; s-- > 0;) upstream = backward(s, upstream);
  }

  at::Tensor output;
  std::map<std::string, at::Tensor> gradients, statistics;

 private:
  graph_parts parts_before(std::size_t layer) const {
    return std::make_shared<const std::vector<graph_part>>(graph_.layers[layer].inputs);
  }

  /// Parameters of a layer as leaves.
  tensors leaves(std::size_t layer) const {
    tensors all;
    for (const graph_parameter& p : graph_.layers[layer].parameters)
      all.push_back(loaded(file_, p.is, p.tied_to.empty() ? p.is.name : p.tied_to)
                        .set_requires_grad(p.trained || p.averaging > 0));
    return all;
  }

  /// The output, or what crosses the next cut. `used`: the leaves of each layer.
  at::Tensor forward(std::size_t shard, const at::Tensor& boundary, std::vector<tensors>* used) const {
    const std::size_t first = begins_[shard], end = begins_[shard + 1];
    tensors values = shard == 0 ? inputs_ : open_boundary(parts_before(first), samples_, boundary);
    for (std::size_t i = first; i < end; ++i) {
      const tensors parameters = leaves(i);
      tensors constants;
      for (const graph_tensor& t : graph_.layers[i].constants) constants.push_back(loaded(file_, t, t.name));
      values = programs_[i].run({parameters, constants, values}, samples_, {.training = true});
      if (used) used->push_back(parameters);
    }
    return end == graph_.layers.size() ? values.front() : close_boundary(parts_before(end), samples_, values);
  }

  at::Tensor backward(std::size_t shard, const at::Tensor& upstream) {
    const at::AutoGradMode on{true};
    std::vector<tensors> used;
    const at::Tensor boundary = boundary_before(shard);
    const at::Tensor made = forward(shard, boundary, &used);
    if (made.requires_grad()) torch::autograd::backward({made}, {upstream});
    for (std::size_t i = used.size(); i-- > 0;) add(begins_[shard] + i, used[i]);
    return boundary.defined() ? boundary.grad() : at::Tensor{};
  }

  /// A leaf; also in the first forward, because kernels are chosen by what requires a gradient.
  at::Tensor boundary_before(std::size_t shard) const {
    if (shard == 0) return {};
    return boundaries_[shard - 1].clone().set_requires_grad(has_gradient(parts_before(begins_[shard])));
  }

  static bool has_gradient(const graph_parts& parts) {
    return std::ranges::any_of(*parts, [](const graph_part& p) { return p.gradient.has_value(); });
  }

  void add(std::size_t layer, const tensors& leaves) {
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      const graph_parameter& p = graph_.layers[layer].parameters[i];
      const at::Tensor gradient = leaves[i].grad();
      if (!gradient.defined()) continue;
      if (p.averaging > 0) {
        statistics[p.is.name] = leaves[i].detach().mul(1 - p.averaging).add(gradient);
        continue;
      }
      at::Tensor& sum = gradients[p.tied_to.empty() ? p.is.name : p.tied_to];
      sum = sum.defined() ? sum.add(gradient) : gradient;
    }
  }

  const exported_graph& graph_;
  const safetensors_file& file_;
  const std::vector<layer_program>& programs_;
  std::vector<std::size_t> begins_;  ///< of shards, and the end
  std::int64_t samples_ = 0;
  tensors inputs_;
  tensors boundaries_;  ///< what each shard has made
};

stored_type stored_as(at::ScalarType type) {
  return type == at::kBFloat16 ? stored_type::bf16 : type == at::kDouble ? stored_type::f64 : stored_type::f32;
}

void write(const std::string& folder, const cut_model& m) {
  std::map<std::string, at::Tensor> all{{"output", m.output.detach().contiguous()}};
  for (const auto& [name, x] : m.gradients) all["gradient." + name] = x.contiguous();
  for (const auto& [name, x] : m.statistics) all["statistic." + name] = x.contiguous();
  std::vector<named_tensor> named;
  for (const auto& [name, x] : all)
    named.push_back({name,
                     {stored_as(x.scalar_type()),
                      x.sizes().vec(),
                      {static_cast<const std::byte*>(x.const_data_ptr()), x.nbytes()}}});
  durable_folder into{posix_file_system(), folder};
  into.write("results.safetensors", [&](byte_sink& out) { write_safetensors(out, named); });
  into.commit();
}

std::vector<std::size_t> cuts_of(const std::string& text) {
  std::vector<std::size_t> cuts;
  std::istringstream in{text == "none" ? "" : text};
  for (std::string one; std::getline(in, one, ',');) cuts.push_back(std::stoul(one));
  return cuts;
}

int probe(const std::vector<std::string>& arguments) {
  at::set_num_threads(1);
  const exported_model model{arguments.at(0)};
  std::vector<layer_program> programs;
  for (const graph_layer& layer : model.graph().layers) programs.emplace_back(layer);
  for (std::size_t i = 1; i + 2 < arguments.size(); i += 3) {
    cut_model m{model, programs, cuts_of(arguments[i + 2])};
    m.run(safetensors_file{arguments[i]});
    write(arguments[i + 1], m);
  }
  return 0;
}

}  // namespace
}  // namespace hydra::test

int main(int count, char** given) try { return hydra::test::probe({given + 1, given + count}); } catch (...) {
  fmt::print(stderr, "{}\n", hydra::to_fault(std::current_exception()).text);
  return 2;
}
