#include "models/data/token_masking.hpp"

#include "models/losses/class_targets.hpp"
#include "models/random.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace hydra {

token_masking::token_masking(const mask_options& options, const encoder_marks& marks, std::int64_t vocabulary,
                             std::string_view data)
    : options_(options), marks_(marks), vocabulary_(vocabulary) {
  if (!(options.share > 0 && options.share <= 1))
    refuse(fmt::format("{}: mask_share is {}; it must be above 0 and at most 1", data, options.share));
}

bool token_masking::is_special(std::int64_t id) const noexcept {
  return id == marks_.classify || id == marks_.separate || id == marks_.padding || id == marks_.mask;
}

std::int64_t token_masking::replacement(std::int64_t id, std::uint64_t key, std::size_t at) const noexcept {
  const double fate = random_uniform(key, 2 * at);
  if (fate < 0.8) return marks_.mask;
  if (fate >= 0.9) return id;
  return static_cast<std::int64_t>(random_bits(key, 2 * at + 1) % static_cast<std::uint64_t>(vocabulary_));
}

std::size_t token_masking::apply(std::span<std::int64_t> ids, std::span<std::int64_t> targets, std::uint64_t part,
                                 std::uint64_t index) const {
  const std::uint64_t lots = random_key({options_.seed, part, index, 0}),
                      fates = random_key({options_.seed, part, index, 1});
  std::vector<std::pair<std::uint64_t, std::size_t>> drawn;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (!is_special(ids[i])) drawn.emplace_back(random_bits(lots, i), i);
  std::ranges::sort(drawn);
  const auto wanted = static_cast<std::size_t>(std::lround(options_.share * static_cast<double>(drawn.size())));
  drawn.resize(std::min(drawn.size(), std::max<std::size_t>(wanted, 1)));
  std::ranges::fill(targets, masked_target);
  for (const auto& [lot, i] : drawn) {
    targets[i] = ids[i];
    ids[i] = replacement(ids[i], fates, i);
  }
  return drawn.size();
}

}  // namespace hydra
