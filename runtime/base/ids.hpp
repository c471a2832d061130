#pragma once
// Strong ids: small integers that cannot be mixed up. Standard library only (policies include this file).

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace hydra {

/// An integer that names one kind of thing. Two ids of different tags do not convert into each other.
template <class Tag>
struct strong_id {
  std::uint32_t value = 0;

  constexpr strong_id() = default;
  constexpr explicit strong_id(std::uint32_t v) : value(v) {}
  friend constexpr auto operator<=>(const strong_id&, const strong_id&) = default;
  constexpr strong_id next() const { return strong_id{value + 1}; }

  friend auto inspect(auto& f, strong_id& x) { return f(x.value); }
};

using device_id = strong_id<struct device_tag>;
using model_id = strong_id<struct model_tag>;
using replica_id = strong_id<struct replica_tag>;
using wave_index = strong_id<struct wave_tag>;
using piece_index = strong_id<struct piece_tag>;
using shard_index = strong_id<struct shard_tag>;
using micro_batch_index = strong_id<struct micro_batch_tag>;

/// Optimizer steps, counted from 0. Parameter version n is the result of n optimizer steps.
using step_index = strong_id<struct step_tag>;
using version_index = step_index;

}  // namespace hydra

template <class Tag>
struct std::hash<hydra::strong_id<Tag>> {
  std::size_t operator()(hydra::strong_id<Tag> id) const noexcept { return std::hash<std::uint32_t>{}(id.value); }
};
