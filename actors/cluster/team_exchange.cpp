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
                             std::uint32_t here)
    : model_(model),
      epoch_(epoch),
      node_of_(std::move(node_of)),
      here_(here),
      members_(std::ranges::max(node_of_) + 1) {}

void team_exchange::begin(partner_exchange values) {
  waiting_.push_back(std::move(values));
  start();
}

void team_exchange::start() {
  while (running_.size() < most_running && !waiting_.empty()) {
    running_.emplace(next_++, make(std::move(waiting_.front())));
    waiting_.pop_front();
  }
}

/// Parties are replicas if values are added, else nodes: each replica's values are a broadcast.
team_exchange::operation team_exchange::make(partner_exchange values) const {
  operation made{.values = std::move(values)};
  const auto& replicas = made.values.replicas;
  if (made.values.adds) {
    std::vector<collective_run::party_values> here;
    for (std::uint32_t r = 0; r < replicas.size(); ++r) {
      if (node_of_.at(r) == here_) {
        here.push_back({r, replicas[r]});
      }
    }
    const auto parties = static_cast<std::uint32_t>(replicas.size());
    const auto what = make_collective(collective_kind::direct, parties, here.front().values.size());
    made.parts.emplace_back(std::make_shared<const collective>(what), here);
    return made;
  }
  for (std::uint32_t r = 0; r < replicas.size(); ++r) {
    const auto what = make_broadcast(node_of_.at(r), members_, replicas[r].size());
    made.parts.emplace_back(std::make_shared<const collective>(what),
                            std::vector<collective_run::party_values>{{here_, replicas[r]}});
  }
  return made;
}

void team_exchange::arrived(const given_values& m) {
  const auto found = running_.find(m.of.operation);
  if (found == running_.end() || m.of.part >= found->second.parts.size()) {
    throw fault_error(fault_code::damaged, "values came that nobody has asked for");
  }
  found->second.parts[m.of.part].arrived(m.what, m.values);
}

std::vector<team_exchange::request> team_exchange::requests() {
  std::vector<request> all;
  for (auto& [number, open] : running_) {
    for (std::uint32_t part = 0; part < open.parts.size(); ++part) {
      for (const auto& p : open.parts[part].wanted()) {
        const auto member = open.values.adds ? node_of_.at(p.from) : p.from;
        all.push_back({member, {model_, epoch_, number, part}, p});
      }
    }
  }
  return all;
}

std::vector<std::pair<value_receiver, given_values>> team_exchange::answers() {
  std::vector<std::pair<value_receiver, given_values>> all;
  std::erase_if(wanted_, [&](const want_values& m) {
    const auto found = running_.find(m.of.operation);
    if (found == running_.end() && m.of.operation >= next_) {
      return false;  // it has not begun here
    }
    if (found == running_.end() || m.of.part >= found->second.parts.size()) {
      throw fault_error(fault_code::damaged, "values are wanted of an exchange that is over");
    }
    auto& run = found->second.parts[m.of.part];
    if (!run.may_read(m.what)) {
      return false;
    }
    given_values answer{.of = m.of, .what = m.what};
    run.read(m.what, [&](std::span<const float> values) { answer.values.assign(values.begin(), values.end()); });
    all.emplace_back(m.to, std::move(answer));
    return true;
  });
  return all;
}

std::vector<partner_exchange> team_exchange::take_finished() {
  std::vector<partner_exchange> all;
  std::erase_if(running_, [&](auto& entry) {
    auto& open = entry.second;
    const bool done = std::ranges::all_of(open.parts, [](const collective_run& p) { return p.finished(); });
    if (done) {
      all.push_back(std::move(open.values));
    }
    return done;
  });
  start();
  return all;
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
