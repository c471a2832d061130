#include "models/exported/exported_model.hpp"

#include "models/exported/check_graph.hpp"
#include "models/exported/read_graph.hpp"
#include "models/exported/stored_types.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/text_file.hpp"
#include "runtime/storage/sha256.hpp"

#include <fmt/format.h>
#include <torch/headeronly/version.h>

#include <algorithm>
#include <span>
#include <string>

namespace hydra {

namespace {

namespace fs = std::filesystem;

constexpr const char* graph_file = "graph.json";
constexpr const char* weights_file = "model.safetensors";

/// "2.11".
std::string series_of(const std::string& version) {
  return version.substr(0, version.find('.', version.find('.') + 1));
}

exported_graph read(const fs::path& file, const std::string& text) try {
  exported_graph g = read_graph(text);
  check_graph(g);
  const std::string here = fmt::format("{}.{}", TORCH_VERSION_MAJOR, TORCH_VERSION_MINOR);
  if (series_of(g.torch) != here)
    refuse(
        fmt::format("it was exported by PyTorch {}, and this Hydra runs LibTorch {}, whose operations may be others: "
                    "export it again with PyTorch {}",
                    shown(g.torch), here, here));
  return g;
} catch (const fault_error& e) {
  const fault& why = e.what_happened();
  if (why.text.starts_with(file.string())) throw;
  throw fault_error{why.code, file.string() + ": " + why.text};
}

std::string digest_of(std::span<const std::byte> bytes) {
  sha256 sum;
  sum.add(bytes);
  return sum.finish();
}

/// Names of parameters that several layers use.
std::set<std::string> shared_parameters(const exported_graph& g) {
  std::set<std::string> names;
  for (const graph_layer& layer : g.layers)
    for (const graph_parameter& p : layer.parameters)
      if (!p.tied_to.empty()) names.insert({p.tied_to, p.is.name});
  return names;
}

}  // namespace

exported_model::exported_model(const fs::path& folder)
    : exported_model{folder, read_text(folder / graph_file, text_kind::graph)} {}

exported_model::exported_model(const fs::path& folder, const std::string& text)
    : folder_{folder},
      graph_{read(folder / graph_file, text)},
      digest_{digest_of(std::as_bytes(std::span{text}))},
      shared_{shared_parameters(graph_)},
      tensors_{folder / weights_file} {
  check_tensors();
}

void exported_model::verify() const {
  std::call_once(verified_, [this] {
    const fs::path file = folder_ / weights_file;
    if (const std::string is = digest_of(tensors_.mapping().bytes()); is != graph_.weights)
      refuse(file, fmt::format("is not the file that {} was written with: its SHA-256 is {}, and \"weights\" there {}; "
                               "export the module again, or bring its file back",
                               graph_file, is, graph_.weights));
  });
}

void exported_model::check_tensors() const {
  for (const graph_layer& layer : graph_.layers) {
    for (const graph_parameter& p : layer.parameters)
      if (p.tied_to.empty()) check_tensor(p.is);
    for (const graph_tensor& t : layer.constants) check_tensor(t);
  }
  for (const auto& [name, all] : graph_.names)
    if (!tensors_.find(name)) refuse(folder_ / weights_file, fmt::format("there is no tensor \"{}\"", shown(name)));
}

void exported_model::check_tensor(const graph_tensor& t) const {
  const auto stored = tensors_.find(t.name);
  if (!stored) refuse(folder_ / weights_file, fmt::format("there is no tensor \"{}\"", shown(t.name)));
  if (stored->shape != t.shape || stored->type != stored_as(t.type))
    refuse(folder_ / weights_file,
           fmt::format("the tensor \"{}\" has another shape or type than {} says", shown(t.name), graph_file));
}

}  // namespace hydra
