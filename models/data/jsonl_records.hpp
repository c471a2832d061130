#pragma once
// The records of a JSON Lines file, or of one JSON array.

#include "models/data/field_template.hpp"
#include "models/data/json_texts.hpp"
#include "models/data/record_list.hpp"
#include "models/data/unread_fields.hpp"
#include "runtime/storage/unpacked_file.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace hydra {

struct line_site;
struct parsed_object;
class record_check;

/// What a record has: a label's name, and texts of fields (field_template.hpp); empty for what is not used.
struct record_fields {
  std::string prompt{}, text = "text", label{};
  std::string short_prompt{};  ///< in place of `prompt`, where a field of that is missing or empty
  bool chat = false;  ///< true: a record is a conversation (read_conversation.hpp), no field is named
  bad_row_rule bad_rows = bad_row_rule::refuse;
  record_test test{};  ///< of each record, when the file is opened
};

/// Keeps the offset of each record, 8 bytes per record; a record is parsed when it is read. Blank lines are skipped. A
/// file that begins with a [ is an array of records.
class jsonl_records final : public record_list {
 public:
  /// Parses every record. Throws as mapped_file does, and fault_error{bad_input} with file and line: not a JSON object,
  /// not UTF-8, a field missing or of another type, an empty text, a record that does not pass the test (these are left
  /// out if `fields` say so); an array that has something else than JSON objects, or does not end; a Parquet file, no
  /// record at all.
  jsonl_records(const std::filesystem::path& file, record_fields fields);

  std::size_t size() const override { return begins_.size(); }
  text_record record(std::size_t index) const override;
  void require_unchanged() const override { file_.require_unchanged(); }
  const label_census& labels() const override { return labels_; }
  const std::filesystem::path& file() const override { return path_; }
  std::string identity() const override;
  std::vector<std::string> notes() const override { return notes_; }
  std::string where(std::size_t index) const override;

 private:
  /// What the lines have beside their records.
  struct census {
    unread_fields unread{};
    bool alpaca = false;  ///< the shape of one of them
    std::size_t not_finite = 0;
  };

  text_record read(const nlohmann::json& object, const line_site& site) const;
  std::vector<std::string> notes_on(const census& seen) const;
  void attempt(const json_record_text& record, record_check& check, census& seen);
  void add(const parsed_object& parsed, const json_record_text& at, census& seen);
  void count(const parsed_object& line, census& seen) const;
  line_site site_of(std::size_t number) const;

  std::filesystem::path path_;
  record_fields fields_;
  field_template prompt_, short_prompt_, text_;
  unpacked_file file_;
  json_texts texts_;
  std::string digest_;  ///< of the file
  std::vector<std::uint64_t> begins_;
  std::size_t left_out_ = 0;
  std::vector<std::string> notes_;
  label_census labels_;
};

}  // namespace hydra
