#pragma once
// Which kind of data reads files, by their first records.

#include <filesystem>
#include <string>
#include <vector>

namespace hydra {

struct found_kind {
  std::string kind;                ///< of [data.NAME]
  std::string prompt{}, answer{};  ///< of "jsonl": texts of fields (field_template.hpp); empty: the records are texts
  std::string text{};              ///< of "csv": the column of texts
  std::string label{};             ///< field or column of classes; empty: there is none
  char separator = ',';            ///< of "csv"
};

/// Of one file or folder, or of several that are alike. Folders are images; files are told by what they begin with,
/// tables by their names. Throws fault_error{bad_input} with file and line: records of a shape that is not known, with
/// the keys to write; files of two kinds, several files of a kind that reads one.
found_kind find_kind(const std::vector<std::filesystem::path>& files);

}  // namespace hydra
