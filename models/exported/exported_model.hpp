#pragma once
// An exported model as it is read from its folder.

#include "models/exported/graph.hpp"
#include "models/weights/safetensors_file.hpp"

#include <filesystem>

namespace hydra {

/// Read and checked: the graph agrees with itself, with the LibTorch of this program and with the tensors of the folder.
/// The tensors are in the mapping of the file.
class exported_model {
 public:
  /// Throws fault_error{bad_input} with the file for a folder that is none, was exported by another series of PyTorch, or
  /// is not in the format; {damaged} if model.safetensors is another file than the graph was written with.
  explicit exported_model(const std::filesystem::path& folder);

  const exported_graph& graph() const noexcept { return graph_; }
  const safetensors_file& tensors() const noexcept { return tensors_; }

 private:
  void check_tensors() const;
  void check_tensor(const graph_tensor& t) const;

  std::filesystem::path folder_;
  exported_graph graph_;
  safetensors_file tensors_;
};

}  // namespace hydra
