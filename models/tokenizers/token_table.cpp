#include "models/tokenizers/token_table.hpp"

#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

namespace hydra {

std::optional<std::string> token_table::add(const std::string& token, std::uint64_t id) {
  if (id > largest_id) return fmt::format("the id {} is above {}", id, largest_id);
  const auto small = static_cast<std::uint32_t>(id);
  if (const auto known = find(token))
    return *known == small ? std::nullopt : std::optional{fmt::format("the token has the id {}, not {}", *known, id)};
  if (const std::string* const other = token_of(small))
    return fmt::format("the id {} belongs to \"{}\" already", id, shown(*other));
  if (tokens_.size() <= id) tokens_.resize(id + 1);
  tokens_[id] = &ids_.emplace(token, small).first->first;
  return std::nullopt;
}

std::optional<std::uint32_t> token_table::find(std::string_view token) const {
  const auto found = ids_.find(token);
  return found == ids_.end() ? std::nullopt : std::optional{found->second};
}

const std::string* token_table::token_of(std::uint32_t id) const noexcept {
  return id < tokens_.size() ? tokens_[id] : nullptr;
}

}  // namespace hydra
