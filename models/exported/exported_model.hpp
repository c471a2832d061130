#pragma once
// An exported model as it is read from its folder.

#include "models/exported/graph.hpp"
#include "models/weights/safetensors_file.hpp"

#include <filesystem>
#include <mutex>
#include <set>
#include <string>

namespace hydra {

/// Read and checked: the graph agrees with itself, with the LibTorch of this program and with the tensors of the
/// folder. The tensors are in the mapping of the file.
class exported_model {
 public:
  /// Throws fault_error{bad_input} with the file for a folder that is none, was exported by another series of PyTorch,
  /// or is not in the format.
  explicit exported_model(const std::filesystem::path& folder);
  exported_model(const exported_model&) = delete;
  exported_model& operator=(const exported_model&) = delete;

  const std::filesystem::path& folder() const noexcept { return folder_; }
  const exported_graph& graph() const noexcept { return graph_; }
  /// SHA-256 of graph.json, which has that of the tensors.
  const std::string& digest() const noexcept { return digest_; }
  /// Whether several layers use a parameter.
  bool is_shared(const std::string& parameter) const { return shared_.contains(parameter); }
  const safetensors_file& tensors() const noexcept { return tensors_; }
  /// Reads model.safetensors as a whole, once; throws fault_error{damaged} if it is another file than the graph was
  /// written with.
  void verify() const;

 private:
  exported_model(const std::filesystem::path& folder, const std::string& text);
  void check_tensors() const;
  void check_tensor(const graph_tensor& t) const;

  std::filesystem::path folder_;
  exported_graph graph_;
  std::string digest_;
  std::set<std::string> shared_;
  safetensors_file tensors_;
  mutable std::once_flag verified_;
};

}  // namespace hydra
