#include "partition/execute/model_update.hpp"

#include "models/moment_layout.hpp"
#include "models/optimizer/bf16.hpp"
#include "models/optimizer/gradient_clip.hpp"
#include "models/optimizer/rounded_gradient.hpp"
#include "models/running_average.hpp"
#include "models/weights/stored_values.hpp"
#include "partition/execute/finite_parameters.hpp"

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <functional>
#include <ranges>
#include <utility>

namespace hydra {

namespace {

constexpr std::size_t added_at_once = 4096;  // values that stay in a core's cache

host_block_ptr make_base(host_arena& arena, const sharded_model& m, std::size_t shard, const base_lookup& bases) {
  const auto& plan = m.plan.shards[shard];
  if (plan.base == byte_count{}) {
    return nullptr;
  }
  auto base = plan.shared_base && bases ? bases(*plan.shared_base) : nullptr;
  if (!base) {
    base = arena.allocate(plan.base, "frozen parameters of " + m.name, host_use::transferred);
    if (base->data() != nullptr) {
      m.shards[shard].layout().initialise_base({base->data(), plan.base.value()}, *m.model, m.seed);
    }
  }
  return base;
}

}  // namespace

shard_home make_home(host_arena& arena, const sharded_model& m, std::size_t shard, const base_lookup& bases) {
  const auto& plan = m.plan.shards[shard];
  const auto state = plan.steps_on_device ? host_use::transferred : host_use::kept;
  shard_home home{.parameters = arena.allocate(plan.masters.value_or(plan.parameters), "parameters of " + m.name,
                                               plan.masters ? state : host_use::transferred),
                  .gradients = std::vector<host_block_ptr>(m.plan.shape().sums_of(static_cast<std::uint32_t>(shard))),
                  .moments = {}};
  if (plan.masters) {
    home.copy = arena.allocate(plan.parameters, "rounded parameters of " + m.name, host_use::transferred);
  }
  home.base = make_base(arena, m, shard, bases);
  for (const auto each : plan.moments) {
    home.moments.push_back(arena.allocate(each, "moments of " + m.name, state));
    if (state == host_use::transferred) {
      std::ranges::fill(home.moments.back()->floats(), 0.0F);  // the memory may have held something else
    }
  }
  return home;
}

host_block_ptr& state_buffer(shard_home& home, const shard_plan& plan, std::size_t i) {
  const std::size_t masters = plan.masters ? 1 : 0;
  return i < masters ? home.parameters : home.moments.at(i - masters);
}

void round_masters(const shard_home& home) {
  if (home.copy) {
    to_bf16(home.parameters->floats(), home.copy->halves());
  }
}

// -- order ------------------------------------------------------------------------------------------------------------

update_tracker::update_tracker(std::size_t shards, std::vector<tie> ties, bool clipping, std::vector<bool> elsewhere)
    : ties_(std::move(ties)),
      clipping_(clipping),
      elsewhere_(std::move(elsewhere)),
      written_back_(shards),
      issued_(shards),
      normed_(shards),
      stepped_(shards),
      reported_(shards) {
  skip_elsewhere();
}

/// Those that wait: an update that was started on the host before the checkpoint is completed on the host.
void update_tracker::skip_elsewhere() {
  for (std::size_t s = 0; s < elsewhere_.size(); ++s) {
    if (elsewhere_[s] && !written_back_[s]) {
      written_back_[s] = issued_[s] = stepped_[s] = reported_[s] = true;
    }
  }
}

bool update_tracker::gradients_complete(std::size_t shard) const {
  return written_back_[shard] && std::ranges::all_of(ties_, [&](const tie& t) {
           return t.owner_shard != shard || written_back_[t.copy_shard];
         });
}

bool update_tracker::version_complete(std::size_t shard) const {
  return stepped_[shard] && std::ranges::all_of(ties_, [&](const tie& t) {
           return t.copy_shard != shard || stepped_[t.owner_shard];
         });
}

std::vector<update_job> update_tracker::ready_jobs() {
  std::vector<update_job> jobs;
  const bool norms = clipping_ && !norms_known_;
  for (std::size_t s = 0; s < written_back_.size(); ++s) {
    if (!issued_[s] && gradients_complete(s)) {
      issued_[s] = true;
      jobs.push_back({norms ? update_job::kind::norms : update_job::kind::step, s});
    }
  }
  return jobs;
}

std::vector<update_job> update_tracker::written_back(std::size_t shard) {
  written_back_[shard] = true;
  return ready_jobs();
}

std::vector<update_job> update_tracker::done(const update_job& job) {
  if (job.what == update_job::kind::step) {
    stepped_[job.shard] = true;
    return {};
  }
  normed_[job.shard] = true;
  if (!std::ranges::all_of(normed_, [](bool b) { return b; })) {
    return {};
  }
  norms_known_ = true;
  issued_.assign(issued_.size(), false);
  return ready_jobs();
}

std::vector<std::size_t> update_tracker::take_complete() {
  std::vector<std::size_t> shards;
  for (std::size_t s = 0; s < reported_.size(); ++s) {
    if (!reported_[s] && version_complete(s)) {
      reported_[s] = true;
      shards.push_back(s);
    }
  }
  return shards;
}

bool update_tracker::step_complete() const noexcept {
  return std::ranges::all_of(reported_, [](bool b) { return b; });
}

void update_tracker::next_step() {
  for (auto* flags : {&written_back_, &issued_, &normed_, &stepped_, &reported_}) {
    flags->assign(flags->size(), false);
  }
  norms_known_ = false;
  skip_elsewhere();
}

std::vector<update_phase> update_tracker::phases() const {
  std::vector<update_phase> all(written_back_.size());
  for (std::size_t s = 0; s < all.size(); ++s) {
    all[s] = reported_[s]      ? update_phase::complete
             : stepped_[s] ? update_phase::stepped
             : normed_[s]  ? update_phase::normed
             : written_back_[s]  ? update_phase::written_back
                           : update_phase::waiting;
  }
  return all;
}

std::vector<update_job> update_tracker::resume(const std::vector<update_phase>& phases) {
  for (std::size_t s = 0; s < phases.size(); ++s) {
    written_back_[s] = phases[s] >= update_phase::written_back;
    normed_[s] = clipping_ && phases[s] >= update_phase::normed;
    stepped_[s] = phases[s] >= update_phase::stepped;
    reported_[s] = phases[s] == update_phase::complete;
  }
  norms_known_ = clipping_ && std::ranges::all_of(normed_, [](bool b) { return b; });
  issued_ = clipping_ && !norms_known_ ? normed_ : stepped_;
  skip_elsewhere();
  if (step_complete()) {
    next_step();  // devices complete the rest of the step
  }
  return ready_jobs();
}

// -- mathematics ------------------------------------------------------------------------------------------------------

namespace {

/// Elements that one TBB task updates, a multiple of a block of moments, unless the rule steps whole parameters. The
/// update is elementwise, or blockwise from a parameter's first element on, so the split changes no bit.
constexpr std::size_t grain = 1 << 16;

const placed_parameter& placed(const sharded_model& m, std::size_t shard, std::size_t index) {
  return m.shards[shard].layout().parameters()[index];
}

std::span<float> slice(const host_block_ptr& block, std::size_t offset, std::size_t n) {
  return block->floats().subspan(offset, n);
}

/// Of parameter `index` of the shard.
void set_moments(update_slices& s, const shard_home& home, const moment_layout& moments, std::size_t index) {
  const std::array<std::span<float>*, 2> floats{&s.first_moment, &s.second_moment};
  const std::array<block_moment*, 2> blocks{&s.first_blocks, &s.second_blocks};
  for (std::size_t i = 0; i < moments.buffers(); ++i) {
    const std::span buffer(home.moments[i]->data(), home.moments[i]->size().value());
    const auto& place = moments.places(i)[index];
    *floats[i] = floats_at(place, buffer);
    *blocks[i] = blocks_at(place, buffer);
  }
}

std::span<std::uint16_t> copy_of(const shard_home& home, const placed_parameter& p) {
  return home.copy ? home.copy->halves().subspan(p.offset, p.elements) : std::span<std::uint16_t>{};
}

/// Ranges of `n` elements that begin at multiples of `grain`, each a task.
template <class Use>
void for_each_range(std::size_t n, Use use) {
  oneapi::tbb::parallel_for(std::size_t{0}, (n + grain - 1) / grain,
                            [&](std::size_t i) { use(i * grain, std::min(grain, n - i * grain)); });
}

/// For rules that use threads themselves. A thread that waits for others must not begin another parameter, whose
/// scratch is not counted.
template <class Step>
void step_whole(const Step& step) {
  oneapi::tbb::this_task_arena::isolate(step);
}

/// One optimizer step of a whole parameter.
void train(const update_constants& now, const update_slices& whole) {
  if (steps_whole(now.rule)) {
    return step_whole([&] { apply_update(now, whole); });
  }
  for_each_range(whole.parameters.size(),
                 [&](std::size_t begin, std::size_t n) { apply_update(now, part_of(whole, begin, n)); });
}

/// The same with a gradient in bf16; `whole` has no gradient.
void train(const update_constants& now, update_slices whole, const rounded_gradient& gradient) {
  if (steps_whole(now.rule)) {
    return step_whole([&] {
      std::vector<float> widened(gradient.size());
      gradient.widen(0, widened);
      whole.gradients = widened;
      apply_update(now, whole);
    });
  }
  for_each_range(whole.parameters.size(), [&](std::size_t first, std::size_t n) {
    std::vector<float> widened;
    for (auto begin = first; begin < first + n; begin += widened_at_once) {
      widened.resize(std::min(widened_at_once, first + n - begin));
      gradient.widen(begin, widened);
      auto slices = part_of(whole, begin, widened.size());
      slices.gradients = widened;
      apply_update(now, slices);
    }
  });
}

/// Places of a parameter's gradient, its own and those of its tied copies, from the last one of the chain to the first:
/// so backward reaches them, and PyTorch adds the gradients of a parameter that it uses several times.
template <class Use>
void for_each_place(const sharded_model& m, std::size_t shard, std::size_t index, Use use) {
  std::vector<std::pair<std::size_t, std::size_t>> places{{shard, index}};
  for (const auto& t : m.ties) {
    if (t.owner_shard == shard && t.owner == index) {
      places.emplace_back(t.copy_shard, t.copy);
    }
  }
  std::ranges::sort(places, std::greater{});
  for (const auto& [s, p] : places) {
    use(s, placed(m, s, p));
  }
}

/// Of parameter `index` of a shard, in the order in which they are added: those of each place, which are as many as
/// there are replicas.
rounded_gradient rounded_gradient_of(const sharded_model& m, std::size_t shard, std::size_t index,
                                     const std::vector<shard_home>& homes) {
  rounded_gradient g;
  for_each_place(m, shard, index, [&](std::size_t s, const placed_parameter& p) {
    for (const auto& sum : homes[s].gradients) {
      g.sums.push_back(sum->halves().subspan(p.offset, p.elements));
    }
  });
  return g;
}

/// The same in fp32: into the parameter's first.
void add_sums(const sharded_model& m, std::size_t shard, std::size_t index, const std::vector<shard_home>& homes) {
  std::vector<std::span<const float>> sums;
  for_each_place(m, shard, index, [&](std::size_t s, const placed_parameter& p) {
    for (const auto& sum : homes[s].gradients) {
      sums.push_back(slice(sum, p.offset, p.elements));
    }
  });
  if (sums.size() == 1) {
    return;
  }
  const auto& own = placed(m, shard, index);
  const auto total = slice(homes[shard].gradients.front(), own.offset, own.elements);
  std::array<float, added_at_once> part{};
  for (std::size_t begin = 0; begin < total.size(); begin += part.size()) {
    const auto n = std::min(part.size(), total.size() - begin);
    std::ranges::copy(sums.front().subspan(begin, n), part.begin());
    for (const auto& next : sums | std::views::drop(1)) {
      std::ranges::transform(std::span{part}.first(n), next.subspan(begin, n), part.begin(), std::plus{});
    }
    std::ranges::copy(std::span{part}.first(n), total.subspan(begin).begin());
  }
}

}  // namespace

model_update::model_update(sharded_model_ptr model) : model_(std::move(model)), norms_(model_->size()) {}

void model_update::add_sums(std::size_t shard, const std::vector<shard_home>& homes) const {
  const auto& all = model_->shards[shard].layout().parameters();
  for (std::size_t i = 0; i < all.size() && !rounded(); ++i) {
    if (all[i].trained() || all[i].averaging > 0) {
      hydra::add_sums(*model_, shard, i, homes);
    }
  }
}

void model_update::norms(std::size_t shard, std::vector<shard_home>& homes) {
  add_sums(shard, homes);
  norms_[shard].clear();
  const auto& all = model_->shards[shard].layout().parameters();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].trained()) {
      norms_[shard].push_back(
          rounded() ? gradient_norm(rounded_gradient_of(*model_, shard, i, homes))
                    : gradient_norm(slice(homes[shard].gradients.front(), all[i].offset, all[i].elements)));
    }
  }
}

float model_update::total_norm() const {
  std::vector<float> all;
  for (const auto& of_shard : norms_) {
    all.insert(all.end(), of_shard.begin(), of_shard.end());
  }
  return hydra::total_norm(all);
}

float model_update::clip_coefficient(float norm) const {
  return hydra::clip_coefficient(static_cast<float>(model_->update.clip_norm), norm);
}

void model_update::step(std::size_t shard, std::uint32_t step, float clip_coefficient,
                        std::vector<shard_home>& homes) const {
  if (model_->update.clip_norm <= 0) {
    add_sums(shard, homes);
  }
  const auto& home = homes[shard];
  const auto& all = model_->shards[shard].layout().parameters();
  const moment_layout moments(model_->shards[shard].layout(), model_->update);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& p = all[i];
    if (p.frozen) {
      continue;
    }
    const auto values = slice(home.parameters, p.offset, p.elements);
    const auto gradients = rounded() ? std::span<float>{} : slice(home.gradients.front(), p.offset, p.elements);
    update_slices whole{values, gradients, {}, {}, copy_of(home, p)};
    whole.matrix = matrix_size_of(p.form());
    set_moments(whole, home, moments, i);
    const auto now = constants_of(update_of(*model_, p), step, model_->steps, clip_coefficient);
    if (p.trained() && rounded()) {
      train(now, whole, rounded_gradient_of(*model_, shard, i, homes));
    } else if (p.trained()) {
      train(now, whole);
    } else if (p.averaging > 0) {  // never of a chain in bf16
      apply_average(p.averaging, model_->micro_batches_of_step(), values, gradients);
    }
    if (p.tied_to.empty() && checks_parameters(*model_, step) && not_finite_in(values) > 0) {
      refuse_not_finite(*model_, p);
    }
  }
  update_tied_copies(shard, homes);
}

void model_update::update_tied_copies(std::size_t shard, std::vector<shard_home>& homes) const {
  for (const auto& t : model_->ties) {
    if (t.owner_shard == shard) {
      const auto& owner = placed(*model_, shard, t.owner);
      const auto& copy = placed(*model_, t.copy_shard, t.copy);
      std::ranges::copy(slice(homes[shard].parameters, owner.offset, owner.elements),
                        slice(homes[t.copy_shard].parameters, copy.offset, copy.elements).begin());
      std::ranges::copy(copy_of(homes[shard], owner), copy_of(homes[t.copy_shard], copy).begin());
    }
  }
}

}  // namespace hydra
