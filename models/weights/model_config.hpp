#pragma once
// A file of settings in JSON, such as the config.json of a Hugging Face checkpoint: typed keys, errors that name file
// and key, and the keys that nobody asked for.

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// A table of the file. Its getters throw fault_error{bad_input} "FILE: KEY: what is wrong". Thread-safe, with its
/// copies and its nested tables, which remember together what was asked for.
class model_config {
 public:
  model_config(std::string file, nlohmann::json table, std::string prefix = {});
  /// Throws fault_error{bad_input} if the file is missing, is not a JSON object, or is nested more than 100 deep.
  static model_config read(const std::filesystem::path& file);

  bool has(std::string_view key) const;  ///< and it is not null
  std::int64_t integer(std::string_view key) const;
  std::int64_t integer(std::string_view key, std::int64_t fallback) const;
  double real(std::string_view key) const;
  double real(std::string_view key, double fallback) const;
  bool boolean(std::string_view key, bool fallback) const;
  std::string text(std::string_view key, std::string fallback) const;
  std::vector<std::int64_t> integers(std::string_view key) const;
  std::vector<double> reals(std::string_view key) const;
  /// A nested table; empty if it is absent or null.
  std::optional<model_config> table(std::string_view key) const;

  /// The tables in a list; none if it is absent or null.
  std::vector<model_config> tables(std::string_view key) const;

  /// Keys without an effect here: unread() does not name them.
  void ignore(std::initializer_list<std::string_view> keys) const;
  /// Keys that no getter, has(), require() or ignore() was asked for, null ones aside, in this table and in nested ones
  /// that were opened: "rope_scaling.beta", "added_tokens[2].color".
  std::vector<std::string> unread() const;

  /// "file: key: why".
  [[noreturn]] void refuse(std::string_view key, std::string_view why) const;
  /// refuse() unless the key is absent or has this value: Hydra's layers support no other.
  void require(std::string_view key, const nlohmann::json& only) const;

  const nlohmann::json& content() const noexcept { return *table_; }
  const std::string& file() const noexcept { return file_; }

 private:
  class question_list;

  model_config(const model_config& outer, nlohmann::json table, std::string prefix);
  const nlohmann::json* find(std::string_view key) const;
  model_config nested(std::string_view name, const nlohmann::json& value) const;
  std::int64_t integer_of(std::string_view key, const nlohmann::json& value) const;

  std::string file_;
  std::shared_ptr<const nlohmann::json> table_;
  std::string prefix_;  ///< of keys in errors: "rope_scaling."
  std::shared_ptr<question_list> asked_;
};

/// "FILE: Hydra does not use KEY = VALUE": one for each key that is unread(), unless it is in the list or its value an
/// empty table or list, which says nothing; keys of nested tables without their values.
std::vector<std::string> key_notes(const model_config& config, const std::set<std::string_view>& without_effect = {});

}  // namespace hydra
