#pragma once
// Which shards are updated on the device that has just computed their gradients, and what that brings.

#include "models/chain.hpp"
#include "partition/profile/update_cost.hpp"
#include "runtime/base/bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hydra {

/// Where a workload wants its parameters updated. device: every shard that can be; automatic: those shards whose
/// gradients land last, as many as make a step shorter by the measured rates.
enum class optimizer_place : std::uint8_t { host, device, automatic };

std::string to_string(optimizer_place p);

/// Which pieces of a chain a plan makes room for to be updated on a device.
struct device_stepping {
  enum class scope : std::uint8_t { none, first, all } pieces = scope::none;   ///< first: what begins with layer 0
  std::uint32_t buffers = 0;            ///< of fp32 state, each with an element for every parameter
  std::vector<bool> host_only{};        ///< per layer: ties and running averages need other shards, or the host

  /// Can layers [first, last) be updated on a device?
  bool possible(std::size_t first, std::size_t last) const;
  /// And is that asked for?
  bool covers(std::size_t first, std::size_t last) const;
  friend bool operator==(const device_stepping&, const device_stepping&) = default;
};

/// Of all pieces that can for `device`, of none for `automatic`, whose split comes after the cut. `rule` may be one that
/// clips: then nothing can, as the norm of the whole model comes first.
device_stepping stepping_of(const chain& model, optimizer_place place, const update_options& rule);

/// Of one model that runs alone; times at speed 1.
struct shard_boundary {
  duration forward{};        ///< zero for the last shard
  duration backward{};
  duration promote{};        ///< parameters in
  duration demote{};         ///< gradients out
  duration update{};         ///< at home, with all threads
  duration device_update{};
  duration demote_stepped{}; ///< new parameters and state out
};

/// Time of a step, from one begin of shard 0 to the next, if the first `on_device` shards are updated on the device. At
/// home updates queue up as gradients land; a shard's new version must be back when its forward begins.
duration boundary_of(std::span<const shard_boundary> shards, std::size_t on_device);

/// How many of the first shards, at most `most`, to update on the device: the fewest of those that make a step shortest.
std::size_t best_split(std::span<const shard_boundary> shards, std::size_t most);

}  // namespace hydra
