#pragma once
// What is known of a model before it is trained: how long, how large, and what decides its results.

#include "runtime/base/bytes.hpp"

#include <cstdint>
#include <string>

namespace hydra {

struct model_description;
struct model_plan;
struct prepared_model;

struct model_estimate {
  std::string name{};
  std::string identity{};    ///< identity_of() it
  std::string arithmetic{};  ///< kinds of devices, threads, versions: what else decides bits
  std::uint32_t steps = 0;
  duration work{};          ///< computations of all steps and evaluations, one after the other, at speed 1
  byte_count checkpoint{};  ///< checkpoint_bytes() of it
  std::uint32_t nodes = 1;  ///< model_description::nodes
  bool gathers = false;     ///< gathers_sums() of it
};

/// By the times of the plan.
model_estimate estimate_of(const model_description& m, const prepared_model& p, const model_plan& plan);

}  // namespace hydra
