#include "runtime/collective/collective.hpp"

#include "runtime/base/refuse.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

namespace hydra {

namespace {

using exchange_round = std::vector<transfer>;

constexpr std::array<std::pair<collective_kind, std::string_view>, 6> names{{
    {collective_kind::direct, "direct"},
    {collective_kind::ring, "ring"},
    {collective_kind::tree, "tree"},
    {collective_kind::butterfly, "butterfly"},
    {collective_kind::naive, "naive"},
    {collective_kind::parameter_server, "parameter-server"},
}};

/// Part i of n parts, whose sizes differ by at most one value.
value_range slice(std::uint64_t values, std::uint32_t i, std::uint32_t n) {
  const auto begin = [&](std::uint64_t part) { return values / n * part + std::min<std::uint64_t>(part, values % n); };
  return {begin(i), begin(i + 1ULL) - begin(i)};
}

/// The party at distance `d` before `i`.
std::uint32_t before(std::uint32_t i, std::uint32_t d, std::uint32_t n) { return (i + n - d % n) % n; }

std::vector<exchange_round> direct(std::span<const std::uint32_t> node_of, std::uint64_t values) {
  const auto n = static_cast<std::uint32_t>(node_of.size());
  const auto first_on = [&](std::uint32_t node) {
    return static_cast<std::uint32_t>(std::ranges::find(node_of, node) - node_of.begin());
  };
  exchange_round add, give, share;
  for (std::uint32_t owner = 0; owner < n; ++owner) {
    for (std::uint32_t d = 1; d < n; ++d) {
      const auto other = before(owner, d, n);
      add.push_back({other, owner, slice(values, owner, n), combination::add});
      if (first_on(node_of[other]) == other) {
        give.push_back({owner, other, slice(values, owner, n), combination::copy});
      }
    }
    if (const auto first = first_on(node_of[owner]); first != owner) {
      share.push_back({first, owner, {0, values}, combination::copy});
    }
  }
  return share.empty() ? std::vector{add, give} : std::vector{add, give, share};
}

std::vector<std::uint32_t> nodes_of_their_own(std::uint32_t parties) {
  std::vector<std::uint32_t> node_of(parties);
  std::iota(node_of.begin(), node_of.end(), 0U);
  return node_of;
}

std::vector<exchange_round> ring(std::uint32_t n, std::uint64_t values) {
  std::vector<exchange_round> all;
  for (std::uint32_t r = 0; r < 2 * (n - 1); ++r) {
    const bool adds = r < n - 1;
    auto& now = all.emplace_back();
    for (std::uint32_t i = 0; i < n; ++i) {
      // When all have added, party i has the whole sum of slice i + 1.
      const auto what = adds ? before(i, r, n) : before(i + 1, r - (n - 1), n);
      now.push_back({i, (i + 1) % n, slice(values, what, n), adds ? combination::add : combination::copy});
    }
  }
  return all;
}

std::vector<exchange_round> tree(std::uint32_t n, std::uint64_t values) {
  std::vector<exchange_round> up, down;
  for (std::uint32_t d = 1; d < n; d *= 2) {
    auto& now = up.emplace_back();
    for (std::uint32_t i = d; i < n; i += 2 * d) {
      now.push_back({i, i - d, {0, values}, combination::add});
    }
  }
  for (auto r = up.rbegin(); r != up.rend(); ++r) {
    auto& now = down.emplace_back();
    for (const auto& t : *r) {
      now.push_back({t.to, t.from, t.what, combination::copy});
    }
  }
  up.insert(up.end(), down.begin(), down.end());
  return up;
}

/// The parties beyond a power of two give their values to others first, and get the sum from them.
std::vector<exchange_round> butterfly(std::uint32_t n, std::uint64_t values) {
  const auto paired = std::bit_floor(n);
  std::vector<exchange_round> all;
  exchange_round fold, give;
  for (std::uint32_t i = paired; i < n; ++i) {
    fold.push_back({i, i - paired, {0, values}, combination::add});
    give.push_back({i - paired, i, {0, values}, combination::copy});
  }
  if (!fold.empty()) {
    all.push_back(fold);
  }
  for (std::uint32_t d = 1; d < paired; d *= 2) {
    auto& now = all.emplace_back();
    for (std::uint32_t i = 0; i < paired; ++i) {
      now.push_back({i ^ d, i, {0, values}, combination::add});
    }
  }
  if (!give.empty()) {
    all.push_back(give);
  }
  return all;
}

std::vector<exchange_round> naive(std::uint32_t n, std::uint64_t values) {
  exchange_round all;
  for (std::uint32_t to = 0; to < n; ++to) {
    for (std::uint32_t d = 1; d < n; ++d) {
      all.push_back({before(to, d, n), to, {0, values}, combination::add});
    }
  }
  return {all};
}

std::vector<exchange_round> parameter_server(std::uint32_t n, std::uint64_t values) {
  exchange_round push, pull;
  for (std::uint32_t i = 0; i < n; ++i) {
    push.push_back({i, n, {0, values}, combination::add});
    pull.push_back({n, i, {0, values}, combination::copy});
  }
  return {push, pull};
}

std::vector<exchange_round> rounds_of(collective_kind kind, std::uint32_t n, std::uint64_t values) {
  switch (kind) {
    case collective_kind::direct:
      return direct(nodes_of_their_own(n), values);
    case collective_kind::ring:
      return ring(n, values);
    case collective_kind::tree:
      return tree(n, values);
    case collective_kind::butterfly:
      return butterfly(n, values);
    case collective_kind::naive:
      return naive(n, values);
    case collective_kind::parameter_server:
      return parameter_server(n, values);
  }
  throw fault_error{fault_code::internal, "a kind of collective without rounds"};
}

}  // namespace

std::span<const collective_kind> all_collective_kinds() noexcept {
  static constexpr auto kinds = [] {
    std::array<collective_kind, names.size()> all{};
    std::ranges::transform(names, all.begin(), [](const auto& named) { return named.first; });
    return all;
  }();
  return kinds;
}

std::string_view to_string(collective_kind kind) noexcept {
  return std::ranges::find(names, kind, [](const auto& named) { return named.first; })->second;
}

namespace {

collective without_empty(collective c) {
  for (auto& r : c.rounds) {
    std::erase_if(r, [](const transfer& t) { return t.what.count == 0; });
  }
  return c;
}

}  // namespace

collective make_collective(collective_kind kind, std::uint32_t summands, std::uint64_t values) {
  if (summands == 0) {
    refuse("a collective has at least one party");
  }
  collective c{.summands = summands, .parties = summands, .values = values};
  if (kind == collective_kind::parameter_server) {
    ++c.parties;
  }
  if (c.parties > 1) {
    c.rounds = rounds_of(kind, summands, values);
  }
  return without_empty(std::move(c));
}

collective make_direct(std::span<const std::uint32_t> node_of, std::uint64_t values) {
  const auto parties = static_cast<std::uint32_t>(node_of.size());
  return without_empty({.summands = parties, .parties = parties, .values = values, .rounds = direct(node_of, values)});
}

collective make_broadcast(std::uint32_t from, std::uint32_t parties, std::uint64_t values) {
  collective c{.summands = parties, .parties = parties, .values = values};
  exchange_round give;
  for (std::uint32_t to = 0; to < parties && values > 0; ++to) {
    if (to != from) {
      give.push_back({from, to, {0, values}, combination::copy});
    }
  }
  if (!give.empty()) {
    c.rounds.push_back(std::move(give));
  }
  return c;
}

bool adds_in_order(collective_kind kind) noexcept {
  return kind == collective_kind::direct || kind == collective_kind::naive || kind == collective_kind::parameter_server;
}

std::uint64_t sent_values(const collective& c, std::span<const std::uint32_t> node_of) {
  std::uint64_t sum = 0;
  for (const auto& r : c.rounds) {
    for (const auto& t : r) {
      const bool leaves = node_of.empty() || node_of[t.from] != node_of[t.to];
      sum += leaves ? t.what.count : 0;
    }
  }
  return sum;
}

}  // namespace hydra
