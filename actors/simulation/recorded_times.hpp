#pragma once
// Times of the operations of a run, to simulate it again: by the labels of its trace.

#include "partition/plan/plan.hpp"
#include "runtime/device/device.hpp"
#include "runtime/trace/trace.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hydra {

/// The parts of a span's label (of a device or of the optimizer): "parameters of gpt-a forward 2 step 7 micro-batch 1"
/// has the class "parameters of gpt-a forward 2", step 7, micro-batch 1; the subject is the text before " of ", or
/// empty.
struct span_label {
  std::string_view subject;
  std::string_view model;
  std::string_view way;  ///< "forward", "backward", "evaluate"; empty for updates
  std::uint32_t shard = 0;
  std::uint32_t step = 0;
  std::uint32_t micro_batch = 0;
};

/// None if the text is not such a label. Views into `detail`.
std::optional<span_label> parse_label(std::string_view detail);

/// The queue of this device that a span's track belongs to.
std::optional<queue_kind> queue_of_track(std::string_view track, std::string_view device);

/// Operations of a run by label, 16 bytes each. Times of computations are kept at speed 1.
class recorded_times {
 public:
  void add(queue_kind queue, const std::string& device, double speed, const span& s);
  /// Of the optimizer.
  void add_update(const span& s);

  /// On a device of that name and speed. A computation: as recorded on any device; a copy: as recorded on that
  /// device, else the mean of its class there, else of its class anywhere, else of the same bytes in the other
  /// direction of the step (parameters are copied to forward and backward visits). Each recorded operation is used
  /// once. None if there is no such class.
  std::optional<duration> take(queue_kind queue, const std::string& device, double speed, const operation& op);

  /// Makes all recorded operations available again, for another simulation of the run.
  void rewind();

  /// Mean over all steps; none if none was recorded. At speed 1, all visits of a step together.
  std::optional<duration> mean_visit(const std::string& model, std::string_view way, std::uint32_t shard) const;
  std::optional<duration> mean_update(const std::string& model, std::uint32_t shard) const;

  /// Of one micro-batch.
  std::optional<duration> mean_computation(const std::string& model, std::string_view way, std::uint32_t shard) const;

  /// Mean deviation of computations from the mean of their class, as a share of it; each counts by its time.
  double spread() const;

  bool empty() const noexcept { return classes_.empty(); }

 private:
  struct sums {
    double nanoseconds = 0;
    std::uint64_t count = 0;
    void add(duration d);
    std::optional<duration> mean() const;
  };
  struct recorded_operation {
    std::uint32_t step;
    std::uint32_t micro_batch;
    duration took;
  };
  /// Operations whose labels differ in step and micro-batch only.
  struct operation_class {
    /// by step and micro-batch from the first take() on; equal ones by their ends
    std::vector<recorded_operation> all;
    std::vector<bool> used;
    sums total;
    bool sorted = true;
    void add(const span_label& l, duration d);
    std::optional<duration> take(const span_label& l);
  };
  std::optional<duration> mean_of(const std::string& key) const;

  std::map<std::string, operation_class> classes_;  ///< of copies also by device, if they can be taken one by one
  std::map<std::string, sums> visits_;              ///< by model, way and shard: sums per visit
  std::map<std::string, sums> updates_;
};

/// The shards of a plan take the means of the times that were recorded of this model.
void set_times(model_plan& plan, const recorded_times& times);

}  // namespace hydra
