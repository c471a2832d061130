#pragma once
// The first decision of the best of some random completions, for comparison: it costs a thousand times as much as a
// rule. Standard library only.

#include "actors/policy/policy.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hydra {

/// A completion is a list schedule of the remaining work: whenever a device is free it takes a piece of a model, of the
/// longest or, one time in four, of a random one. A piece is at least a unit; a model has at most 32 pieces. Transfers
/// count for the first decision only. Each round has one completion per candidate (as the first decision), all with the
/// same random numbers. Of equal ends the first candidate is chosen.
class rollout final : public policy {
 public:
  explicit rollout(std::uint64_t seed, std::size_t samples = 16) : state_(seed), samples_(samples) {}

  std::string name() const override { return "rollout"; }

  std::optional<std::size_t> choose(const device_state& device, std::span<const candidate> candidates,
                                    const policy_view& view) override;

 private:
  /// Times in nanoseconds from now.
  struct machine {
    double free = 0;
    double speed = 1;
  };
  struct job {
    double ready = 0;    ///< end of its units that run or are staged
    double left = 0;     ///< remaining time at speed 1
    double piece = 0;
  };

  void look(const policy_view& view);
  double first_move(const device_state& device, const candidate& c, const policy_view& view);
  double complete(std::uint64_t seed, double end);
  std::size_t next_job(double at, std::uint64_t& random) const;
  std::size_t any_ready(double at, std::uint64_t& random) const;

  std::uint64_t state_;
  std::size_t samples_;
  std::vector<machine> machines_;
  std::vector<job> jobs_;
  std::vector<machine> machines_now_;
  std::vector<job> jobs_now_;
};

}  // namespace hydra
