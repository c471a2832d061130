#pragma once
// The texts of a file, one by one.

#include "models/data/class_names.hpp"
#include "models/data/conversation.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace hydra {

/// One sample before it is tokenised.
struct text_record {
  std::string prompt{};  ///< has no loss; empty if the file has none
  std::string text{};
  class_label label{};  ///< where the file has labels
  conversation turns{};  ///< where the file has conversations, which have neither prompt nor text
};

/// Throws fault_error{bad_input} for a record that cannot be used.
using record_test = std::function<void(const text_record& record)>;

/// Thread-safe because const. The file was checked when it was opened.
class record_list {
 public:
  virtual ~record_list() = default;
  virtual std::size_t size() const = 0;
  /// Throws fault_error{bad_input} if the file has changed since.
  virtual text_record record(std::size_t index) const = 0;
  /// Throws fault_error{io} if the file has changed since it was opened.
  virtual void require_unchanged() const {}
  /// Empty if the file has no labels.
  virtual const label_census& labels() const = 0;
  virtual const std::filesystem::path& file() const = 0;
  /// Different for lists of other records: the file's digest, and how it is read.
  virtual std::string identity() const = 0;
  /// For the user: what of the file is not read.
  virtual std::vector<std::string> notes() const { return {}; }
  /// For messages: "chats.jsonl:7".
  virtual std::string where(std::size_t /*index*/) const { return file().string(); }
};

}  // namespace hydra
