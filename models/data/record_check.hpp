#pragma once
// The records of a file that cannot be read: how many, the first ones, and what becomes of them.

#include "models/data/data_options.hpp"
#include "runtime/base/fault.hpp"

#include <concepts>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hydra {

/// For one file, whose records are tried one after the other.
class record_check {
 public:
  /// `of_array`: messages name records as line_site does, not lines.
  record_check(std::filesystem::path file, bad_row_rule rule, bool of_array = false)
      : file_(std::move(file)), rule_(rule), of_array_(of_array) {}

  /// Reads a record. One for which `read` throws fault_error{bad_input}, "FILE:LINE: what" or
  /// "FILE: record NUMBER: what", is bad.
  template <std::invocable Read>
  void attempt(const Read& read) {
    ++records_;
    try {
      read();
    } catch (const fault_error& e) {
      if (e.what_happened().code != fault_code::bad_input) throw;
      add(e.what_happened().text);
    }
  }

  /// After the last record. Throws fault_error{bad_input} with the number of bad ones, the first ones and the way out,
  /// unless there are none, or they are to be left out and others remain.
  void finish() const;

  std::size_t left_out() const noexcept { return bad_; }
  /// For the user: that records are left out. Empty if none is.
  std::vector<std::string> notes() const;

 private:
  /// Bad records of which the same is said.
  struct complaint {
    std::string what;
    std::size_t records = 0;
    std::vector<std::string> lines{};  ///< of the first ones
  };

  void add(std::string_view text);
  /// "line 4", or "lines 4, 9, 12, ... (7 records)".
  std::string places(const complaint& of, std::size_t from = 0) const;
  /// What stands before a number in "FILE:LINE".
  std::string_view before_number() const { return of_array_ ? ": record " : ":"; }
  /// All complaints but the first, and what is left of it.
  std::vector<std::string> others(std::vector<std::string> rest = {}) const;

  std::filesystem::path file_;
  bad_row_rule rule_;
  bool of_array_;
  std::size_t records_ = 0, bad_ = 0;
  std::vector<complaint> first_{};
};

}  // namespace hydra
