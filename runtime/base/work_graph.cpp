#include "runtime/base/work_graph.hpp"

#include "runtime/base/fault.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace hydra {

namespace {

[[noreturn]] void refuse_graph(const std::string& why) { throw fault_error{fault_code::internal, "a graph: " + why}; }

/// The name of its node.
unit as_node(unit u) {
  u.model = {};
  u.step = {};
  u.attempt = 0;
  if (u.way == direction::evaluate) {
    u.replica = {};
    u.wave = {};
    u.piece = {};
    u.first_micro_batch = {};
  }
  return u;
}

}  // namespace

work_graph::work_graph(std::vector<work_unit> units, std::vector<graph_block> blocks)
    : units_(std::move(units)),
      blocks_(std::move(blocks)),
      before_(units_.size()),
      behind_(units_.size()),
      writer_(blocks_.size()),
      readers_(blocks_.size()) {
  add_units();
  add_names();
  for (node_index n; n.value < size(); n = n.next()) {
    add_to_lane(n);
    add_order(n);
    add_uses(n);
  }
  std::ranges::transform(readers_, std::back_inserter(last_reader_),
                         [this](std::span<const node_index> all) { return last_of(all); });
}

void work_graph::add_units() {
  for (const auto& u : units_) {
    waves_ = std::max(waves_, u.what.wave.value + 1);
    shards_ = std::max(shards_, u.what.shard.value + 1);
  }
  for (node_index n; n.value < size(); n = n.next()) {
    const auto place = place_of(at(n).what);
    nodes_.resize(std::max(nodes_.size(), place + 1));
    if (nodes_[place]) {
      refuse_graph(to_string(at(n).what) + " is there twice");
    }
    nodes_[place] = n;
  }
}

void work_graph::add_names() {
  for (block_index b; b.value < blocks(); b = b.next()) {
    if (!names_.emplace(std::pair{block(b).shared, block(b).id}, b).second) {
      refuse_graph(to_string(block(b).id) + " is there twice");
    }
  }
}

void work_graph::add_order(node_index n) {
  auto& before = before_[n.value];
  if (const auto in_lane = before_in_lane(n)) {
    before.push_back(*in_lane);
  }
  for (const auto& use : at(n).reads) {
    if (const auto writer = writer_.at(use.block.value)) {
      before.push_back(*writer);
    }
  }
  std::ranges::sort(before);
  const auto again = std::ranges::unique(before);
  before.erase(again.begin(), again.end());
  for (const auto p : before) {
    behind_[p.value].push_back(n);
  }
}

void work_graph::add_uses(node_index n) {
  for (const auto& use : at(n).reads) {
    auto& readers = readers_.at(use.block.value);
    if (readers.empty() || readers.back() != n) {
      readers.push_back(n);
    }
  }
  for (const auto& use : at(n).writes) {
    auto& writer = writer_.at(use.block.value);
    if (writer || !readers_[use.block.value].empty()) {
      refuse_graph(to_string(at(n).what) + " writes " + to_string(block(use.block).id) +
                   (writer ? ", as another unit" : " after its reader"));
    }
    writer = n;
  }
}

void work_graph::add_to_lane(node_index n) {
  auto lane = lanes();  // one of the last ones
  while (lane > 0 && !same_lane(at(lanes_[lane - 1].front()).what, at(n).what)) {
    --lane;
  }
  if (lane == 0) {
    lanes_.emplace_back();
    lane = lanes();
  }
  auto& nodes = lanes_[lane - 1];
  at_.push_back({.lane = lane - 1, .place = static_cast<std::uint32_t>(nodes.size())});
  nodes.push_back(n);
}

/// Of a visit among those of all lanes; beyond them if the graph has not so many waves or shards.
std::size_t work_graph::place_of(const unit& u) const noexcept {
  if (u.wave.value >= waves_ || u.shard.value >= shards_) {
    return nodes_.size();
  }
  const auto lane = std::size_t{u.replica.value} * waves_ + u.wave.value;
  return (lane * 3 + static_cast<std::size_t>(u.way)) * shards_ + u.shard.value;
}

std::optional<node_index> work_graph::find(const unit& u) const {
  const auto named = as_node(u);
  const auto place = place_of(named);
  const auto n = place < nodes_.size() ? nodes_[place] : std::nullopt;
  return n && at(*n).what == named ? n : std::nullopt;
}

bool work_graph::follows(node_index later, node_index earlier) const {
  const bool comes_later = earlier < later;
  return comes_later && (lane_of(later) == lane_of(earlier) || followed_by(later, earlier).front());
}

std::vector<bool> work_graph::followed_by(node_index n, node_index first) const {
  std::vector<bool> followed(n.value - first.value + std::size_t{1});
  followed.back() = true;
  for (auto i = n.value; i > first.value; --i) {
    for (const auto p : followed[i - first.value] ? predecessors(node_index{i}) : std::span<const node_index>{}) {
      if (p >= first) {
        followed[p.value - first.value] = true;
      }
    }
  }
  return followed;
}

std::optional<node_index> work_graph::last_of(std::span<const node_index> readers) const {
  if (readers.empty()) {
    return std::nullopt;
  }
  const auto first = readers.front();
  const auto followed = followed_by(readers.back(), first);
  const bool follows_all = std::ranges::all_of(readers, [&](node_index n) { return followed[n.value - first.value]; });
  return follows_all ? std::optional(readers.back()) : std::nullopt;
}

std::vector<node_index> work_graph::ready(const std::vector<bool>& done) const {
  const auto has_ended = [&](node_index n) { return done.at(n.value); };
  std::vector<node_index> all;
  for (node_index n; n.value < size(); n = n.next()) {
    if (!has_ended(n) && std::ranges::all_of(predecessors(n), has_ended)) {
      all.push_back(n);
    }
  }
  return all;
}

bool work_graph::is_done(node_index n, const step_position& at) const {
  return place_in_lane(n) < at.done(lane_of(n));
}

std::optional<node_index> work_graph::before_in_lane(node_index n) const {
  const auto place = place_in_lane(n);
  return place == 0 ? std::nullopt : std::optional(lanes_[lane_of(n)][place - 1]);
}

bool work_graph::ends_lane(node_index n) const { return place_in_lane(n) + 1 == lane(lane_of(n)).size(); }

block_id work_graph::name(block_part b, const graph_turn& turn) const {
  const auto life = block(b.block).life;
  const bool of_round = life == block_life::of_step || life == block_life::on_device;
  auto id = block(b.block).id;
  id.model = block(b.block).shared ? id.model : turn.model;
  id.step.value += life == block_life::of_run ? 0 : turn.step.value;
  id.micro_batch.value += b.part + (of_round ? turn.first.value : 0);
  return id;
}

std::optional<block_part> work_graph::part_of(block_index b, const block_id& id, const graph_turn& turn) const {
  const block_part found{b, id.micro_batch.value - name({b}, turn).micro_batch.value};
  const bool same = found.part < block(b).parts && name(found, turn) == id;
  return same ? std::optional(found) : std::nullopt;
}

std::optional<block_part> work_graph::find(const block_id& id, const graph_turn& turn) const {
  const auto own = find(id, turn, false);
  return own ? own : find(id, turn, true);
}

std::optional<block_part> work_graph::find(const block_id& id, const graph_turn& turn, bool shared) const {
  auto first = id;
  first.model = shared ? id.model : model_id{};
  first.step.value -= std::min(id.step.value, turn.step.value);
  first.micro_batch.value -= std::min(id.micro_batch.value, turn.first.value);
  const auto after = names_.upper_bound({shared, first});
  if (after == names_.begin()) {
    return std::nullopt;
  }
  return part_of(std::prev(after)->second, id, turn);
}

}  // namespace hydra
