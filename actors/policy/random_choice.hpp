#pragma once
// Any candidate: a baseline. Standard library only.

#include "actors/policy/policy.hpp"

#include <cstdint>
#include <random>

namespace hydra {

/// The same choices for the same seed, on every platform: std::mt19937 is specified to the bit, distributions are not.
class random_choice final : public policy {
 public:
  explicit random_choice(std::uint64_t seed) : generator_(static_cast<std::mt19937::result_type>(seed)) {}

  std::string name() const override { return "random"; }

  std::optional<std::size_t> choose(const device_state&, std::span<const candidate> candidates,
                                    const policy_view&) override {
    return generator_() % candidates.size();
  }

 private:
  std::mt19937 generator_;
};

}  // namespace hydra
