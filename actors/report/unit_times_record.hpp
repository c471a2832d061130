#pragma once
// The times that the units of a model have taken, by class: what the bounds of a report are made of.

#include "actors/policy/bounds.hpp"
#include "actors/protocol/visit_times.hpp"
#include "partition/execute/sharded_model.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/unit.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace hydra {

/// Of any number of times, in little memory.
class time_sample {
 public:
  void add(duration t);
  /// The smallest one; 0 if there is none.
  duration least() const noexcept { return count_ > 0 ? least_ : duration{}; }
  /// Their mean without those above three times their median: a core that did something else.
  duration mean() const;

 private:
  struct part {
    std::uint64_t count = 0;
    double sum = 0;  ///< ns
  };
  std::map<int, part> parts_;  ///< 4 for each power of two: a few, however the times vary
  std::uint64_t count_ = 0;
  duration least_{};
};

/// All but times, steps and evaluations.
unit_times without_times(const model_plan& plan);

/// At speed 1.
class unit_times_record {
 public:
  explicit unit_times_record(const sharded_model& m);

  void add(const unit& u, const visit_times& t);
  void add_update(shard_index shard, duration took) { update_[shard.value].add(took); }

  /// Fill the times; the rest of the argument stays as it is. A class that was not measured takes no time.
  void smallest(unit_times& into) const { fill(into, &time_sample::least); }
  void usual(unit_times& into) const { fill(into, &time_sample::mean); }

 private:
  void fill(unit_times& into, duration (time_sample::*value)() const) const;

  using per_shard = std::vector<time_sample>;
  std::array<per_shard, 3> visits_;  ///< by direction; of evaluations one micro-batch
  per_shard promote_, promote_base_, demote_, update_;
  std::vector<bool> crosses_;  ///< its versions cross a link: no device steps it
};

}  // namespace hydra
