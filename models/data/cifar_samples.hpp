#pragma once
// CIFAR-10 and CIFAR-100 (Krizhevsky 2009), binary version.

#include "models/data/pixel_values.hpp"
#include "models/data_source.hpp"
#include "runtime/storage/mapped_file.hpp"

#include <memory>
#include <string>

namespace hydra {

/// The scale, with the numbers of CIFAR's training images where it is empty.
pixel_scale with_cifar_defaults(pixel_scale scale, std::int64_t classes);

/// Records of one label (CIFAR-10) or a coarse and a fine one (CIFAR-100) and 3 x 32 x 32 bytes; samples are f32[3, 32,
/// 32].
class cifar_samples final : public data_source {
 public:
  /// Throws as mapped_file does, and fault_error{bad_input} naming the file: its size is not a multiple of a record, a
  /// label is out of range (with its record), a folder lacks the files, or classes is not 10, 20 or 100.
  explicit cifar_samples(const cifar_files& options, std::vector<std::string> notes = {});

  std::size_t samples(split part) const override { return list(part).size(); }
  tensor_spec sample_input() const override { return {{3, 32, 32}, element::f32}; }
  tensor_spec sample_target() const override { return {{}, element::i64}; }
  std::int64_t classes() const override { return options_.classes; }
  std::size_t read(split part, std::size_t index, std::span<std::byte> input,
                   std::span<std::byte> target) const override;
  void require_unchanged() const override;
  std::optional<pixel_scale> pixel_scaling() const override { return options_.scale; }
  std::vector<std::string> notes() const override { return notes_; }
  std::string describe() const override { return name_; }
  std::string fingerprint() const override;

 private:
  using record = std::span<const std::byte>;

  const std::vector<record>& list(split part) const noexcept { return part == split::train ? train_ : validation_; }
  void add(const std::filesystem::path& file, std::vector<record>& to);
  std::int64_t label(record r) const noexcept;

  cifar_files options_;
  std::vector<std::string> notes_;
  std::string name_;
  std::string digests_;  ///< of the files
  pixel_values values_;
  std::vector<std::unique_ptr<const mapped_file>> files_;
  std::vector<record> train_, validation_;
};

}  // namespace hydra
