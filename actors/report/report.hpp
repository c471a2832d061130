#pragma once
// The report of a run: makespan next to proven bounds, devices, models. Pure data.

#include "actors/policy/bounds.hpp"
#include "actors/report/expenses.hpp"
#include "actors/report/time_breakdown.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/device/precision.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hydra {

struct device_report {
  std::string name;
  std::string kind;
  std::string model{};          ///< model of the device, such as "NVIDIA H100"; may be empty
  precision numbers = precision::fp32;
  double speed = 1.0;
  duration busy{};              ///< compute queue, including the sleep of `speed`
  duration exposed_transfer{};  ///< device idle while a copy of its next unit ran
  byte_count h2d_bytes;
  byte_count d2h_bytes;
  std::uint64_t cache_hits = 0;
  std::uint64_t cache_misses = 0;
  std::uint64_t saved = 0;      ///< micro-batches of backward visits that had what the forward visit saved
  std::uint64_t recomputed = 0; ///< those that computed the forward again
  byte_count peak;              ///< from the allocator's own counter
  byte_count budget;
  byte_count reserve;           ///< part of it that blocks cannot use
  time_breakdown time;                   ///< parts of the makespan
  expense spent{};
  std::string energy_source{};           ///< "stated", the meter; empty: its energy is not known
  expense_terms terms{};                 ///< by which that was computed
  bool lost = false;
  std::string reason{};                  ///< why it was lost
};

enum class model_status : std::uint8_t { finished, failed, stopped, interrupted, paused, under_way };

/// One evaluation on validation data.
struct validation_report {
  std::uint32_t step = 0;             ///< steps complete before it
  double loss = 0;                    ///< mean over the targets
  std::optional<double> perplexity{};   ///< exp(loss), of language models
  std::optional<double> accuracy{};     ///< share of the targets that were predicted correctly
  std::optional<double> floor{};        ///< log-loss of the data's source itself on the same targets, where it is known
  std::optional<double> entropy{};      ///< of its targets, given what the model sees: the floor on average
};

struct model_report {
  std::string name;
  std::string family;
  std::int64_t parameters = 0;
  std::int64_t frozen_parameters = 0;  ///< of these
  std::vector<std::size_t> cuts;      ///< first layer of each shard
  std::uint32_t replicas = 1;
  std::uint32_t waves = 1;
  std::uint32_t pieces = 1;           ///< of each layer that is divided, ...
  bool side_by_side = false;          ///< ... that several devices compute at the same time
  pipeline_time pipeline{};           ///< of steps in waves
  model_status status = model_status::finished;
  fault error;                        ///< of a failed model
  std::string reason{};               ///< what has stopped it, where that is known
  bool unsaved = false;               ///< its last checkpoint could not be written
  std::uint32_t steps = 0;            ///< completed
  std::uint32_t steps_before = 0;     ///< of them, before this run
  std::uint64_t tokens = 0;           ///< targets trained on, without padding
  duration elapsed{};                 ///< first unit to last update
  std::vector<float> loss;            ///< every step
  std::vector<float> grad_norm;       ///< every step, if clipping
  std::vector<validation_report> validation;
  std::string digest;                 ///< "sha256:..."
  double priority = 1;
  duration arrival{};                 ///< since the start of the run, as the next two
  std::optional<duration> deadline{};
  /// its last update or evaluation; not of a model that failed or was interrupted
  std::optional<duration> completed{};
  expense spent{};                    ///< its share of the run's, in all parts of the run
};

/// A node of a cluster.
struct node_report {
  std::string name;
  std::uint32_t devices = 0;
  duration joined{};               ///< since the start of the run; 0: before
  std::optional<duration> used{};  ///< from then, or from the start, until its first model was trained
  std::uint32_t models = 0;        ///< that were trained there, for a time
  byte_count exchanged{};  ///< gradient sums and losses that it has sent to nodes with which it trained models together
  duration exchanging{};   ///< for which such exchanges were under way
  std::uint32_t failures = 0;  ///< times that it could not save or get a model, because of its disk or the network
  std::string outcome;             ///< "left", "lost", why its run has failed; empty: it was there to the end
};

/// What a run of several machines has in addition.
struct cluster_report {
  std::vector<node_report> nodes{};
  std::uint32_t moves = 0;   ///< of models, from one node to another, although nothing was lost
  duration transit{};        ///< for which these were not trained, all together
  std::uint32_t redone = 0;  ///< steps that were trained again, because a node was lost
  byte_count moved{};        ///< of checkpoints that have come from nodes
};

struct report {
  std::string name;
  std::uint64_t seed = 0;
  std::string policy;
  duration makespan{};                ///< first prefetch to last update or evaluation
  bounds limits;                      ///< at the smallest time of each class of units: proven
  bounds usual;                       ///< the same at their mean times (unit_times_record): no bound
  expense spent{};                    ///< of all devices and the host, during the makespan, and before
  expense before{};                   ///< of it, in the parts of the run before it was resumed
  expense gone{};                     ///< of that, by models that are not in `models`: copies that were made anew
  expense_gaps spent_gaps{};          ///< what `spent` lacks: a part of the run had no price, or its record was lost
  expense host_spent{};               ///< of it
  std::string host_energy_source{};   ///< as of devices
  expense_terms host_terms{};
  std::string currency{};             ///< may be empty
  std::optional<double> grams_per_kwh{};  ///< of carbon dioxide
  duration load{};                    ///< initialising parameters
  duration pilot{};
  duration save{};                    ///< from the last update to the last model's checkpoint
  std::uint32_t checkpoints = 0;      ///< saved by this run
  duration checkpoint_time{};         ///< spent writing them, in parallel with the run
  std::uint32_t unsaved = 0;          ///< models whose last checkpoint could not be written
  bool interrupted = false;           ///< by session::interrupt()
  std::string callbacks_lost;         ///< why, and after which event, a callback, or all, ended early; empty: none did
  std::vector<std::string> notes;     ///< for the user: checkpoints passed over, devices lost, ...
  std::uint64_t decisions = 0;
  duration decision_mean{};
  duration decision_p99{};
  duration decision_wait{};           ///< of idle devices, for the decisions that gave them units; summed
  std::uint32_t replaced = 0;         ///< policies that failed or chose nothing; `notes` says why
  std::vector<device_report> devices;
  std::vector<model_report> models;   ///< workload order
  cluster_report cluster;             ///< without nodes: the run had one machine
  byte_count host_peak;
  byte_count host_budget;
  byte_count process_peak;             ///< of the whole process, including memory outside the host budget; 0: not known
  byte_count trace;                    ///< part of it: the trace
  duration optimizer_busy{};

  duration bound() const { return limits.best(); }
  std::string bound_name() const { return limits.best_name(); }
  /// bound / makespan.
  double efficiency() const;
  bool all_finished() const noexcept;
};

std::string to_string(model_status s);
/// "finished", "finished, not saved".
std::string status_text(const model_report& m);
/// Bubble / (bubble + compute): the share of its devices' time that a pipeline of equal stages leaves idle.
double bubble_share(const pipeline_time& t);
/// Whether some model of the run has steps in several replicas, layers in pieces, or steps in waves.
bool has_replicas(const report& r);
bool has_pieces(const report& r);
bool has_waves(const report& r);
/// The evaluation with the smallest loss, the first of equal ones; null if none has a finite one.
const validation_report* best_validation(const model_report& m);
/// The order of tables: the smallest validation loss first, models without one behind them, failed ones last; else as
/// in the workload.
std::vector<const model_report*> ranked(const report& r);

}  // namespace hydra
