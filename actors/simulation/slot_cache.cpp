#include "actors/simulation/slot_cache.hpp"

#include <algorithm>
#include <tuple>

namespace hydra {

std::optional<std::size_t> slot_cache::find(const shard_version& v) const noexcept {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].holds && slots_[i].what == v) {
      return i;
    }
  }
  return std::nullopt;
}

bool slot_cache::sooner(const slot& a, const slot& b, duration now) const noexcept {
  const auto key = [now](const slot& s) { return std::tuple{std::max(now, s.drained), s.holds, s.staged}; };
  return key(a) < key(b);
}

slot_cache::given slot_cache::give(const shard_version& v, duration now) {
  given g{.slot = slots_.size(), .from = now, .evicted = {}};
  if (slots_.size() < most_) {
    slots_.emplace_back();
  } else {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].pins == 0 && (g.slot == slots_.size() || sooner(slots_[i], slots_[g.slot], now))) {
        g.slot = i;
      }
    }
    auto& s = slots_.at(g.slot);
    g.from = std::max(now, s.drained);
    if (s.holds) {
      g.evicted = s.what;
      evicted_before_ = std::max(evicted_before_, s.staged);
    }
  }
  auto& s = slots_[g.slot];
  s.what = v;
  s.holds = true;
  s.drained = {};
  return g;
}

}  // namespace hydra
