#pragma once
// Rows of numbers with a class or a number to predict.

#include "models/data/class_names.hpp"
#include "models/data/csv_columns.hpp"
#include "models/data_source.hpp"

#include <optional>
#include <string>
#include <vector>

namespace hydra {

/// The numbers of one file, in memory: 4 bytes each.
struct csv_numbers {
  std::size_t rows = 0;
  std::vector<float> features{};  ///< [rows, columns]
  std::vector<float> reals{};     ///< of a regression
  std::vector<std::int64_t> classes{};
};

/// Samples are f32[columns]; the target is a class, i64[], or for a regression a number, f32[1].
class csv_rows final : public data_source {
 public:
  /// Reads both files. Throws as mapped_file, csv_columns and class_names do, and fault_error{bad_input} with file and
  /// line for a field that is not a finite number.
  explicit csv_rows(const csv_files& options);

  std::size_t samples(split part) const override { return numbers(part).rows; }
  tensor_spec sample_input() const override { return {{static_cast<std::int64_t>(columns_.size())}, element::f32}; }
  tensor_spec sample_target() const override;
  std::int64_t classes() const override { return options_.regression ? 1 : names_.size(); }
  std::size_t read(split part, std::size_t index, std::span<std::byte> input,
                   std::span<std::byte> target) const override;
  std::vector<std::string> class_names() const override { return names_.names(); }
  std::vector<std::string> notes() const override { return notes_; }
  std::string describe() const override;
  std::string fingerprint() const override;

 private:
  const csv_numbers& numbers(split part) const noexcept { return part == split::train ? train_ : validation_; }
  void choose_columns(const csv_columns& header);
  csv_numbers load(const std::filesystem::path& file);
  void add_notes(const csv_columns& header, const record_check& check, const std::filesystem::path& file);
  void standardise();

  csv_files options_;
  std::vector<std::string> columns_;
  std::string digests_;  ///< of the files
  std::vector<std::string> notes_;
  hydra::class_names names_;  // not the function of data_source
  csv_numbers train_, validation_;
};

}  // namespace hydra
