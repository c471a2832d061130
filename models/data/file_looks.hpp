#pragma once
// What a file looks like that is given as data of another kind, and the key to change.

#include "models/data/csv_reader.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// Throws fault_error{bad_input} with the way to UTF-8 for a file with the byte order mark of UTF-16.
void refuse_utf16(const std::filesystem::path& file, std::span<const std::byte> bytes);

/// The same for a Parquet file, a format that data sets are often published in.
void refuse_parquet(const std::filesystem::path& file, std::string_view text);

/// "JSON lines", where the first line is an object, or "a JSON array of records"; empty for other texts.
std::string_view json_look(std::string_view text);

/// By the end of its name.
bool is_named_table(const std::filesystem::path& file);

/// By which separator the first records, one or two, have the most fields, and equally many; the given one before
/// others. Empty if there is only one field by each.
std::optional<char> likely_separator(const csv_file_text& text, std::size_t records);

/// `separator = "tab"`.
std::string separator_key(char separator);

/// Throws fault_error{bad_input} if the text is not JSON lines, but values with separators.
void refuse_table(const std::filesystem::path& file, std::string_view text);

/// For the user: a text that another kind of data reads record by record.
std::vector<std::string> notes_on_text(const std::filesystem::path& file);

}  // namespace hydra
