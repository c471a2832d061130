#include "actors/policy/bounds.hpp"

#include "actors/policy/speed.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <set>
#include <span>
#include <utility>

namespace hydra {

namespace {

/// Classes that were not measured take no time: it is still a lower bound.
duration at(const std::vector<duration>& times, std::size_t shard) {
  return shard < times.size() ? times[shard] : duration::zero();
}

/// One evaluation, at speed 1.
duration evaluation_of(const unit_times& m) {
  return std::accumulate(m.evaluate.begin(), m.evaluate.end(), duration::zero()) * m.evaluation_micro_batches;
}

/// Units of a shard in one lane of a step, at speed 1.
duration both_visits(const unit_times& m, std::size_t shard) {
  const bool last = shard + 1 == m.backward.size();
  return m.backward[shard] + (last ? duration::zero() : at(m.forward, shard));
}

/// All units of a model, at speed 1.
double work_of(const unit_times& m) {
  const auto shape = shape_of(m);
  double step = 0;
  for (std::uint32_t s = 0; s < m.backward.size(); ++s) {
    step += static_cast<double>(both_visits(m, s).count()) * shape.visits_of(s);
  }
  return step * m.steps +
         static_cast<double>(evaluation_of(m).count()) * m.evaluations;
}

/// Of each lane, but evaluations: the shards of a piece, and those that are alone with piece 0. Replicas that meet have
/// the shards below in lanes of their own.
void add_lanes(const unit_times& m, std::vector<double>& works) {
  const auto shape = shape_of(m);
  std::vector<double> pieces(shape.abreast);
  double below = 0;
  for (std::uint32_t s = 0; s < m.backward.size(); ++s) {
    const auto* group = group_of(shard_index{s}, m.groups);
    const auto work = static_cast<double>(both_visits(m, s).count()) * m.steps;
    pieces[group ? s - group->first : 0] += work;
    below += shape.meet_at(s) ? 0 : work;
  }
  if (m.meets > 0) {
    works.insert(works.end(), pieces.begin(), pieces.end());
    works.insert(works.end(), m.replicas - 1, below);
    return;
  }
  for (const auto piece : pieces) {
    works.insert(works.end(), shape.visits(), piece);
  }
}

/// Longest path of the replica that the first lane belongs to, on devices of its own, one for each wave. A version of a
/// shard is ready when the gradients of the last wave are on the host and its update is done; a forward visit (the last
/// shard's is part of its backward) must load it first. The ranges of an evaluation are dealt to the lanes in turn, so
/// the first lane has at least an even share of its micro-batches, and starts the step after them.
///
/// B_s of a wave follows B_{s+1} of its own and B_s of the wave before. A path from B_{S-1} of the first wave to B_s of
/// the last one passes b_{S-1} .. b_s once on its way down, and once more the shard at which it goes over to the next
/// wave, W - 1 times: at best always the longest of them. All its visits follow each other, so the sum is a lower
/// bound. Shards side by side begin together on devices of their own; what follows them waits for the last one.
class model_alone {
 public:
  model_alone(const unit_times& times, double speed)
      : times_(times),
        speed_(speed),
        share_((times.evaluation_micro_batches + shape_of(times).lanes() - 1) / shape_of(times).lanes()),
        ready_(times.backward.size()) {}

  /// Visits every shard of the newest versions in order; returns the end.
  duration run_evaluation() {
    for (std::size_t s = 0; s < ready_.size(); ++s) {
      now_ = loaded(s) + time_on(speed_, at(times_.evaluate, s) * share_);
    }
    return now_;
  }

  /// End of the step's last unit.
  duration run_step() {
    const auto shards = ready_.size();
    for (std::size_t s = 0; s + 1 < shards; s = past(s)) {
      auto end = now_;
      for (auto piece = s; piece < past(s); ++piece) {
        end = std::max(end, loaded(piece) + time_on(speed_, at(times_.forward, piece)));
      }
      now_ = end;
    }
    now_ = loaded(shards - 1);
    duration longest{};
    auto first_wave = now_;
    for (auto s = shards; s > 0;) {
      const auto past_piece = s;
      s = first(s - 1);
      duration slowest{};
      for (auto piece = s; piece < past_piece; ++piece) {
        const auto visit = time_on(speed_, times_.backward[piece]);
        const auto end = first_wave + visit + std::max(longest, visit) * (times_.waves - 1);
        ready_[piece] = end + at(times_.demote, piece) + at(times_.update, piece);
        slowest = std::max(slowest, visit);
      }
      first_wave += slowest;
      longest = std::max(longest, slowest);
      now_ = first_wave + longest * (times_.waves - 1);
    }
    return now_;
  }

  duration last_version() const { return *std::ranges::max_element(ready_); }

 private:
  duration loaded(std::size_t s) const { return std::max(now_, ready_[s] + at(times_.promote, s)); }

  /// Of the shards side by side with it.
  std::size_t first(std::size_t s) const {
    const auto* group = group_of(shard_index{static_cast<std::uint32_t>(s)}, times_.groups);
    return group ? group->first : s;
  }
  std::size_t past(std::size_t s) const {
    const auto* group = group_of(shard_index{static_cast<std::uint32_t>(s)}, times_.groups);
    return group ? group->past() : s + 1;
  }

  const unit_times& times_;
  double speed_;
  std::uint32_t share_;
  std::vector<duration> ready_;
  duration now_{};
};

/// The last shard's visit is the last one of a step that waits; the rest has fixed times. So every step ends in the
/// same state relative to its end, and all steps from the second on take equally long; so do all steps after an
/// evaluation.
duration chain_of(const unit_times& m, double speed) {
  if (m.steps == 0 || m.backward.empty()) {
    return duration::zero();
  }
  model_alone alone{m, speed};
  const auto first = alone.run_step();
  const auto tail = alone.last_version() - first;
  const auto second = alone.run_step();
  const auto each = second - first;
  alone.run_evaluation();
  const auto evaluated = alone.run_step() - second;
  const auto last = std::max(tail, alone.run_evaluation() - (second + evaluated));
  const auto outside = (m.evaluated_first ? 1U : 0U) + (m.evaluated_last ? 1U : 0U);
  const auto between = std::min(m.evaluations - std::min(outside, m.evaluations), m.steps - 1);
  return first + each * (m.steps - 1 - between) + evaluated * between + (m.evaluated_last ? last : tail);
}

duration rounded_down(double nanoseconds) { return duration{static_cast<std::int64_t>(nanoseconds)}; }

duration work_bound(double all, std::span<const double> speeds) {
  return rounded_down(all / std::accumulate(speeds.begin(), speeds.end(), 0.0));
}

/// The units of a lane follow each other, on one device at a time, so k lanes keep at most k devices busy. Of a model's
/// lanes some k have at least k times the mean of their work, if none is of a piece. (The backward visits of a
/// replica's waves also wait for each other, which can only make a schedule longer.)
duration uniform_bound(std::vector<double> works, std::vector<double> speeds) {
  std::ranges::sort(works, std::greater{});
  std::ranges::sort(speeds, std::greater{});
  double most = 0;
  double work = 0;
  double speed = 0;
  for (std::size_t k = 0; k + 1 < speeds.size() && k < works.size(); ++k) {
    work += works[k];
    speed += speeds[k];
    most = std::max(most, work / speed);
  }
  return rounded_down(most);
}

/// `times` of all shards, once for each of `count` versions.
double sum_over_versions(const std::vector<duration>& times, std::uint32_t count) {
  return static_cast<double>(std::accumulate(times.begin(), times.end(), duration::zero()).count()) * count;
}

/// What a visit needs on its device.
struct needed_copy {
  duration time{};  ///< on a link
  byte_count bytes{};
};

/// Time on links for what has to be copied if `room` bytes are left of `needed`, at least: those are left that take the
/// longest to copy for their bytes; of the last of them a part counts in proportion.
double missing(std::vector<needed_copy> needed, byte_count room) {
  const auto per_byte = [](const needed_copy& c) {
    return static_cast<double>(c.time.count()) / static_cast<double>(std::max<std::uint64_t>(c.bytes.value(), 1));
  };
  std::ranges::sort(needed, std::greater{}, per_byte);
  auto left = static_cast<double>(room.value());
  double copies = 0;
  for (const auto& c : needed) {
    const auto bytes = static_cast<double>(c.bytes.value());
    const auto held = bytes > left ? left / bytes : 1.0;
    copies += static_cast<double>(c.time.count()) * (1 - held);
    left -= bytes * held;
  }
  return copies;
}

/// Copies of parameters that one model's visits need in each step. Each version has to come to a device before F_s (of
/// the last shard, before its only visit). When the first lane's visit of the last shard has all its bytes, the devices
/// have at most as many bytes of the others as it leaves of their memory: what is neither there nor on its way is
/// copied once more before the lane's B_s ends. The last shard's visit separates the two copies, so neither counts
/// twice.
double parameter_copies(const unit_times& m, byte_count memory) {
  std::vector<needed_copy> down;
  for (std::size_t s = m.first_trained; s + 1 < m.parameters.size(); ++s) {
    down.push_back({at(m.promote, s), m.parameters[s]});
  }
  const auto room = memory > m.last_visit ? memory - m.last_visit : byte_count{};
  return missing(std::move(down), room) * m.steps + sum_over_versions(m.promote, m.steps + (m.evaluated_last ? 1 : 0));
}

/// Copies of frozen parameters that one model's visits need, whoever else visits. A visit needs its base on its device,
/// and bases come to devices only over links. In each step a model visits all shards from F_0 to B_{S-1}, and from
/// B_{S-1} to the next F_0 those from the first trained one on. When such a walk starts, the devices have at most as
/// many bytes of bases as they have memory: what is neither there nor on its way is copied before the walk ends. The
/// walks of a model follow each other, so no copy counts twice. When the run starts there are no bases on the devices.
double base_copies(const unit_times& m, byte_count memory) {
  if (m.steps == 0 || m.bases.empty()) {
    return 0;
  }
  std::vector<needed_copy> up;
  for (const auto& b : m.bases) {
    up.push_back({b.promote, b.bytes});
  }
  const std::vector down(up.begin() + std::min<std::ptrdiff_t>(m.first_trained, std::ssize(up) - 1), up.end());
  auto turn = down;
  if (m.first_trained > 0) {
    turn.push_back(up.front());
  }
  return missing(up, {}) + (missing(up, memory) + missing(turn, memory)) * (m.steps - 1) + missing(down, memory);
}

/// A copy serves all models that share the base: of models that have a base in common one counts, that which needs
/// most.
double shared_base_copies(std::span<const unit_times> models, byte_count memory) {
  std::vector<std::pair<double, const unit_times*>> needed;
  for (const auto& m : models) {
    needed.emplace_back(base_copies(m, memory), &m);
  }
  std::ranges::stable_sort(needed, std::greater{}, [](const auto& each) { return each.first; });
  double total = 0;
  std::set<block_id> counted;
  const auto is_counted = [&](const base_copy_times& b) { return b.shared && counted.contains(*b.shared); };
  for (const auto& [copies, m] : needed) {
    if (std::ranges::any_of(m->bases, is_counted)) {
      continue;
    }
    total += copies;
    for (const auto& b : m->bases) {
      if (b.shared) {
        counted.insert(*b.shared);
      }
    }
  }
  return total;
}

void add_transfers(bounds& b, std::span<const unit_times> models, const resources& machines) {
  double up = shared_base_copies(models, machines.memory);
  double down = 0;
  double update = 0;
  for (const auto& m : models) {
    up += parameter_copies(m, machines.memory);
    const auto shape = shape_of(m);
    for (std::uint32_t s = 0; s < m.demote.size(); ++s) {
      down += static_cast<double>(m.demote[s].count()) * m.steps * shape.visits_of(s);
    }
    update += sum_over_versions(m.update, m.steps);
  }
  const auto links = static_cast<double>(machines.speeds.size());
  b.h2d = rounded_down(up / links);
  b.d2h = rounded_down(down / links);
  b.optimizer = rounded_down(update / machines.optimizer_workers);
}

}  // namespace

step_shape shape_of(const unit_times& m) {
  return {.shards = static_cast<std::uint32_t>(m.backward.size()),
          .micro_batches = m.replicas * m.waves,
          .replicas = m.replicas,
          .waves = m.waves,
          .abreast = most_side_by_side(m.groups),
          .meets = m.meets};
}

std::vector<bounds::named> bounds::all() const {
  return {{"work", work}, {"chain", chain}, {"uniform", uniform}, {"h2d", h2d}, {"d2h", d2h}, {"optimizer", optimizer}};
}

duration bounds::best() const { return std::ranges::max(all(), {}, &named::value).value; }

std::string bounds::best_name() const { return std::ranges::max(all(), {}, &named::value).name; }

bounds lower_bounds(std::span<const unit_times> models, const resources& machines) {
  bounds b;
  if (machines.speeds.empty() || models.empty()) {
    return b;
  }
  std::vector<double> works;
  double all = 0;
  for (const auto& m : models) {
    all += work_of(m);
    if (const auto shape = shape_of(m); shape.lanes_alike()) {
      works.insert(works.end(), shape.lanes(), work_of(m) / shape.lanes());
    } else {
      add_lanes(m, works);
    }
    b.chain = std::max(b.chain, chain_of(m, std::ranges::max(machines.speeds)));
  }
  b.work = work_bound(all, machines.speeds);
  b.uniform = std::max(uniform_bound(works, machines.speeds), b.work);
  add_transfers(b, models, machines);
  return b;
}

}  // namespace hydra
