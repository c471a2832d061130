#pragma once
// Reading a safetensors file: the tensors are in the file's mapping, and are paged in when they are read.

#include "models/weights/safetensors.hpp"
#include "runtime/storage/mapped_file.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// All checks are done before the constructor returns; they read no data. May be read by many threads.
class safetensors_file {
 public:
  /// Throws fault_error{bad_input} with the path, and the tensor if one is wrong, for a file that is missing or not in
  /// the format (see parse_safetensors_header()); {io} if it cannot be read.
  explicit safetensors_file(const std::filesystem::path& path);

  /// In the order of the data in the file; empty tensors at the same offset by name.
  const std::vector<std::string>& names() const noexcept { return names_; }
  /// Null if there is no such tensor. The data are valid as long as this object. In files of write_safetensors() they
  /// start at a multiple of the element's width; in others they may not.
  std::optional<stored_tensor> find(std::string_view name) const;
  /// An entry of "__metadata__"; empty if there is none of that key.
  std::string metadata(const std::string& key) const;
  const mapped_file& mapping() const noexcept { return file_; }

 private:
  void read_header();

  mapped_file file_;
  std::map<std::string, std::string> metadata_;
  std::vector<std::string> names_;
  std::map<std::string, stored_tensor, std::less<>> tensors_;
};

}  // namespace hydra
