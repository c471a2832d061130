#pragma once
// Laxity at the measured pace, models that stay on their devices, and consecutive backwards if gradients block loads.
// Results: actors/policy/STUDY.md. Standard library only.

#include "actors/policy/band.hpp"
#include "actors/policy/drains.hpp"
#include "actors/policy/near_level.hpp"
#include "actors/policy/pace.hpp"
#include "actors/policy/several_lanes.hpp"
#include "actors/policy/step_boundary.hpp"
#include "actors/policy/visit_times.hpp"

#include <cstddef>
#include <map>

namespace hydra {

struct stay_pace_options {
  critical_margin margin{.units = 2, .share = 0.05};
  double stay_units = 30;   ///< of several speeds: see near_level
};

/// If no device is ever asked while it computes (no double buffer) it is stay-hold: decisions are late then, and no
/// staged unit could be grouped or wait. Otherwise the slot of a critical model (laxity against the end at the measured
/// pace) is kept at its step boundary, unless it has units to spare; on equal devices that of the one that is free
/// next. Several speeds: level scheduling that stays longer (near_level). Equal speeds: the longest critical candidate
/// first; without any the device's own model, else the least avoidable transfer, of equals the longest.
///
/// If loads are measured to wait for gradients, a forward after a backward hides nothing. Then a device whose model has
/// reached its first backward takes forwards of other models first, and a device that has computed a backward takes
/// backwards.
///
/// If loading a shard takes longer than a forward visit, one visit does not hide it: at equal speeds, unless
/// several_lanes decides, units are staged behind each other. Behind a staged unit goes what follows it in its lane,
/// unless a longer critical candidate would wait for it and it is not critical itself; another model only while none is
/// critical. If a load takes no longer than the mean visit, and all models could end in time at half of their pace,
/// forward and backward visits of two models alternate: the surplus of the one pays for the other. If loads take
/// longer, the device stays with its model, whose shards its cache then has, and waits a moment for its next unit to be
/// announced. Where one visit hides a load, decisions are made as late as possible: one unit is staged at a time.
///
/// While there is a model whose steps have several lanes, and once models were seen that read the same base,
/// several_lanes decides on devices of equal speeds: a shard that is loaded serves all models whose next units read it.
class stay_pace final : public policy {
 public:
  explicit stay_pace(const stay_pace_options& options = {}) : options_(options), mixed_(options.stay_units) {}

  std::string name() const override { return "stay-pace"; }

  std::optional<std::size_t> choose(const device_state& device, std::span<const candidate> candidates,
                                    const policy_view& view) override;
  std::uint32_t depth() const override { return most_staged; }
  void model_left(model_id model) override {
    times_.forget(model);
    patience_.forget(model);
  }
  void device_left(device_id device) override {
    drains_.forget(device);
    patience_.forget(device);
    expected_.erase(device);
    late_.device_left(device);
  }

 private:
  std::optional<std::size_t> next(const device_state& device, std::span<const candidate> candidates,
                                  const policy_view& view);
  double laxity(const device_state& device, duration remaining, const policy_view& view) const;
  double margin(duration unit) const;
  /// A model that is `pace` times slower than alone could not end in time.
  bool any_critical(const device_state& device, double margin, const policy_view& view, int pace = 1) const;
  std::optional<std::size_t> behind(const device_state& device, std::span<const candidate> candidates, double margin,
                                    const policy_view& view);
  std::optional<std::size_t> following(const device_state& device, std::span<const candidate> candidates,
                                       double margin, const policy_view& view) const;
  bool goes_on(const device_state& device, const policy_view& view);
  bool holds(const device_state& device, const policy_view& view);
  std::size_t relaxed(const device_state& device, std::span<const candidate> candidates) const;
  std::size_t in_turn(const device_state& device, std::span<const candidate> candidates) const;

  /// The next unit of a device's own model, before it is announced.
  struct expected_unit {
    model_id model;
    duration remaining{};   ///< of that unit
    time_point since;
  };

  stay_pace_options options_;
  seen_times times_;
  several_lanes lanes_{times_};
  band late_{{.stay = true}};
  bool shared_ = false;     ///< models were seen that read the same base
  bool early_ = false;      ///< a device was asked while it computed
  near_level mixed_;
  fluid left_;
  pace pace_;
  drains drains_;
  std::map<device_id, expected_unit> expected_;
  patience patience_;
  double end_ = 0;
};

}  // namespace hydra
