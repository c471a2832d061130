#pragma once
// A column of texts, with a column of labels or without.

#include "models/data/csv_columns.hpp"
#include "models/data/record_list.hpp"
#include "runtime/storage/mapped_file.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace hydra {

/// Keeps the offset of each record, 8 bytes per record; a record is parsed when it is read.
class csv_texts final : public record_list {
 public:
  /// Parses every record. If `label` is empty there are no labels. Throws as mapped_file and csv_columns do, and
  /// fault_error{bad_input} with file and line for an empty text.
  csv_texts(const std::filesystem::path& file, std::string text, std::string label, char separator,
            bad_row_rule bad_rows = bad_row_rule::refuse);

  std::size_t size() const override { return begins_.size(); }
  text_record record(std::size_t index) const override;
  void require_unchanged() const override { file_.require_unchanged(); }
  const label_census& labels() const override { return labels_; }
  const std::filesystem::path& file() const override { return path_; }
  std::string identity() const override;
  std::vector<std::string> notes() const override { return notes_; }
  std::string where(std::size_t index) const override;

 private:
  csv_file_text whole() const noexcept { return {path_, file_.bytes(), separator_}; }
  text_record read(const csv_record& r) const;

  std::filesystem::path path_;
  char separator_;
  mapped_file file_;
  std::string digest_;  ///< of the file
  csv_columns header_;
  std::size_t text_ = 0, label_ = 0;
  bool labelled_ = false;
  std::size_t left_out_ = 0;
  std::vector<std::string> notes_;
  std::vector<std::uint64_t> begins_;
  label_census labels_;
};

}  // namespace hydra
