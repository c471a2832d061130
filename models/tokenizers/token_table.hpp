#pragma once
// The tokens of a vocabulary by text and by id.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hydra {

/// Makes a std::string_view find a std::string.
struct text_hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
};
using id_by_text = std::unordered_map<std::string, std::uint32_t, text_hash, std::equal_to<>>;

/// Movable, not copyable.
class token_table {
 public:
  token_table() = default;
  token_table(token_table&&) = default;
  token_table& operator=(token_table&&) = default;

  /// A table has an entry for each id up to its largest, and so have those that are made of it: a file must not decide
  /// how much memory they take. Four times the largest vocabulary that was seen.
  static constexpr std::uint64_t largest_id = (1u << 22) - 1;

  /// An error text if the token or its id is already part of another pair or the id is too large; then nothing was
  /// added.
  [[nodiscard]] std::optional<std::string> add(const std::string& token, std::uint64_t id);

  std::optional<std::uint32_t> find(std::string_view token) const;
  /// Null if no token has this id.
  const std::string* token_of(std::uint32_t id) const noexcept;
  /// One more than the largest id.
  std::size_t size() const noexcept { return tokens_.size(); }
  const id_by_text& ids() const noexcept { return ids_; }

 private:
  id_by_text ids_;
  std::vector<const std::string*> tokens_;  ///< keys of ids_, which keep their address
};

}  // namespace hydra
