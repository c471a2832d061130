#pragma once
// One model, or several, trained by the real runtime on virtual devices; compared with the reference trainer.

#include "actors/session/hydra.hpp"
#include "tests/support/hanging_device.hpp"
#include "tests/support/reference_trainer.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace hydra::test {

/// What the exactness matrix varies.
struct exact_case {
  chain_description chain;
  std::shared_ptr<const data_source> data;
  std::uint32_t batch_size = 4;
  std::uint32_t micro_batches = 1;
  std::uint32_t replicas = 1;
  std::string until{};       ///< layer before which the replicas meet
  std::uint32_t waves = 1;   ///< plain training has none
  std::uint32_t steps = 3;
  update_options optimizer;
  cut_points cuts{0};   ///< empty: balanced
  std::uint32_t evaluate_every = 2;   ///< and after the last step, on all validation data
  std::uint64_t seed = 1;
  bool keep_best = false;
  precision numbers = precision::fp32;   ///< of all devices of its run
  precision gradients = precision::fp32;
};

/// A tiny GPT-2 of 3 blocks (5 layers) over a synthetic language.
exact_case tiny_gpt(double dropout, bool tied);

/// A tiny CNN of 4 blocks (6 layers), the last of which see one pixel, over synthetic images.
exact_case tiny_cnn();

struct run_options {
  std::vector<cpu_device> devices{cpu_device{.memory = byte_count{8 << 20}}};
  std::string policy = "sharded-lrtf";
  std::vector<step_callback> callbacks{};
  std::vector<evaluation_callback> evaluation_callbacks{};
  ablation_options ablation{};
  byte_count host_memory{};
  std::optional<std::size_t> second_dies_at{};   ///< operation at which the second device dies
  std::filesystem::path output{};                ///< run folder; empty: none
  checkpoint_options checkpoint{.every_steps = 0, .every_minutes = 0, .keep = 2};
  bool resume = false;
  /// Backward computation of all devices together before which the run is interrupted: whatever is done again, such as
  /// an evaluation, a run that is resumed goes on by as many.
  std::optional<std::size_t> interrupt_at{};
  /// Models that complete a step, and save it where steps are saved, before the run is interrupted: only from a whole
  /// step may they continue in other cuts.
  std::set<std::size_t> after_step_of{};
  std::optional<std::size_t> second_hangs_at{};  ///< computation of the run at which the second device hangs
  std::shared_ptr<hanging_point> hangs{};        ///< with second_hangs_at
  watch_limits watch{};
  optimizer_place optimizer_on = optimizer_place::host;
  /// Makes every device another one that works through it.
  std::function<std::unique_ptr<device>(std::unique_ptr<device>)> around{};
};

struct spilled_result {
  report summary;
  std::vector<std::map<std::string, std::vector<float>>> parameters;   ///< per model
};

/// Host memory that the plan of such a run asks for, and what of it devices copy from or to.
byte_count planned_host_memory(const std::vector<exact_case>& models, const run_options& options);
byte_count planned_transfers(const std::vector<exact_case>& models, const run_options& options);
/// The whole plan of such a run.
workload_plan plan_of(const std::vector<exact_case>& models, const run_options& options);

std::vector<std::string> names_of_policies();

/// The model "model-<i>".
model_description describe(const exact_case& m, std::size_t i);

/// The report of a session that has run, with the parameters of its models.
spilled_result with_parameters(report summary, const session& s);

/// `running`: called with the session from a thread of its own, while the run is in its first steps.
spilled_result train_spilled(const std::vector<exact_case>& models, const run_options& options,
                             const std::function<void(session&)>& running);

spilled_result train_spilled(const std::vector<exact_case>& models, const run_options& options);

/// Interrupts a run at options.interrupt_at and resumes it until it is complete; `change` is called before part `n`,
/// which may differ in models and options. No part waits for a step of models that had finished before it. Throws
/// std::runtime_error after 500 parts.
spilled_result train_in_parts(
    const std::vector<exact_case>& models, const run_options& options,
    const std::function<void(std::size_t n, std::vector<exact_case>& models, run_options& options)>& change);

/// Pieces side by side are computed in turn.
reference_result train_plain(const exact_case& model);
std::vector<reference_result> train_plain(const std::vector<exact_case>& models);

/// Empty, or the first loss, norm, evaluation or parameter that differs.
std::string difference(const reference_result& plain, const spilled_result& spilled, std::size_t model);
/// The same of several models, beginning with "model 2: "; `plain`: of the first ones.
std::string difference(std::span<const reference_result> plain, const spilled_result& spilled);

}  // namespace hydra::test
