#include "actors/cluster/team_exchange.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/collective/collective.hpp"

#include <algorithm>
#include <memory>

namespace hydra {

namespace {

constexpr std::size_t most_running = 2;  ///< while one waits for the network, the next one begins

}  // namespace

team_exchange::team_exchange(std::uint32_t model, assignment_epoch epoch, std::vector<std::uint32_t> node_of,
                             std::uint32_t here, collective_kind adds_by)
    : model_(model),
      epoch_(epoch),
      node_of_(std::move(node_of)),
      here_(here),
      members_(std::ranges::max(node_of_) + 1),
      adds_by_(adds_by) {}

void team_exchange::begin(partner_exchange values) {
  waiting_.push_back(std::move(values));
  start();
}

void team_exchange::start() {
  while (running_.size() < most_running && !waiting_.empty()) {
    last_ = waiting_.front().number;
    running_.emplace(*last_, make(std::move(waiting_.front())));
    waiting_.pop_front();
  }
}

/// Parties are replicas if values are added, else nodes: each replica's values are a broadcast.
team_exchange::operation team_exchange::make(partner_exchange values) const {
  operation made{.values = std::move(values)};
  const auto& replicas = made.values.replicas;
  if (made.values.adds) {
    add_part(made);
    return made;
  }
  for (std::uint32_t r = 0; r < replicas.size(); ++r) {
    const auto what = make_broadcast(node_of_.at(r), members_, replicas[r].size());
    made.parts.emplace_back(std::make_shared<const collective>(what),
                            std::vector<collective_run::party_values>{{here_, replicas[r]}});
  }
  return made;
}

void team_exchange::add_part(operation& made) const {
  const auto& replicas = made.values.replicas;
  const auto size = std::ranges::max(replicas, {}, &std::span<float>::size).size();
  const auto what = adds_by_ == collective_kind::direct
                        ? make_direct(node_of_, size)
                        : make_collective(adds_by_, static_cast<std::uint32_t>(replicas.size()), size);
  std::vector<collective_run::party_values> here;
  for (std::uint32_t r = 0; r < replicas.size(); ++r) {
    if (node_of_.at(r) == here_) {
      here.push_back({r, replicas[r]});
    }
  }
  if (what.parties > what.summands && here_ + 1 == members_) {
    made.server.resize(size);
    here.push_back({what.summands, made.server});
  }
  made.parts.emplace_back(std::make_shared<const collective>(what), here);
}

void team_exchange::arrived(const given_values& m) {
  const auto found = running_.find(m.of.operation);
  if (found == running_.end() || m.of.part >= found->second.parts.size()) {
    throw fault_error(fault_code::damaged, "values came that nobody has asked for");
  }
  found->second.parts[m.of.part].arrived(m.what, m.values);
}

/// Until nothing changes: what is read may be all that later values have waited for, and operations that end let others
/// begin.
team_exchange::actions team_exchange::go_on() {
  actions now;
  while (answer_wanted(now) || end_finished(now)) {
  }
  request_wanted(now);
  return now;
}

bool team_exchange::answer_wanted(actions& now) {
  return std::erase_if(wanted_, [&](const want_values& m) {
           auto given = answer_to(m);
           if (given) {
             now.answers.emplace_back(m.to, std::move(*given));
           }
           return given.has_value();
         }) > 0;
}

void team_exchange::request_wanted(actions& now) {
  for (auto& [number, open] : running_) {
    for (std::uint32_t part = 0; part < open.parts.size(); ++part) {
      for (const auto& p : open.parts[part].wanted()) {
        const auto of_party = p.from < node_of_.size() ? node_of_.at(p.from) : members_ - 1;
        const auto member = open.values.adds ? of_party : p.from;
        now.requests.push_back({member, {model_, epoch_, number, part}, p});
      }
    }
  }
}

/// None if it must wait.
std::optional<given_values> team_exchange::answer_to(const want_values& m) {
  const auto found = running_.find(m.of.operation);
  if (found == running_.end() && (!last_ || m.of.operation > *last_)) {
    return std::nullopt;  // it has not begun here
  }
  if (found == running_.end() || m.of.part >= found->second.parts.size()) {
    throw fault_error(fault_code::damaged, "values are wanted of an exchange that is over");
  }
  auto& run = found->second.parts[m.of.part];
  if (!run.may_read(m.what)) {
    return std::nullopt;
  }
  given_values given{.of = m.of, .what = m.what};
  run.read(m.what, [&](std::span<const float> values) { given.values.assign(values.begin(), values.end()); });
  return given;
}

bool team_exchange::end_finished(actions& now) {
  bool some = false;
  while (!running_.empty() && std::ranges::all_of(running_.begin()->second.parts, &collective_run::finished)) {
    now.finished.push_back(std::move(running_.begin()->second.values));
    running_.erase(running_.begin());
    some = true;
  }
  start();
  return some;
}

std::vector<partner_exchange> team_exchange::cancel() {
  std::vector<partner_exchange> all;
  for (auto& [number, open] : running_) {
    all.push_back(std::move(open.values));
  }
  std::ranges::move(waiting_, std::back_inserter(all));
  running_.clear();
  waiting_.clear();
  wanted_.clear();
  return all;
}

}  // namespace hydra
