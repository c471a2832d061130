#pragma once
// The tensors of a Hugging Face checkpoint: model.safetensors, or model.safetensors.index.json and the parts it names.

#include "models/weights/safetensors_file.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// A tensor and the file it lies in.
struct hub_tensor {
  std::filesystem::path file;
  std::string name;  ///< as stored
  stored_tensor tensor;
};

/// The name without the prefix of a base model ("transformer.", "model.", "bert.", "vit.", "resnet."), which some
/// checkpoints have and some have not, and with the names that norms have had since 2019 (weight, bias; before: gamma,
/// beta).
std::string canonical_name(std::string_view stored);

/// Opened once; all headers are checked then, and no data are read. Thread-safe.
class hub_tensors {
 public:
  /// Throws fault_error{bad_input} with the file: none of the two files, a part that is missing or does not suit the
  /// index, a file that is no safetensors file, two tensors of one canonical name.
  explicit hub_tensors(std::filesystem::path folder);

  /// By any name with the same canonical one.
  const hub_tensor* find(std::string_view name) const;
  /// By canonical name.
  const std::map<std::string, hub_tensor, std::less<>>& all() const noexcept { return tensors_; }
  const std::filesystem::path& folder() const noexcept { return folder_; }

  /// SHA-256 of names, types, shapes and 64 places of every tensor (all of one of up to 4 KiB), however the checkpoint is
  /// cut into files: cheap, and training changes those bytes.
  std::string identity() const;

  /// Where SHA256SUMS lies beside them, as in what Hydra exports: compares it with the files that it lists, once. Reads them whole.
  /// Throws fault_error{bad_input} with the file that is another.
  void verify() const;

 private:
  void read_index(const std::filesystem::path& index);
  const safetensors_file& open(const std::filesystem::path& file);
  void add(const std::filesystem::path& file, const std::string& name, const stored_tensor& tensor);

  std::filesystem::path folder_;
  std::map<std::filesystem::path, std::unique_ptr<safetensors_file>> files_;
  std::map<std::string, hub_tensor, std::less<>> tensors_;
  mutable std::once_flag verified_;
};

}  // namespace hydra
