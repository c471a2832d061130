#pragma once
// Default decisions while a model is left whose steps have several lanes: replicas or waves. Standard library only.

#include "actors/policy/stages.hpp"
#include "actors/policy/visit_times.hpp"

#include <cstddef>
#include <cstdint>
#include <map>

namespace hydra {

/// Lanes are scheduled by longest remaining time, which includes that of later waves that wait for their gradient sums.
/// Replicas of one model are then at the same shard, and share its copy in a cache. For a model of several lanes there
/// is more:
///
/// * If it has waves, there are devices for all replicas of all models, and loading a shard takes longer than a forward
///   visit, or units wait for the write-back of the one before when they move to another device and lanes share
///   devices, then its replicas are pipelines on devices of their own, in the interleaved order, but all waves go
///   through a chunk before the next chunk: shards stay in their caches from wave to wave, or from the forward to the
///   backward visit, and gradient sums where they are continued.
/// * If it has no waves: the same in contiguous groups, so that the next shard is loaded meanwhile. Only if there are
///   two devices for each replica, if loading takes longer than a backward visit, too, and if units do not wait for
///   write-backs.
/// * If loading takes longer than a forward visit, shards that the device has come first. While there are more lanes
///   than devices, of several models, those that another device has come last: each load takes link time that other
///   units need. And so do gradients: a device where several units are being written back takes forward visits first,
///   and no backward visits while another device has much fewer of them.
/// * Pieces of a layer are for several devices: one that computes does not take a piece whose input it is still writing
///   back, because another device may take it then. Each device takes those that it has, and leaves to another one that
///   is free what that one has: it may have kept what the forward visit has computed.
class several_lanes {
 public:
  static bool in(const policy_view& view);
  /// Two of the candidates, of different models, read the same base.
  static bool share_base(std::span<const candidate> candidates);

  /// `times`: of all candidates.
  explicit several_lanes(const seen_times& times) : times_(times) {}

  std::optional<std::size_t> choose(const device_state& device, std::span<const candidate> candidates,
                                    const policy_view& view);

 private:
  /// Of a model with pieces side by side.
  static bool is_piece(const candidate& c, const policy_view& view);
  /// A free device would take it: one that has its shard, as the asked one has not.
  bool belongs_elsewhere(const candidate& c, const policy_view& view) const;
  void count(const policy_view& view);
  /// Remaining time from the unit on; where lanes are few, through the later waves that continue its gradient sums.
  duration path(const candidate& c, const policy_view& view) const;
  /// There are more lanes than devices, of several models.
  bool crowded(const policy_view& view) const;
  bool is_pipeline(const candidate& c, const policy_view& view) const;
  bool waits(const candidate& c, const device_state& device, const policy_view& view) const;
  /// While another device writes back much fewer units.
  bool refuses(device_id device, const candidate& c, const policy_view& view) const;
  stages own_stages(const candidate& c, const policy_view& view) const;
  bool writes_slowly(const candidate& c, const policy_view& view) const;
  bool adds_write_back(const candidate& c, const device_state& device, const policy_view& view) const;
  std::size_t write_backs(device_id device) const;
  std::uint8_t load_rank(const candidate& c, const policy_view& view) const;

  const seen_times& times_;
  std::map<model_id, std::size_t> replicas_before_;   ///< of the models before it in the view
  std::size_t replicas_ = 0;                          ///< of all models
  std::map<device_id, std::size_t> write_backs_;      ///< units that have computed there and are in flight
  std::size_t least_write_backs_ = 0;                 ///< of the device that has the fewest
  bool waits_for_copies_ = false;                     ///< units that have computed were seen in flight
};

}  // namespace hydra
