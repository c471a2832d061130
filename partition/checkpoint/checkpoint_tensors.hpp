#pragma once
// The tensors of a checkpoint's shard files by name, whatever the cuts were.

#include "models/weights/safetensors_file.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hydra {

/// May be read by many threads.
class checkpoint_tensors {
 public:
  /// Maps the files of `shards` shards. Throws as safetensors_file does.
  checkpoint_tensors(std::filesystem::path folder, std::size_t shards);

  bool has(const std::string& name) const { return places_.contains(name); }
  /// Its memory, valid as long as this object lives. Throws fault_error{damaged} if there is no such tensor.
  stored_tensor find(const std::string& name) const;
  /// Leaves none of the file's pages in memory. Throws fault_error{damaged} naming the file if there is no such tensor,
  /// or if it has another size or type (fp32, bits of bf16, or bytes).
  void copy(const std::string& name, std::span<float> to) const;
  void copy(const std::string& name, std::span<std::uint16_t> to) const;
  void copy(const std::string& name, std::span<std::uint8_t> to) const;

 private:
  struct file {
    explicit file(const std::filesystem::path& p) : path(p), tensors(p) {}
    std::filesystem::path path;
    safetensors_file tensors;
  };
  const file& file_of(const std::string& name) const;
  stored_tensor find(const std::string& name, stored_type type, std::size_t bytes) const;
  void copy(const std::string& name, stored_type type, std::span<std::byte> to) const;

  std::filesystem::path folder_;
  std::vector<std::unique_ptr<file>> files_;
  std::map<std::string, const file*> places_;
};

}  // namespace hydra
