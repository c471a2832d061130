// Nodes of the COORDINATOR: who joins, who is refused, who is lost.

#include "actors/admission/identity.hpp"
#include "actors/cluster/coordinator_actor.hpp"
#include "actors/cluster/folder_receiver.hpp"
#include "actors/report/report_json.hpp"
#include "partition/checkpoint/checkpoint_folder.hpp"
#include "runtime/base/counted.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/text_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <sstream>

namespace hydra {

namespace {

namespace fs = std::filesystem;

}  // namespace

void coordinator::on_join(const join_cluster& m) {
  if (ending_) {
    send(m.node, end_node{});
    return;
  }
  const auto why = objection(m);
  if (!why.empty()) {
    say(fmt::format("node {} is refused: {}", shown(m.name), why));
    send(m.node, node_refused{why});
    return;
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].name == m.name && !members_[i].gone && !members_[i].ended) {
      send(members_[i].node, node_refused{"another node has joined under its name"});
      lose(i, "joins again");
    }
  }
  setup_.build = setup_.build.empty() ? m.build : setup_.build;
  members_.push_back({.name = m.name, .instance = m.instance, .node = m.node});
  monitor(m.node);
  const auto& w = setup_.what;
  node_accepted message{w.run, w.name, w.text, w.began_in, inputs_};
  std::ranges::transform(added_, std::back_inserter(message.added), &added_model::name);
  send(m.node, message);
}

std::string coordinator::objection(const join_cluster& m) const {
  if (m.protocol != cluster_protocol) {
    return fmt::format("it speaks version {} of the protocol, the coordinator version {}: use the same Hydra",
                       m.protocol, cluster_protocol);
  }
  if (m.name.empty()) {
    return "it has no name";
  }
  const bool is_folder = m.name != "." && m.name != ".." && m.name.find('/') == std::string::npos;
  if (!is_folder || !is_printable(m.name) || m.name.size() > most_shown) {
    return fmt::format("\"{}\" cannot name a node: at most {} bytes, without \"/\" and control characters",
                       shown(m.name), most_shown);
  }
  if (m.name == setup_.local_name && m.node.node() != node()) {
    return fmt::format("\"{}\" is the name of the coordinator's own node: choose another by --name", shown(m.name));
  }
  if (!setup_.build.empty() && m.build != setup_.build) {
    return fmt::format("it is \"{}\", the coordinator \"{}\": results may have other bits", shown(m.build),
                       shown(setup_.build));
  }
  return "";
}

joined_node* coordinator::find(std::uint64_t instance) {
  const auto found =
      std::ranges::find_if(members_, [&](const joined_node& m) { return m.instance == instance && !m.gone; });
  return found == members_.end() ? nullptr : &*found;
}

void coordinator::on_planned(const node_planned& m) {
  auto* const node = find(m.instance);
  if (!node || node->number) {
    return;
  }
  const auto why = m.why ? m.why.text : objection_to_plan(m);
  if (!why.empty()) {
    say(fmt::format("node {} cannot train this workload: {}", node->name, why));
    record_.notes.push_back(fmt::format("node {} could not train this workload: {}", node->name, why));
    send(node->node, node_refused{why});
    node->gone = true;
    if (node->name == setup_.local_name &&
        (m.why.code == fault_code::bad_input || m.why.code == fault_code::does_not_fit)) {
      record_.why = m.why;  // as a run of this machine alone would be refused
      end_nodes(false);
    }
    return;
  }
  take_estimates(m);
  node->exchange = m.exchange;
  node->number = plan_.add_node(node->name, {.devices = m.devices.size(), .speed = speed_of(m)});
  record_.nodes.push_back({.name = node->name, .devices = m.devices, .joined = clock().now()});
  say(fmt::format("node {} has joined, with {} ({} of {} nodes are there)", node->name,
                  counted(m.devices.size(), "device"), nodes_here(), std::max(setup_.nodes, nodes_here())));
  leave_out(m, *node->number);
  if (ending_ || interrupted_) {
    plan_.node_leaves(*node->number);
  }
  ask_for_found(m, node->node);
  decide();
}

void coordinator::leave_out(const node_planned& m, std::size_t node) {
  for (std::size_t i = 0; i < m.models.size(); ++i) {
    if (!m.models[i].unfit.empty()) {
      plan_.cannot_take(i, node, {fault_code::does_not_fit, m.models[i].unfit});
      say(fmt::format("{} cannot train {}: {}", plan_.nodes()[node].name, plan_.of(i).name, m.models[i].unfit));
    }
  }
}

/// Newer states than the run folder has, of models that nobody trains.
void coordinator::ask_for_found(const node_planned& m, const node_actor& node) {
  for (std::uint32_t i = 0; i < m.models.size(); ++i) {
    ask_for_found(i, m.models[i].saved, m.instance, node);
  }
  for (std::uint32_t i = 0; i < m.added.size(); ++i) {
    ask_for_found(static_cast<std::uint32_t>(first_added_) + i, m.added[i], m.instance, node);
  }
}

void coordinator::ask_for_found(std::uint32_t model, std::uint32_t saved, std::uint64_t instance,
                                const node_actor& node) {
  const auto& known = plan_.of(model);
  if (known.phase == assignment_phase::waiting && !known.held && saved > known.saved_at.value_or(0)) {
    plan_.hold(model, true);
    holders_[model] = instance;
    send(node, offer_found{model});
  }
}

void coordinator::release_held(std::uint64_t instance) {
  std::erase_if(holders_, [&](const auto& held) {
    if (held.second == instance) {
      plan_.hold(held.first, false);
    }
    return held.second == instance;
  });
}

/// All nodes must train the same models, from the same data.
std::string coordinator::objection_to_plan(const node_planned& m) const {
  if (m.models.size() != first_added_ || m.added.size() > added_.size() || m.devices.empty()) {
    return "it has planned other models";
  }
  for (std::size_t i = 0; i < setup_.what.data.size(); ++i) {
    if (m.models[i].unfit.empty() && !has_lines(m.models[i].identity, setup_.what.data[i])) {
      return fmt::format(
          "of {} it has other data than the coordinator: other files, another tokenizer, or they are read otherwise; "
          "what it does not have comes from the coordinator",
          plan_.of(i).name);
    }
  }
  for (std::size_t i = 0; i < identities_.size(); ++i) {
    if (m.models[i].unfit.empty() && !identities_[i].empty() && m.models[i].identity != identities_[i]) {
      return fmt::format("of {} it has {}", plan_.of(i).name, difference(identities_[i], m.models[i].identity));
    }
  }
  return "";
}

/// The first line of one that the other does not have, and what that has with the same key.
std::string coordinator::difference(const std::string& here, const std::string& there) {
  const auto lines_of = [](const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> all;
    for (std::string line; std::getline(in, line);) {
      all.push_back(line);
    }
    return all;
  };
  const auto ours = lines_of(here), its = lines_of(there);
  const auto other = std::ranges::find_if(its, [&](const auto& line) { return std::ranges::count(ours, line) == 0; });
  const auto line = other == its.end() ? std::string{} : *other;
  const auto key = line.substr(0, line.find(':') + 1);
  const auto same = std::ranges::find_if(ours, [&](const auto& l) { return !key.empty() && l.starts_with(key); });
  return same != ours.end()   ? fmt::format("\"{}\", the others \"{}\"", shown(line), shown(*same))
         : other != its.end() ? fmt::format("\"{}\", which the others do not have", shown(line))
                              : std::string("less than the others");
}

/// Of models that no node before could hold.
void coordinator::take_estimates(const node_planned& m) {
  const bool is_first = works_.empty();
  works_.resize(std::max(works_.size(), first_added_));
  identities_.resize(first_added_);
  auto known_now = m.models;
  for (std::size_t i = 0; i < m.models.size(); ++i) {
    const auto& p = m.models[i];
    if (!p.unfit.empty() || !identities_[i].empty()) {
      known_now[i].steps = 0;
      continue;
    }
    works_[i] = p.work;
    identities_[i] = p.identity;
    record_.models[i].of = p.steps;
    record_.models[i].lanes = std::max(p.lanes, 1U);
    record_.models[i].replicas = std::max(p.replicas, 1U);
    plan_.estimated(i, remaining_of(i, plan_.of(i).steps), p.checkpoint, std::max(std::min(p.nodes, p.replicas), 1U));
  }
  for (auto i = works_.size(); is_first && i < plan_.models().size(); ++i) {  // added before that
    works_.push_back(expected_work(record_.models[i].of));
    plan_.remains(i, remaining_of(i, plan_.of(i).steps));
  }
  if (setup_.events.planned) {
    setup_.events.planned(known_now);
  }
}

/// Compared with the first node's devices at speed 1.
double coordinator::speed_of(const node_planned& m) const {
  duration its{}, first{};  // of the same models
  for (std::size_t i = 0; i < m.models.size(); ++i) {
    its += m.models[i].unfit.empty() ? m.models[i].work : duration{};
    first += m.models[i].unfit.empty() ? works_[i] : duration{};
  }
  const double emulated = std::accumulate(m.devices.begin(), m.devices.end(), 0.0,
                                          [](double total, const node_device& d) { return total + d.speed; }) /
                          static_cast<double>(m.devices.size());
  return its > duration{} && first > duration{} ? emulated * seconds(first) / seconds(its) : emulated;
}

duration coordinator::remaining_of(std::size_t model, std::uint32_t steps) const {
  return std::max(works_[model] / std::max(record_.models[model].of, 1U) * steps_ahead(model, steps), duration{1});
}

std::size_t coordinator::nodes_here() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(members_, [](const joined_node& m) { return m.number && !m.gone && !m.ended; }));
}

void coordinator::on_down(const caf::down_msg& m) {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].node && members_[i].node.address() == m.source) {
      lose(i, "is lost");
    }
  }
}

void coordinator::lose(std::size_t i, const char* how) {
  auto& m = members_[i];
  if (m.gone || m.ending) {
    return;
  }
  m.gone = true;
  say(fmt::format("node {} {}", m.name, how));
  release_held(m.instance);
  if (m.number) {
    auto& record = record_.nodes[*m.number];
    record.lost = true;
    record.left = clock().now();
    give_up(*m.number);
  }
  m.ended = true;
  settle();
}

void coordinator::give_up(std::size_t node) {
  for (std::uint32_t i = 0; i < plan_.models().size(); ++i) {
    if (plan_.of(i).is_on(node)) {
      drop_offer(i);
      transit_.erase(i);
      note_redone(i, plan_.of(i).steps);
    }
  }
  plan_.node_lost(node);
}

void coordinator::note_redone(std::uint32_t model, std::uint32_t steps) {
  const auto& m = plan_.of(model);
  const auto from = m.saved_steps();
  if (steps > from) {
    plan_.remains(model, remaining_of(model, from));
    record_.models[model].steps = from;
    record_.models[model].redone += steps - from;
    say(fmt::format("{} continues from step {}, {} are lost", m.name, from, counted(steps - from, "step")));
  }
}

void coordinator::on_leaves(const node_leaves& m) {
  if (auto* const node = find(m.instance); node && node->number) {
    say(fmt::format("node {} leaves", node->name));
    plan_.node_leaves(*node->number);
    settle();
  }
}

/// With its report, which is pulled before it counts as ended.
void coordinator::on_ended(const node_ended& m) {
  auto* const node = find(m.instance);
  if (!node || !node->number) {
    return;
  }
  node->ending = true;
  release_held(node->instance);
  record_.nodes[*node->number].why = m.why;
  record_.nodes[*node->number].left = clock().now();
  give_up(*node->number);
  if (m.files.files.empty()) {
    node->ended = true;
    return settle();
  }
  const auto place = static_cast<std::size_t>(node - members_.data());
  receive_folders(system(), {.what = m.files, .into = folder_of(*node), .replaces = true},
                  [self = self_handle(), place](const fault& why) {
                    post(self, report_arrived{place, why});
                  });
}

fs::path coordinator::folder_of(const joined_node& m) const {
  return hydra::checkpoints_of(setup_.what.folder / "nodes", m.name);
}

void coordinator::on_report_arrived(const report_arrived& m) {
  auto& node = members_.at(m.member);
  node.ended = true;
  if (!m.why) {
    read_report(node);
  }
  settle();
}

void coordinator::read_report(const joined_node& node) try {
  record_.nodes[*node.number].summary =
      report_of(parse_ordered_json(read_text(folder_of(node) / "ended" / "report.json", text_kind::record)));
} catch (const std::exception&) {
  // it is a part of the report that is missing
}

}  // namespace hydra
