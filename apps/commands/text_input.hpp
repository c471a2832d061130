#pragma once
// The texts of an input file: a plain text, or records of JSON.

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace hydra::apps {

struct input_text {
  std::string_view text;
  std::size_t line = 0;  ///< from 1 on; in a JSON array the number of the record
};
using text_sink = std::function<void(const input_text&)>;

/// Whether the file's name ends in .jsonl or .json.
bool holds_records(const std::filesystem::path& file);

/// The whole file as one text, or the field of each record of JSON lines (blank lines are skipped) or of a JSON array.
/// Throws fault_error{bad_input} with file and line: no such file, empty, not UTF-8 (with the byte), not JSON, no such
/// field, not a text.
void each_text(const std::filesystem::path& file, const std::string& field, const text_sink& sink);

/// The lines of a plain text, without their ends, or the field of each record.
void each_line_or_record(const std::filesystem::path& file, const std::string& field, const text_sink& sink);

/// The lines of a file, each a JSON value, as text. Throws as each_text() does.
void each_json_line(const std::filesystem::path& file, const text_sink& sink);

/// The JSON value on a line. Throws fault_error{bad_input} with file and line.
nlohmann::json parse_line(const std::filesystem::path& file, const input_text& line);

/// Throws fault_error{bad_input} "FILE: line N: WHY".
[[noreturn]] void refuse_line(const std::filesystem::path& file, std::size_t line, std::string_view why);

}  // namespace hydra::apps
