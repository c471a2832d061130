#include "partition/profile/device_stepping.hpp"

#include <algorithm>

namespace hydra {

std::string to_string(optimizer_place p) {
  return p == optimizer_place::host ? "host" : p == optimizer_place::device ? "device" : "auto";
}

bool device_stepping::possible(std::size_t first, std::size_t last) const {
  const auto begin = host_only.begin();
  return last <= host_only.size() && std::none_of(begin + static_cast<std::ptrdiff_t>(first),
                                                  begin + static_cast<std::ptrdiff_t>(last), [](bool b) { return b; });
}

bool device_stepping::covers(std::size_t first, std::size_t last) const {
  const bool asked = pieces == scope::all || (pieces == scope::first && first == 0);
  return asked && possible(first, last);
}

namespace {

/// Layers that must be updated on the host, because of a tie or a running average.
std::vector<bool> kept_at_home(const chain& model) {
  std::vector<bool> home(model.size());
  for (std::size_t i = 0; i < model.size(); ++i) {
    for (const auto& p : model.parameters(i)) {
      home[i] = home[i] || p.averaging > 0 || !p.tied_to.empty();
      for (std::size_t owner = 0; !p.tied_to.empty() && owner < model.size(); ++owner) {
        const auto owned = model.parameters(owner);
        home[owner] = home[owner] || std::ranges::any_of(owned, [&](const auto& q) { return q.name == p.tied_to; });
      }
    }
  }
  return home;
}

}  // namespace

device_stepping stepping_of(const chain& model, optimizer_place place, const update_options& rule) {
  if (place == optimizer_place::host || rule.clip_norm > 0 || !is_elementwise(rule.kind)) {
    return {};
  }
  using scope = device_stepping::scope;
  const auto masters = model.numbers() == precision::fp32 ? 0U : 1U;
  return {.pieces = place == optimizer_place::device ? scope::all : scope::none,
          .buffers = static_cast<std::uint32_t>(moment_buffers(rule)) + masters,
          .host_only = kept_at_home(model)};
}

duration boundary_of(std::span<const shard_boundary> shards, std::size_t on_device) {
  duration now{};                     // since the start of the last shard's backward
  duration link{};                    // copies out run one after the other
  duration host{};
  std::vector<duration> ready(shards.size());
  for (auto s = shards.size(); s-- > 0;) {
    const auto& t = shards[s];
    const bool here = s < on_device;
    now += t.backward + (here ? t.device_update : duration{});
    link = std::max(link, now) + (here ? t.demote_stepped : t.demote);
    if (here) {
      ready[s] = s == 0 ? now : link + t.promote;   // the next visit of shard 0 follows on the device
    } else {
      host = std::max(host, link) + t.update;
      ready[s] = host + t.promote;
    }
  }
  for (std::size_t s = 0; s < shards.size(); ++s) {
    now = std::max(now, ready[s]) + shards[s].forward;
  }
  return now;
}

std::size_t best_split(std::span<const shard_boundary> shards, std::size_t most) {
  std::size_t best = 0;
  auto least = boundary_of(shards, 0);
  for (std::size_t n = 1; n <= std::min(most, shards.size()); ++n) {
    if (const auto boundary = boundary_of(shards, n); boundary < least) {
      best = n;
      least = boundary;
    }
  }
  return best;
}

}  // namespace hydra
