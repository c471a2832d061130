#pragma once
// How long the operations of a run took, to simulate it again: by the labels of its trace.

#include "runtime/device.hpp"
#include "runtime/trace.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace hydra {

/// What a span of a device or of the optimizer is about: "parameters of gpt-a forward 2 step 7 micro-batch 1" has the
/// class "parameters of gpt-a forward 2", step 7, micro-batch 1; the subject is what stands before " of ", or empty.
struct span_label {
  std::string_view subject;
  std::string_view model;
  std::string_view way;  ///< "forward", "backward", "evaluate"; empty for updates
  std::uint32_t shard = 0;
  std::uint32_t step = 0;
  std::uint32_t micro_batch = 0;
};

/// Nothing if the text is no such label. Views into `detail`.
std::optional<span_label> parse_label(std::string_view detail);

/// Operations of a run by label. Times of computations are kept at speed 1.
class recorded_times {
 public:
  void add(queue_kind queue, const std::string& device, double speed, const span& s);
  /// Of the optimizer.
  void add_update(const span& s);

  /// On a device of that name and speed. A computation: as recorded, wherever that was; a copy: as recorded on that
  /// device, else the mean of its class there, else of its class anywhere, else of the same bytes in the other
  /// direction of the step (parameters are copied to forward and backward visits). Each recorded operation is used
  /// once. Nothing if there is no such class.
  std::optional<duration> take(queue_kind queue, const std::string& device, double speed, const operation& op);

  /// Mean over all steps; nothing if none was recorded. At speed 1, whole visits.
  std::optional<duration> mean_visit(const std::string& model, std::string_view way, std::uint32_t shard) const;
  std::optional<duration> mean_update(const std::string& model, std::uint32_t shard) const;

  bool empty() const noexcept { return classes_.empty(); }

 private:
  struct sums {
    double nanoseconds = 0;
    std::uint64_t count = 0;
    void add(duration d);
    std::optional<duration> mean() const;
  };
  std::optional<duration> mean_of(const std::string& key) const;

  std::map<std::string, std::deque<duration>>
      single_;                           ///< by label, copies with their device; in the order of their ends
  std::map<std::string, sums> classes_;  ///< by label without step; copies also with their device
  std::map<std::string, sums> visits_;   ///< by model, way and shard: sums per visit
  std::map<std::string, sums> updates_;
};

}  // namespace hydra
