#pragma once
// Mapping between the labels in data and classes 0..n-1.

#include "models/data/data_options.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// Where a label is found first.
struct label_site {
  std::filesystem::path file;
  std::size_t line = 0;   ///< 0: the file itself, or a folder
  bool of_array = false;  ///< the number is that of a record, not of a line
  friend bool operator==(const label_site&, const label_site&) = default;
};

/// The labels of files. Integers before texts, each sorted.
using label_census = std::map<class_label, label_site>;

/// "7" is an integer; "seven" and "07" are texts.
class_label label_from(std::string_view text);
/// For messages: 7, "seven".
std::string to_string(const class_label& label);
/// 7, seven.
std::string plain_text(const class_label& label);
/// For messages: the first ones, 7, "seven", ...
std::string list_of(const std::vector<class_label>& labels);
/// For messages: "data.jsonl:7", "data.json: record 7", "images/cat".
std::string to_string(const label_site& site);

/// Thread-safe because const.
class class_names {
 public:
  class_names() = default;
  /// `given` in its order. Else, where a model has a head that was trained (`head`: what its classes are called), in
  /// the order of the head: labels are the names of its classes, or their numbers. Else, and if the head has only
  /// transformers' default names (LABEL_0, ...), those that were found, sorted. Throws fault_error{bad_input}: there
  /// are fewer than two, one is given twice, one that was found is not of the head, or may be none (empty, -1 beside 0,
  /// "1" beside 1).
  class_names(const std::vector<class_label>& given, const label_census& found,
              const std::vector<std::string>& head = {});

  /// Throws fault_error{bad_input} with file, line and the known labels if a label that was found is not known.
  void check(const label_census& found) const;

  std::int64_t size() const noexcept { return static_cast<std::int64_t>(labels_.size()); }
  /// Of the classes 0, 1, ...
  const std::vector<class_label>& labels() const noexcept { return labels_; }
  /// What they are called: by the head where the labels are its numbers, else by their labels; no two of those are
  /// equal.
  const std::vector<std::string>& names() const noexcept { return names_; }
  /// -1 for a label that is not known.
  std::int64_t find(const class_label& label) const;
  /// For the user: the classes without a training sample, and two that differ only in the case of letters, if there are
  /// any. `data`: what the samples are of.
  std::vector<std::string> notes(const label_census& training, const std::string& data) const;

 private:
  std::string name_of(const class_label& label) const;

  std::vector<class_label> labels_;
  std::vector<std::string> names_;
  std::map<class_label, std::int64_t> classes_;
};

}  // namespace hydra
