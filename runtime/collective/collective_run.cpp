#include "runtime/collective/collective_run.hpp"

#include "runtime/base/fault.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

namespace hydra {

namespace {

[[noreturn]] void refuse_piece(const piece& p, const std::string& why) {
  throw fault_error{fault_code::damaged, "values " + std::to_string(p.what.first) + " to " +
                                             std::to_string(p.what.first + p.what.count) + " of party " +
                                             std::to_string(p.from) + " for party " + std::to_string(p.to) +
                                             " in round " + std::to_string(p.round) + ": " + why};
}

/// Calls `use` with the pieces of a range in ascending order.
template <class Use>
void for_each_piece(const value_range& all, Use use) {
  for (std::uint64_t at = 0; at < all.count; at += collective_run::piece_values) {
    use(value_range{all.first + at, std::min(collective_run::piece_values, all.count - at)});
  }
}

bool belongs_to(const piece& p, const transfer& t) {
  const auto offset = p.what.first - t.what.first;
  return t.from == p.from && t.to == p.to && p.what.first >= t.what.first && offset < t.what.count &&
         offset % collective_run::piece_values == 0 &&
         p.what.count == std::min(collective_run::piece_values, t.what.count - offset);
}

void add(std::span<const float> more, std::span<float> sum) {
  std::ranges::transform(sum, more, sum.begin(), std::plus{});
}

}  // namespace

collective_run::collective_run(std::shared_ptr<const collective> what, std::vector<party_values> here)
    : what_(std::move(what)) {
  for (const auto& p : here) {
    if (p.values.size() != what_->values || p.party >= what_->parties) {
      throw fault_error{fault_code::internal, "values of another collective"};
    }
    auto& state = here_[p.party];
    state.party = p.party;
    state.values = p.values;
    state.has_values = p.party < what_->summands;
    begin_round(state);
  }
  advance();
}

bool collective_run::finished() const noexcept {
  return std::ranges::all_of(here_, [&](const auto& entry) { return entry.second.round == what_->rounds.size(); });
}

// -- values of other nodes --------------------------------------------------------------------------------------------

std::vector<piece> collective_run::wanted() {
  std::vector<piece> all;
  for (auto& [party, state] : here_) {
    for (const auto& [from, unused] : state.streams) {
      if (here_.contains(from)) {
        continue;
      }
      while (const auto* c = next_of(state, from)) {
        all.push_back({state.round, from, party, c->what});
      }
    }
  }
  return all;
}

void collective_run::arrived(const piece& p, std::span<const float> values) {
  const auto state = here_.find(p.to);
  auto* c = state != here_.end() && state->second.round == p.round ? find(state->second, p.what) : nullptr;
  const bool asked = c != nullptr && std::ranges::count(c->asked, p.from) > 0 && !here_.contains(p.from);
  if (!asked || c->arrived.contains(p.from)) {
    refuse_piece(p, "nobody has asked for them");
  }
  if (values.size() != p.what.count) {
    refuse_piece(p, std::to_string(values.size()) + " have come");
  }
  c->arrived[p.from].assign(values.begin(), values.end());
  settle(state->second, *c);
  advance();
}

bool collective_run::may_read(const piece& p) {
  const auto state = here_.find(p.from);
  const bool exists = state != here_.end() && p.round < what_->rounds.size() &&
                      std::ranges::any_of(what_->rounds[p.round], [&](const transfer& t) { return belongs_to(p, t); });
  if (!exists || here_.contains(p.to)) {
    refuse_piece(p, "they are not read here");
  }
  if (p.round > state->second.round) {
    return false;
  }
  const auto* c = p.round == state->second.round ? find(state->second, p.what) : nullptr;
  if (c == nullptr || std::ranges::count(c->readers, p.to) == 0) {
    refuse_piece(p, "they have been read");
  }
  return true;
}

void collective_run::read(const piece& p, const std::function<void(std::span<const float>)>& use) {
  auto& state = here_.at(p.from);
  auto& c = *find(state, p.what);
  use(state.values.subspan(p.what.first, p.what.count));
  std::erase(c.readers, p.to);
  settle(state, c);
  advance();
}

// -- rounds -----------------------------------------------------------------------------------------------------------

void collective_run::begin_round(party_state& state) const {
  state.cells.clear();
  state.streams.clear();
  state.cells_left = 0;
  if (state.round == what_->rounds.size()) {
    return;
  }
  std::map<value_range, cell> cells;
  for (const auto& t : what_->rounds[state.round]) {
    for_each_piece(t.what, [&](const value_range& part) {
      if (t.to == state.party) {
        cells[part].how = t.how;
        cells[part].sources.push_back(t.from);
        state.streams[t.from];
      } else if (t.from == state.party) {
        cells[part].readers.push_back(t.to);
      }
    });
  }
  for (auto& [part, c] : cells) {
    c.what = part;
    state.cells.push_back(std::move(c));
  }
  state.cells_left = state.cells.size();
}

/// Null if there is none.
collective_run::cell* collective_run::find(party_state& state, const value_range& what) {
  const auto found = std::ranges::lower_bound(state.cells, what, {}, &cell::what);
  return found != state.cells.end() && found->what == what ? &*found : nullptr;
}

/// The next cell of a stream to be asked for, once; null if there is none, or no credit.
collective_run::cell* collective_run::next_of(party_state& state, std::uint32_t from) {
  auto& s = state.streams.at(from);
  while (s.open < credit && s.next < state.cells.size()) {
    auto& c = state.cells[s.next++];
    if (std::ranges::count(c.sources, from) > 0) {
      c.asked.push_back(from);
      ++s.open;
      return &c;
    }
  }
  return nullptr;
}

/// Changes the values, if everything has come and nobody will read the old ones.
void collective_run::settle(party_state& state, cell& c) {
  if (c.arrived.size() < c.sources.size() || !c.readers.empty()) {
    return;
  }
  const auto own = state.values.subspan(c.what.first, c.what.count);
  std::vector<float> sum;
  const auto take = [&](std::span<const float> values) {
    sum.empty() ? sum.assign(values.begin(), values.end()) : add(values, sum);
  };
  bool adds_own = c.how == combination::add && state.has_values;
  for (const auto& [from, values] : c.arrived) {
    if (adds_own && from > state.party) {
      take(own);
      adds_own = false;
    }
    take(values);
    --state.streams.at(from).open;
  }
  if (adds_own && !c.sources.empty()) {
    take(own);
  }
  std::ranges::copy(sum, own.begin());
  c.arrived.clear();
  --state.cells_left;
}

void collective_run::advance() {
  while (take_from_here() || end_rounds()) {
  }
}

/// Between parties of this node. True if values have come.
bool collective_run::take_from_here() {
  bool changed = false;
  for (auto& [party, to] : here_) {
    for (const auto& [from, unused] : to.streams) {
      const auto source = here_.find(from);
      changed = (source != here_.end() && take_from_here(to, source->second)) || changed;
    }
  }
  return changed;
}

bool collective_run::take_from_here(party_state& to, party_state& from) {
  bool changed = false;
  while (to.round == from.round) {
    auto* c = next_of(to, from.party);
    if (c == nullptr) {
      break;
    }
    auto& source = *find(from, c->what);
    const auto values = from.values.subspan(c->what.first, c->what.count);
    c->arrived[from.party].assign(values.begin(), values.end());
    std::erase(source.readers, to.party);
    settle(from, source);
    settle(to, *c);
    changed = true;
  }
  return changed;
}

/// True if a party has begun another round.
bool collective_run::end_rounds() {
  bool changed = false;
  for (auto& [party, state] : here_) {
    if (state.round < what_->rounds.size() && state.cells_left == 0) {
      state.has_values = state.has_values || !state.streams.empty();
      ++state.round;
      begin_round(state);
      changed = true;
    }
  }
  return changed;
}

}  // namespace hydra
