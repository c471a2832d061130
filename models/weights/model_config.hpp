#pragma once
// config.json of a Hugging Face checkpoint: typed keys, and errors that name file and key.

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// A table of config.json. Its getters throw fault_error{bad_input} "FILE: KEY: what is wrong".
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

  /// "file: key: why".
  [[noreturn]] void refuse(std::string_view key, std::string_view why) const;
  /// refuse() unless the key is absent or has this value: Hydra's layers support no other.
  void require(std::string_view key, const nlohmann::json& only) const;

  const nlohmann::json& content() const noexcept { return *table_; }
  const std::string& file() const noexcept { return file_; }

 private:
  const nlohmann::json* find(std::string_view key) const;
  std::int64_t integer_of(std::string_view key, const nlohmann::json& value) const;

  std::string file_;
  std::shared_ptr<const nlohmann::json> table_;
  std::string prefix_;  ///< of keys in errors: "rope_scaling."
};

}  // namespace hydra
