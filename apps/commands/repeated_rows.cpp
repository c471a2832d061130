#include "apps/commands/repeated_rows.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

namespace hydra::apps {
namespace {

/// The place of each text among the different ones: comparing these is cheap.
std::vector<std::size_t> numbered(std::span<const std::string> texts) {
  std::map<std::string_view, std::size_t> known;
  std::vector<std::size_t> all;
  for (const std::string& text : texts) all.push_back(known.try_emplace(text, known.size()).first->second);
  return all;
}

/// From `first` on, with so many rows each time.
repeated_rows repeats_at(std::span<const std::size_t> texts, std::size_t first, std::size_t rows) {
  std::size_t past = first + rows;
  while (past < texts.size() && texts[past] == texts[past - rows]) ++past;
  return {.first = first, .rows = rows, .times = (past - first) / rows};
}

}  // namespace

std::optional<repeated_rows> most_repeated(std::span<const std::string> texts, std::size_t least) {
  repeated_rows best;
  const std::vector<std::size_t> numbers = numbered(texts);
  for (std::size_t rows = 1; 2 * rows <= texts.size(); ++rows) {
    for (std::size_t first = 0; first + 2 * rows <= texts.size(); ++first) {
      const repeated_rows here = repeats_at(numbers, first, rows);
      if (here.spared() > best.spared()) best = here;
    }
  }
  return best.spared() < std::max<std::size_t>(least, 1) ? std::nullopt : std::optional(best);
}

}  // namespace hydra::apps
