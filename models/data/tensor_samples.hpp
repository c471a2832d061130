#pragma once
// Samples in files of tensors.

#include "models/data/data_options.hpp"
#include "models/data_source.hpp"
#include "models/weights/safetensors_file.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hydra {

/// The tensors of a safetensors file, of which each holds something of every sample: their first dimension is that of
/// the samples. One of them is the target: F32 for numbers, I64 for classes, -100 for those that do not count; without
/// it, all targets are one zero. A model that names its inputs gets these, of any types; another one gets the one that
/// is there, I64 or real numbers, F16 and BF16 as fp32.
class tensor_samples final : public data_source {
 public:
  /// Throws as safetensors_file does, and fault_error{bad_input} with file and tensor: one that is missing, has another
  /// type or number of samples; a class below 0 but -100.
  tensor_samples(const tensor_files& options, const std::vector<std::string>& inputs);

  std::size_t samples(split part) const override { return file(part).samples; }
  tensor_spec sample_input() const override;
  tensor_spec sample_target() const override;
  std::vector<sample_part> sample_parts() const override;
  std::int64_t classes() const override;
  std::size_t read(split part, std::size_t index, std::span<std::byte> input,
                   std::span<std::byte> target) const override;
  void require_unchanged() const override;
  std::vector<std::string> notes() const override { return notes_; }
  std::string describe() const override;
  std::string fingerprint() const override;

 private:
  struct opened {
    std::unique_ptr<const safetensors_file> tensors{};  ///< null: there is no such file
    std::string digest{};
    std::vector<stored_tensor> inputs{};
    std::optional<stored_tensor> target{};
    std::size_t samples = 0;
    std::int64_t classes = 0;
  };

  opened open(const std::filesystem::path& path);
  void choose_input(const opened& file, const std::filesystem::path& path);
  void check_like_training(const opened& file, const std::filesystem::path& path) const;
  void note_others(const opened& file, const std::filesystem::path& path);
  void read_inputs(const opened& from, std::size_t index, std::span<std::byte> input) const;
  const opened& file(split part) const noexcept { return part == split::train ? train_ : validation_; }

  tensor_files options_;
  bool named_;                       ///< the model has named its inputs
  std::vector<std::string> inputs_;  ///< names
  opened train_, validation_;
  std::vector<std::string> notes_;
};

}  // namespace hydra
