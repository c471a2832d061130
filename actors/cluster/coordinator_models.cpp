// Models on the nodes of the COORDINATOR, and their checkpoints.

#include "actors/cluster/coordinator_actor.hpp"
#include "actors/cluster/folder_receiver.hpp"
#include "partition/checkpoint/checkpoint_folder.hpp"
#include "partition/checkpoint/saved_model.hpp"
#include "runtime/base/counted.hpp"
#include "runtime/collective/even_parts.hpp"
#include "runtime/storage/file_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

namespace hydra {

namespace {

namespace fs = std::filesystem;

}  // namespace

void coordinator::on_want_chunk(const want_chunk& m) { send(m.to, source_.read(m)); }

void coordinator::on_drop_folders(const drop_folders& m) { source_.drop(m.offer); }

fs::path coordinator::checkpoints_of(std::size_t model) const {
  return hydra::checkpoints_of(setup_.what.folder / "checkpoints", setup_.what.models.at(model));
}

/// Of a run that is resumed.
void coordinator::find_checkpoints() {
  for (std::size_t m = 0; m < plan_.models().size(); ++m) {
    if (const auto steps = newest_step(checkpoints_of(m))) {
      plan_.found(m, *steps);
      record_.models[m].before = *steps;
    }
    if (std::ranges::count(setup_.what.stopped, setup_.what.models[m]) > 0) {
      stopped_before_.insert(static_cast<std::uint32_t>(m));
    }
  }
}

void coordinator::decide() {
  if (ending_) {
    return;
  }
  if (!started_) {
    started_ = nodes_here() >= setup_.nodes;
  }
  if (!started_ && !interrupted_) {
    return end_if_over();  // all models may have been stopped
  }
  for (const auto& command : plan_.decide()) {
    std::visit([this](const auto& c) { give(c); }, command);
  }
  end_if_over();
}

const joined_node& coordinator::member_of(std::size_t number) const {
  return *std::ranges::find_if(members_, [&](const joined_node& m) { return m.number == number; });
}

void coordinator::give(const assign_model& c) {
  if (!record_.began) {
    record_.began = clock().now();
  }
  auto& record = record_.models[c.model];
  record.shares.clear();
  std::vector<std::size_t> nodes{c.node};
  nodes.insert(nodes.end(), c.helpers.begin(), c.helpers.end());
  std::vector<take_model> messages;
  try {
    const auto states = states_to_continue(checkpoints_of(c.model));  // the same for all of them
    std::ranges::generate_n(std::back_inserter(messages), static_cast<std::ptrdiff_t>(nodes.size()),
                            [&] { return with_checkpoints(c, states); });
  } catch (const fault_error& e) {
    say(fmt::format("the checkpoint of {} cannot be read now: {}", record.name, e.what()));
    drop_offer(c.model);
    plan_.refused(c.model, c.epoch, {fault_code::io, e.what()});
    return;
  }
  std::string names;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    messages[i].place = i;
    send(node_of(nodes[i]), messages[i]);
    const auto& name = plan_.nodes()[nodes[i]].name;
    names += (names.empty() ? "" : ", ") + name;
    if (std::ranges::count(record.nodes, name) == 0) {
      record.nodes.push_back(name);
    }
  }
  say(fmt::format("{} -> {}{}", record.name, names, c.from_step ? fmt::format(", from step {}", *c.from_step) : ""));
}

take_model coordinator::with_checkpoints(const assign_model& c, const std::vector<fs::path>& states) {
  take_model message{.model = static_cast<std::uint32_t>(c.model), .epoch = c.epoch, .team = team_of(c)};
  if (is_added(c.model)) {
    message.added = added_.at(c.model - first_added_);
  }
  if (!states.empty()) {
    message.checkpoints = source_.offer(states, caf::actor_cast<chunk_source>(this));
    offers_[c.model].push_back(message.checkpoints.offer);
  }
  return message;
}

/// The replicas of a step, divided evenly.
std::vector<team_member> coordinator::team_of(const assign_model& c) const {
  std::vector<team_member> team;
  const auto nodes = static_cast<std::uint32_t>(c.helpers.size() + 1);
  const auto parts = even_parts(record_.models[c.model].replicas, nodes);
  for (std::uint32_t i = 0; i < nodes && nodes > 1; ++i) {
    const auto& member = member_of(i == 0 ? c.node : c.helpers[i - 1]);
    team.push_back({member.exchange, parts[i]});
  }
  return team;
}

void coordinator::give(const drop_model& c) {
  send(node_of(c.node), drop_assigned{static_cast<std::uint32_t>(c.model), c.epoch});
}

/// The node has it, or does not want it any more.
void coordinator::drop_offer(std::size_t model) {
  if (const auto offers = offers_.extract(model)) {
    std::ranges::for_each(offers.mapped(), [this](std::uint64_t offer) { source_.drop(offer); });
  }
}

void coordinator::give(const take_back_model& c) {
  if (plan_.of(c.model).moves_to) {
    transit_[c.model] = clock().now();
  }
  send(node_of(c.node), give_back{static_cast<std::uint32_t>(c.model), c.epoch});
}

bool coordinator::is_arriving(std::uint32_t model) const {
  const auto coming = arriving_.find(model);
  return coming != arriving_.end() && !coming->second.empty();
}

bool coordinator::is_current(std::uint32_t model, assignment_epoch epoch) const {
  return model < plan_.models().size() && plan_.of(model).epoch == epoch && plan_.of(model).node;
}

void coordinator::on_began(const assignment_began& m) {
  if (!is_current(m.model, m.epoch) || !plan_.began(m.model, m.epoch)) {
    return;
  }
  if (plan_.of(m.model).helpers.empty()) {
    drop_offer(m.model);  // others may still pull theirs
  }
  auto& began = record_.models[m.model].began;
  began = began.value_or(clock().now());
  for (std::size_t n = 0; n < record_.nodes.size(); ++n) {
    auto& used = record_.nodes[n].used;
    used = plan_.of(m.model).is_on(n) ? used.value_or(clock().now()) : used;
  }
  if (const auto left = transit_.extract(m.model)) {
    note_transit(m.model, clock().now() - left.mapped());
  }
  if (stopped_before_.erase(m.model) > 0) {
    stopping_.insert(m.model);
  }
  if (const auto stops = stopping_.find(m.model); stops != stopping_.end()) {
    send(node_of(*plan_.of(m.model).node), stop_assigned{m.model, m.epoch});
  }
  decide();
}

void coordinator::note_transit(std::uint32_t model, duration took) {
  record_.models[model].transit += took;
  const auto& m = plan_.of(model);
  const auto bytes = plan_.nodes()[*m.node].capacity.link.time_for(m.checkpoint);
  plan_.measured(std::max(took - 2 * bytes, duration{}));
}

void coordinator::on_refused(const assignment_refused& m) {
  const auto* const node = find(m.instance);
  if (!node || !node->number || !is_current(m.model, m.epoch) || !plan_.of(m.model).is_on(*node->number)) {
    return;
  }
  const auto& helpers = plan_.of(m.model).helpers;
  const auto because_of = m.place > 0 && m.place <= helpers.size() ? helpers[m.place - 1] : *plan_.of(m.model).node;
  const auto steps = plan_.of(m.model).steps;
  if (plan_.refused(m.model, m.epoch, m.why, because_of)) {
    count_failure(because_of, m.why);
    drop_offer(m.model);
    transit_.erase(m.model);
    say(fmt::format("{} is refused by {}: {}", plan_.of(m.model).name, node->name, m.why.text));
    if (m.why.code == fault_code::damaged) {
      set_aside_damaged(m.model);
    }
    note_redone(m.model, steps);
    if (plan_.of(m.model).phase == assignment_phase::ended) {
      note_end(m.model, model_phase::failed, m.why, "");
    }
    settle();
  }
}

void coordinator::count_failure(std::size_t node, const fault& why) {
  record_.nodes[node].failures += why.code == fault_code::io ? 1 : 0;
}

/// It need not be the newest: a node is sent all states_to_continue(). Nobody can train the model meanwhile.
void coordinator::set_aside_damaged(std::size_t model) {
  std::vector<std::string> notes;
  set_damaged_aside(checkpoints_of(model), notes);
  for (const auto& note : notes) {
    say(note);
    record_.notes.push_back(note);
  }
  plan_.found(model, newest_step(checkpoints_of(model)));
}

void coordinator::on_stays(const assignment_stays& m) {
  if (is_current(m.model, m.epoch) && plan_.stays(m.model, m.epoch)) {
    transit_.erase(m.model);
    count_failure(*plan_.of(m.model).node, m.why);
    say(fmt::format("{} stays where it is: {}", plan_.of(m.model).name, m.why.text));
    refuse_pause(m.model, m.why);
  }
}

void coordinator::on_progressed(const node_progressed& m) {
  const auto* const node = find(m.instance);
  if (!node || !node->number) {
    return;
  }
  for (const auto& p : m.models) {
    if (p.model < works_.size() && plan_.progressed(p.model, p.epoch, p.steps, remaining_of(p.model, p.steps))) {
      take_length(p);
      take_times(p, *node->number);
      take_losses(p);
    }
  }
  if (!m.devices.empty()) {
    auto& last = record_.nodes[*node->number].last;
    last = m;
    last.before.clear();
    last.metrics_lines.clear();
  }
  for (const auto& before : m.before) {
    if (told_before_.try_emplace(before.model, m.instance).first->second == m.instance) {
      add_lines(before.text);
    }
  }
  add_lines(m.metrics_lines);
}

void coordinator::add_lines(const std::string& text) const {
  if (!text.empty() && setup_.events.metrics_lines) {
    setup_.events.metrics_lines(text);
  }
}

/// Of one that was added.
void coordinator::take_length(const assignment_progress& p) {
  auto& record = record_.models[p.model];
  if (is_added(p.model) && p.of > 0) {
    record.of = p.of;
    works_[p.model] = record.step_work > duration{} ? record.step_work * p.of : expected_work(p.of);
  }
}

/// Of nodes that train it together, each does a share of the work of a step.
void coordinator::take_times(const assignment_progress& p, std::size_t node) {
  auto& into = record_.models[p.model];
  const auto smaller = [](duration& known, duration now) {
    known = known > duration{} && now > duration{} ? std::min(known, now) : std::max(known, now);
  };
  into.shares[node] = p.step_work;
  if (into.shares.size() == plan_.of(p.model).helpers.size() + 1) {
    const auto add = [](duration sum, const auto& share) { return sum + share.second; };
    smaller(into.step_work, std::accumulate(into.shares.begin(), into.shares.end(), duration{}, add));
  }
  smaller(into.step_chain, p.step_chain);
  into.steps = p.steps;
}

void coordinator::take_losses(const assignment_progress& p) {
  auto& into = record_.models[p.model];
  if (const auto loss = p.loss.value()) {
    into.loss = static_cast<float>(*loss);
  }
  if (const auto validation = p.validation.value()) {
    into.validation = validation;
  }
}

void coordinator::on_offered(const checkpoint_offered& m) {
  const bool found = m.what == handover::found && holders_.contains(m.model);
  if (!found && !is_current(m.model, m.epoch)) {
    send(m.checkpoints.from, drop_folders{m.checkpoints.offer});
    return;
  }
  auto& queue = arriving_[m.model];
  if (queue.size() > 1 && queue.back().what == handover::saved) {  // an older state, that nobody has asked for yet
    send(queue.back().checkpoints.from, drop_folders{queue.back().checkpoints.offer});
    queue.pop_back();
  }
  queue.push_back(m);
  if (queue.size() == 1) {
    pull(m);
  }
}

/// One at a time of a model.
void coordinator::pull(const checkpoint_offered& m) {
  if (m.checkpoints.files.empty()) {
    post(self_handle(), checkpoint_arrived{m.model, {}, {}, {}});
    return;
  }
  const auto start = clock().now();
  const auto into = checkpoints_of(m.model);
  const auto bytes = bytes_to_pull(m.checkpoints, into);
  receive_folders(system(), {.what = m.checkpoints, .into = into},
                  [self = self_handle(), model = m.model, into, keep = setup_.what.keep, start, bytes,
                   best = best_of(m.checkpoints)](const fault& why) {
                    try {
                      drop_old_checkpoints(posix_file_system(), into, keep);
                      if (!why && !best.empty()) {
                        drop_other_bests(posix_file_system(), into, best);
                      }
                    } catch (const std::exception&) {
                      // it is tried again after the next one
                    }
                    post(self, checkpoint_arrived{model, why, steady_clock::now() - start, bytes});
                  });
}

/// Of folders that are not there yet.
byte_count coordinator::bytes_to_pull(const offered_folders& what, const fs::path& into) {
  byte_count bytes{};
  for (const auto& f : what.files) {
    std::error_code ignored;
    bytes += fs::exists(into / f.folder, ignored) ? byte_count{} : f.size;
  }
  return bytes;
}

/// Of the largest folder.
byte_count coordinator::bytes_of_one(const offered_folders& what) {
  std::map<std::string, byte_count> folders;
  byte_count most{};
  for (const auto& f : what.files) {
    most = std::max(most, folders[f.folder] += f.size);
  }
  return most;
}

std::string coordinator::best_of(const offered_folders& what) {
  const auto best =
      std::ranges::find_if(what.files, [](const offered_file& f) { return f.folder.starts_with("best-"); });
  return best == what.files.end() ? "" : best->folder;
}

void coordinator::on_checkpoint_arrived(const checkpoint_arrived& m) {
  auto& queue = arriving_[m.model];
  if (queue.empty()) {
    return;  // the run has ended
  }
  const auto offered = std::move(queue.front());
  queue.pop_front();
  if (offered.what == handover::found) {
    take_found(offered, m.why);
  } else if (m.why) {
    on_lost_checkpoint(offered, m.why);
  } else {
    take_checkpoint(offered, m);
    record_expenses();
  }
  if (!queue.empty()) {
    pull(queue.front());
  }
  settle();
}

void coordinator::take_found(const checkpoint_offered& m, const fault& why) {
  holders_.erase(m.model);
  plan_.hold(m.model, false);
  const auto& now = plan_.of(m.model);
  if (!why && now.phase == assignment_phase::waiting && m.steps > now.saved_at.value_or(0)) {
    say(fmt::format("{} was found saved at step {}", now.name, m.steps));
    plan_.found(m.model, m.steps);
  }
}

void coordinator::on_lost_checkpoint(const checkpoint_offered& m, const fault& why) {
  if (!is_current(m.model, m.epoch)) {
    return;
  }
  say(fmt::format("the checkpoint of {} did not come: {}", plan_.of(m.model).name, why.text));
  if (m.what == handover::kept) {
    take_kept({.model = m.model, .epoch = m.epoch, .steps = m.steps, .why = why});
  } else if (m.what != handover::saved && why.code == fault_code::damaged) {
    const auto steps = plan_.of(m.model).steps;
    const fault on_disk{fault_code::io, why.text};
    count_failure(*plan_.of(m.model).node, on_disk);
    plan_.refused(m.model, m.epoch, on_disk);  // it is trained from the last one
    note_redone(m.model, steps);
  } else if (m.what != handover::saved) {
    missed_.push_back({m.model, m.epoch, clock().now() + retry_interval});
  }
}

void coordinator::ask_again() {
  std::erase_if(missed_, [this](const missed_handover& m) {
    const bool due = clock().now() >= m.due;
    if (due && is_current(m.model, m.epoch)) {
      send(node_of(*plan_.of(m.model).node), give_back{m.model, m.epoch});
    }
    return due;
  });
}

void coordinator::take_checkpoint(const checkpoint_offered& m, const checkpoint_arrived& how) {
  count_bytes(how, plan_.of(m.model).node);
  if (!m.checkpoints.files.empty()) {
    if (!plan_.saved(m.model, m.epoch, m.steps)) {
      take_late(m);
    }
    plan_.weighs(m.model, bytes_of_one(m.checkpoints));
  }
  if (m.what == handover::given_back && plan_.released(m.model, m.epoch)) {
    record_.models[m.model].steps = m.steps;
  } else if (m.what == handover::kept) {
    take_kept(m);
  } else if (m.what == handover::ended && plan_.ended(m.model, m.epoch, m.why)) {
    record_.models[m.model].steps = m.steps;
    note_end(m.model, m.end, m.why, m.digest);
  }
}

/// The node that has offered it does not have the model any more.
void coordinator::take_late(const checkpoint_offered& m) {
  const auto& now = plan_.of(m.model);
  if (now.phase == assignment_phase::waiting && m.steps > now.saved_steps()) {
    plan_.found(m.model, m.steps);
  }
}

void coordinator::count_bytes(const checkpoint_arrived& m, std::optional<std::size_t> node) {
  record_.moved += m.bytes;
  constexpr byte_count enough{1 << 20};  // else it is latency that was measured
  if (node && m.bytes > enough && m.took > duration{}) {
    plan_.measured(*node, byte_rate{static_cast<double>(m.bytes.value()) / seconds(m.took)});
  }
}

void coordinator::note_end(std::uint32_t model, model_phase end, const fault& why, const std::string& digest) {
  auto& record = record_.models[model];
  record.end = end;
  record.why = why;
  record.digest = digest;
  record.completed = clock().now();
  transit_.erase(model);
  say(fmt::format("{} has {}{}", record.name, end == model_phase::failed ? "failed" : "ended",
                  why ? ": " + why.text : " after " + counted(record.steps, "step")));
  if (trials_.has(record.name) && end != model_phase::finished) {
    search([&] { return trials_.ended(record.name); });
  }
}

}  // namespace hydra
