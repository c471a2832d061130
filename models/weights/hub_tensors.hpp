#pragma once
// The tensors of a Hugging Face checkpoint: model.safetensors, or model.safetensors.index.json and the parts it names.
// Those of an adapter of PEFT: adapter_model.safetensors.

#include "models/weights/four_bit_values.hpp"
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

/// A tensor and its file.
struct hub_tensor {
  std::filesystem::path file;
  std::string name;  ///< as stored
  stored_tensor tensor;                        ///< in 4 bits: their codes, as U8 in the shape of the values
  std::optional<four_bit_values> four_bits{};  ///< empty: it is not in 4 bits
};

/// Throws fault_error{bad_input} with the text "FILE: tensor NAME: WHY".
[[noreturn]] void refuse_tensor(const hub_tensor& t, std::string_view why);

/// The name without "base_model.model.", which adapters have; the adapter's own name "default", which those have that
/// were saved as a state_dict(); "base_layer", which the parameters have to which an adapter adds; "modules_to_save";
/// and the prefix of a base model ("transformer.", "model.", "bert.", "vit.", "resnet."), which only some checkpoints
/// have. With the names that norms have had since 2019 (weight, bias; before: gamma, beta).
std::string canonical_name(std::string_view stored);

/// Canonical names: transformers computes with the first one, and ties it to the second.
inline constexpr const char* decoder_bias = "cls.predictions.decoder.bias";
inline constexpr const char* prediction_bias = "cls.predictions.bias";

/// Opened once; all headers are checked then, and no data are read but descriptions of weights in 4 bits. Thread-safe.
class hub_tensors {
 public:
  /// `stem`: of the files' names, instead of "model". What torch.compile, DistributedDataParallel and Lightning put in
  /// front of all names ("_orig_mod.", "module.", "model.") is left out. A weight that bitsandbytes quantised to 4 bits
  /// is one tensor. Throws fault_error{bad_input} with the file: neither of the two files exists, parts are missing or
  /// contradict the index, a file is not a safetensors file, two tensors have the same canonical name, or what
  /// join_four_bits() refuses.
  explicit hub_tensors(std::filesystem::path folder, std::string_view stem = "model");

  /// By any name with the same canonical name.
  const hub_tensor* find(std::string_view name) const;
  /// By canonical name.
  const std::map<std::string, hub_tensor, std::less<>>& all() const noexcept { return tensors_; }
  const std::filesystem::path& folder() const noexcept { return folder_; }
  std::string absolute_folder() const { return std::filesystem::absolute(folder_).lexically_normal().string(); }
  /// "FOLDER/model.safetensors", or a folder and its parts.
  std::string files() const;
  /// An entry of the metadata of the first file; empty if it has none.
  std::string metadata(const std::string& key) const;

  /// SHA-256 of names, types, shapes and 64 samples of every tensor (all of a tensor of up to 4 KiB), independent of
  /// how the checkpoint is divided into files: cheap, and training changes those bytes.
  std::string identity() const;

  /// verify_checkpoint(), once.
  void verify() const;

 private:
  std::vector<hub_tensor> tensors_in(const std::filesystem::path& file);
  std::vector<hub_tensor> tensors_of_index(const std::filesystem::path& index);
  const safetensors_file& open(const std::filesystem::path& file);
  void add(const std::string& name, const hub_tensor& t);

  std::filesystem::path folder_;
  std::map<std::filesystem::path, std::unique_ptr<safetensors_file>> files_;
  std::map<std::string, hub_tensor, std::less<>> tensors_;
  mutable std::once_flag verified_;
};

}  // namespace hydra
