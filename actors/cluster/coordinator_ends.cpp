// The ends of nodes and of the run.

#include "actors/cluster/coordinator_actor.hpp"

#include "actors/cluster/cluster_expenses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace hydra {

namespace {

using namespace std::chrono_literals;

constexpr auto forgive_interval = 10s;  ///< after which nodes that could not write files are tried again
constexpr auto report_limit = 30s;      ///< for the reports of the nodes at the end

}  // namespace

void coordinator::open_expenses() try {
  auto before = setup_.what.before;
  before.has_states = std::ranges::any_of(record_.models, [](const auto& m) { return m.before > 0; });
  expenses_.emplace(setup_.what.folder, before);
  record_.before = expenses_->before();
} catch (const fault_error& e) {
  record_.notes.push_back(
      fmt::format("cost and energy of the run are not recorded: {}", e.what_happened().text));
}

void coordinator::record_expenses() {
  expenses_written_ = clock().now();
  const auto here = expenses_of(record_);
  if (expenses_ && (here.all.cost || here.all.joules || record_.before.all != expense{})) {
    expenses_->write(here);
  }
}

void coordinator::record_expenses_in_turn() {
  if (clock().now() >= expenses_written_ + expense_interval) {
    record_expenses();
  }
}

void coordinator::on_decide_again(const decide_again&) {
  record_expenses_in_turn();
  ask_again();
  record_again();
  if (clock().now() >= forgiven_ + forgive_interval) {
    forgiven_ = clock().now();
    plan_.forgive();
  }
  settle();
  const bool report_comes = std::ranges::any_of(members_, [](const joined_node& m) { return m.ending && !m.ended; });
  if (reports_due_ && clock().now() >= *reports_due_ && !report_comes) {
    finish();
  }
  if (!finished_) {
    delayed_send(this, decide_interval, decide_again{});
  }
}

/// After something has changed.
void coordinator::settle() {
  end_left_nodes();
  end_stopped();
  decide();
  answer_pauses();
  answer_keeps();
  note_wait();
  if (ending_) {
    finish_if_ended();
  }
}

bool coordinator::has_models(std::size_t node) const {
  return std::ranges::any_of(plan_.models(), [&](const cluster_model& m) { return m.is_on(node); });
}

/// Newer states of models come from it.
bool coordinator::holds_models(const joined_node& m) const {
  return std::ranges::any_of(holders_, [&](const auto& held) { return held.second == m.instance; });
}

/// Those that were asked to give their models back, and have none any more.
void coordinator::end_left_nodes() {
  for (auto& m : members_) {
    if (m.number && !m.gone && !m.ended && plan_.nodes()[*m.number].leaving && !has_models(*m.number) &&
        !holds_models(m) && asked_to_end_.insert(m.instance).second) {
      send(m.node, end_node{.all_kept = true});
    }
  }
}

void coordinator::end_if_over() {
  const bool nothing_runs =
      std::ranges::none_of(plan_.models(), [](const cluster_model& m) { return m.node.has_value(); });
  if (plan_.over() || (interrupted_ && nothing_runs && holders_.empty())) {
    end_nodes(true);
  }
}

/// `all_kept`: of what nodes that have planned have saved nothing is needed any more.
void coordinator::end_nodes(bool all_kept) {
  if (std::exchange(ending_, true)) {
    return;
  }
  record_.ended = clock().now();
  record_.interrupted = interrupted_ && !plan_.over();
  record_.moves = plan_.moves();
  for (const auto& m : members_) {
    if (!m.gone && !m.ended) {
      // one that has not planned may have newer states than a run whose models were all stopped before it began
      send(m.node, end_node{(plan_.over() && record_.began) || (all_kept && m.number)});
    }
  }
  reports_due_ = clock().now() + report_limit;
  finish_if_ended();
}

void coordinator::finish_if_ended() {
  if (std::ranges::all_of(members_, [](const joined_node& m) { return m.gone || m.ended || !m.number; })) {
    finish();
  }
}

void coordinator::finish() {
  finished_ = true;
  record_expenses();
  if (expenses_) {
    std::ranges::copy(expenses_->notes(), std::back_inserter(record_.notes));
  }
  if (auto ended = std::exchange(setup_.events.ended, nullptr)) {
    ended(std::move(record_));
  }
  members_.clear();
  arriving_.clear();
  quit();
}

void coordinator::on_interrupt(const interrupt_cluster&) {
  if (std::exchange(interrupted_, true)) {
    record_.ended = clock().now();
    record_.interrupted = true;
    return finish();
  }
  say("interrupted: the models are saved");
  for (std::size_t n = 0; n < plan_.nodes().size(); ++n) {
    plan_.node_leaves(n);
  }
  decide();
}

}  // namespace hydra
