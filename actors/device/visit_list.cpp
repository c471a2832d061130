#include "actors/device/visit_list.hpp"

#include <algorithm>

namespace hydra {

namespace {

/// Of a unit that has not begun, too. `graphs`: of its model.
node_index node_of(const visit_record& v, const model_graphs& graphs) {
  return v.model ? v.node : graphs.node_of(v.what);
}

/// Which of its writes has that name. `graphs`: of its model.
std::optional<block_part> written_by(const visit_record& v, const block_id& id, const model_graphs& graphs) {
  const auto& graph = graphs.of(v.what);
  const auto turn = model_graphs::turn_of(v.what);
  std::optional<block_part> found;
  for (const auto& use : graph.at(node_of(v, graphs)).writes) {
    found = found ? found : graph.part_of(use.block, id, turn);
  }
  return found;
}

/// Null until the computation that fills it is submitted.
const produced_block* submitted_part(const visit_record& v, const block_part& part) {
  const auto of_block = [&](const visit_output& out) { return out.use.block == part.block; };
  const auto found = std::ranges::find_if(v.outputs, of_block);
  return found != v.outputs.end() && found->parts[part.part].made ? &found->parts[part.part] : nullptr;
}

bool same_step(const unit& a, const unit& b) {
  const bool train = a.way != direction::evaluate && b.way != direction::evaluate;
  return train && a.model == b.model && a.step == b.step;
}

}  // namespace

/// While neither has begun, only their lanes are known; no block of theirs is on the device then, and whoever withdraws
/// one of them withdraws what follows it, too.
bool depends_on(const visit_record& later, const visit_record& earlier) {
  if (same_lane(later.what, earlier.what)) {
    return true;
  }
  const auto& model = later.model ? later.model : earlier.model;
  if (!model || !same_step(later.what, earlier.what)) {
    return false;
  }
  const auto& graphs = *model->graphs;
  return graphs.step.follows(node_of(later, graphs), node_of(earlier, graphs));
}

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

const visit_record* visit_list::first_before(const visit_record& v) const {
  const auto found =
      std::ranges::find_if(visits_, [&](const auto& other) { return !other->ended() && depends_on(v, *other); });
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

std::optional<staged_block> visit_list::live_output(const visit_record& reader, const block_id& id) const {
  for (const auto& v : visits_) {
    if (v->what.model != reader.what.model || !v->alive()) {
      continue;
    }
    const auto part = written_by(*v, id, *reader.model->graphs);
    if (const auto* found = part ? submitted_part(*v, *part) : nullptr) {
      const auto block = found->block.lock();
      return block ? std::optional(staged_block{block, found->made, fetch_phase::here}) : std::nullopt;
    }
  }
  return std::nullopt;
}

bool visit_list::produces(const visit_record& reader, const block_id& id) const {
  return std::ranges::any_of(visits_, [&](const auto& v) {
    return v->what.model == reader.what.model && v->alive() && written_by(*v, id, *reader.model->graphs);
  });
}

void visit_list::erase_ended() {
  std::erase_if(visits_, [](const auto& v) { return v->ended() && v->messages.both(); });
}

}  // namespace hydra
