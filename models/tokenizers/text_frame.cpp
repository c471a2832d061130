#include "models/tokenizers/text_frame.hpp"

#include <algorithm>
#include <span>

namespace hydra {

namespace {

bool ends_with(const std::vector<std::uint32_t>& ids, const std::vector<std::uint32_t>& end) {
  return ids.size() >= end.size() && std::equal(end.rbegin(), end.rend(), ids.rbegin());
}

}  // namespace

std::size_t begin_text(const special_tokens& special, std::vector<std::uint32_t>& ids) {
  const auto& before = special.before;
  if (ids.size() >= before.size() && std::ranges::equal(before, std::span{ids}.first(before.size()))) return 0;
  ids.insert(ids.begin(), before.begin(), before.end());
  return before.size();
}

void end_text(const special_tokens& special, std::vector<std::uint32_t>& ids) {
  if (!ends_with(ids, special.after)) ids.insert(ids.end(), special.after.begin(), special.after.end());
  if (special.end_of_text && !ends_with(ids, {*special.end_of_text})) ids.push_back(*special.end_of_text);
}

}  // namespace hydra
