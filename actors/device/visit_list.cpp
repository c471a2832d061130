#include "actors/device/visit_list.hpp"

#include "partition/graph/dataflow.hpp"
#include "runtime/base/step_graph.hpp"

#include <algorithm>
#include <cstdint>

namespace hydra {

namespace {

/// A submitted computation and what it fills.
struct computation {
  std::weak_ptr<device_block> output;
  ticket operation;
};

/// The computation of `v` that fills block `id`; none if it has not been submitted, or if another unit fills it.
std::optional<computation> submitted_for(const visit_record& v, const block_id& id) {
  if (v.step_submitted() && id == stepped_parameters_of(v.what)) {
    return computation{v.stepping.parameters, v.stepping.compute};
  }
  for (std::size_t k = 0; k < v.next_op; ++k) {
    if (output_of(v.what, v.model->plan.shape(), v.index_of(k)) == id) {
      return computation{v.batches[k].output, v.batches[k].compute};
    }
  }
  return std::nullopt;
}

bool is_output(const visit_record& v, const block_id& id, const step_shape& shape) {
  if ((v.steps() && makes_version(v.what, id)) || (has_gradients(v.what) && id == gradients_of(v.what))) {
    return true;
  }
  for (std::uint32_t k = 0; k < v.what.micro_batches; ++k) {
    if (output_of(v.what, shape, v.index_of(k)) == id) {
      return true;
    }
  }
  return false;
}

}  // namespace

visit_record& visit_list::record(const unit& u) {
  if (auto* known = find(u)) {
    return *known;
  }
  return *visits_.emplace_back(std::make_unique<visit_record>(u));
}

visit_record* visit_list::find(const unit& u) const {
  const auto found = std::ranges::find_if(visits_, [&](const auto& v) { return v->what == u; });
  return found == visits_.end() ? nullptr : found->get();
}

const visit_record* visit_list::first_before(const unit& u) const {
  const auto found =
      std::ranges::find_if(visits_, [&](const auto& v) { return !v->ended() && depends_on(u, v->what); });
  return found == visits_.end() ? nullptr : found->get();
}

std::optional<unit> visit_list::running() const {
  const auto found = std::ranges::find_if(visits_, [](const auto& v) { return v->phase() == visit_phase::running; });
  return found == visits_.end() ? std::nullopt : std::optional((*found)->what);
}

std::size_t visit_list::open() const noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(visits_, [](const auto& v) { return !v->ended(); }));
}

bool visit_list::any_failing() const {
  return std::ranges::any_of(visits_, [](const auto& v) { return v->failed() && !v->ended(); });
}

std::optional<staged_block> visit_list::live_output(const block_id& id) const {
  for (const auto& v : visits_) {
    if (v->what.model != id.model || !v->alive()) {
      continue;
    }
    if (const auto found = submitted_for(*v, id)) {
      const auto block = found->output.lock();
      return block ? std::optional(staged_block{block, found->operation}) : std::nullopt;
    }
  }
  return std::nullopt;
}

bool visit_list::produces(const block_id& id, const step_shape& shape) const {
  return std::ranges::any_of(visits_, [&](const auto& v) {
    return v->what.model == id.model && v->alive() && is_output(*v, id, shape);
  });
}

void visit_list::erase_ended() {
  std::erase_if(visits_, [](const auto& v) { return v->ended() && v->messages.both(); });
}

}  // namespace hydra
