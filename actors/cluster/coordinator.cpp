#include "actors/cluster/coordinator.hpp"

#include "actors/cluster/assignments.hpp"
#include "actors/cluster/folder_receiver.hpp"
#include "actors/cluster/folder_source.hpp"
#include "actors/protocol/guarded.hpp"
#include "actors/report/report_json.hpp"
#include "partition/checkpoint/checkpoint_folder.hpp"
#include "runtime/base/counted.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/text_file.hpp"
#include "runtime/storage/file_system.hpp"

#include <caf/actor_cast.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace hydra {

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr auto decide_interval = 250ms;  ///< at which moves are considered
constexpr auto retry_interval = 5s;      ///< after a transfer that has failed
constexpr auto forgive_interval = 10s;   ///< after which nodes that could not write files are tried again
constexpr auto report_limit = 30s;       ///< for the reports of the nodes at the end

/// A transfer of a model's checkpoint has ended.
struct checkpoint_arrived {
  std::uint32_t model = 0;
  fault why;
  duration took{};
  byte_count bytes{};
};

struct report_arrived {
  std::size_t member = 0;
  fault why;
};

struct interrupt_cluster {};
struct decide_again {};

struct stop_by_name {
  std::string model;
  command_sink answer;
};
struct read_cluster {
  status_sink answer;
};

}  // namespace

}  // namespace hydra

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::checkpoint_arrived)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::report_arrived)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::interrupt_cluster)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::decide_again)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::stop_by_name)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::read_cluster)

namespace hydra {

namespace {

using local_coordinator = coordinator_actor::extend<caf::reacts_to<checkpoint_arrived>, caf::reacts_to<report_arrived>,
                                                    caf::reacts_to<interrupt_cluster>, caf::reacts_to<decide_again>,
                                                    caf::reacts_to<stop_by_name>, caf::reacts_to<read_cluster>>;

/// A node, from its joining on.
struct member {
  std::string name;
  std::uint64_t instance = 0;
  node_actor node;
  std::optional<std::size_t> number{};  ///< in the assignments and in the record, once it has planned
  bool gone = false;
  bool ending = false;  ///< its report comes
  bool ended = false;   ///< with its report, or without
};

/// A handover that has to be asked for again.
struct missed_handover {
  std::uint32_t model = 0;
  assignment_epoch epoch = 0;
  time_point due{};
};

/// A thread of its own: it reads files. A message that is sent later keeps that thread until it arrives, so timers are short.
class coordinator final : public local_coordinator::base {
 public:
  using super = local_coordinator::base;

  coordinator(caf::actor_config& config, coordinator_setup setup)
      : super(config), setup_(std::move(setup)), began_(clock().now()) {
    for (const auto& name : setup_.what.models) {
      plan_.add_model(name, 1ns, {});
      record_.models.push_back({.name = name});
    }
    find_checkpoints();
  }
  const char* name() const override { return "coordinator"; }

  behavior_type make_behavior() override {
    set_down_handler([this](const caf::down_msg& m) { on_down(m); });
    delayed_send(this, decide_interval, decide_again{});
    return {guarded(this, &coordinator::on_want_chunk),
            guarded(this, &coordinator::on_drop_folders),
            guarded(this, &coordinator::on_join),
            guarded(this, &coordinator::on_planned),
            guarded(this, &coordinator::on_began),
            guarded(this, &coordinator::on_refused),
            guarded(this, &coordinator::on_stays),
            guarded(this, &coordinator::on_offered),
            guarded(this, &coordinator::on_progressed),
            guarded(this, &coordinator::on_leaves),
            guarded(this, &coordinator::on_ended),
            guarded(this, &coordinator::on_checkpoint_arrived),
            guarded(this, &coordinator::on_report_arrived),
            guarded(this, &coordinator::on_interrupt),
            guarded(this, &coordinator::on_decide_again),
            guarded(this, &coordinator::on_stop),
            guarded(this, &coordinator::on_read)};
  }

  void on_exit() override {
    if (auto ended = std::exchange(setup_.events.ended, nullptr)) {
      record_.notes.emplace_back("the coordinator has died, which is an error of Hydra");
      record_.ended = steady_clock::now();
      record_.interrupted = true;
      ended(std::move(record_));
    }
  }

  void on_fault(const fault& why) {
    say("the coordinator fails: " + why.text);
    record_.notes.push_back(why.text);
    interrupted_ = true;
    end_nodes();
  }

 private:
  // -- files -------------------------------------------------------------------------------------------------------------

  void on_want_chunk(const want_chunk& m) { send(m.to, source_.read(m)); }
  void on_drop_folders(const drop_folders& m) { source_.drop(m.offer); }

  fs::path checkpoints_of(std::size_t model) const {
    return hydra::checkpoints_of(setup_.what.folder / "checkpoints", setup_.what.models.at(model));
  }

  /// Of a run that is resumed.
  void find_checkpoints() {
    for (std::size_t m = 0; m < plan_.models().size(); ++m) {
      if (const auto steps = newest_step(checkpoints_of(m))) {
        plan_.found(m, *steps);
        record_.models[m].before = *steps;
      }
    }
  }

  // -- nodes -------------------------------------------------------------------------------------------------------------

  void on_join(const join_cluster& m) {
    if (ending_) {
      send(m.node, end_node{});
      return;
    }
    const auto why = objection(m);
    if (!why.empty()) {
      say(fmt::format("node {} is refused: {}", m.name, why));
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
    send(m.node, node_accepted{w.run, w.name, w.text, w.began_in});
  }

  std::string objection(const join_cluster& m) const {
    if (m.protocol != cluster_protocol) {
      return fmt::format("it speaks version {} of the protocol, the coordinator version {}: use the same Hydra",
                         m.protocol, cluster_protocol);
    }
    if (m.name.empty()) {
      return "it has no name";
    }
    if (m.name == setup_.local_name && m.node.node() != node()) {
      return fmt::format("\"{}\" is the name of the coordinator's own node: choose another by --name", m.name);
    }
    if (!setup_.build.empty() && m.build != setup_.build) {
      return fmt::format("it is \"{}\", the coordinator \"{}\": results may have other bits", m.build, setup_.build);
    }
    return "";
  }

  member* find(std::uint64_t instance) {
    const auto found =
        std::ranges::find_if(members_, [&](const member& m) { return m.instance == instance && !m.gone; });
    return found == members_.end() ? nullptr : &*found;
  }

  void on_planned(const node_planned& m) {
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
        end_nodes();
      }
      return;
    }
    if (works_.empty()) {
      take_estimates(m);
    }
    node->number = plan_.add_node(node->name, {.devices = m.devices.size(), .speed = speed_of(m)});
    record_.nodes.push_back({.name = node->name, .devices = m.devices, .joined = clock().now()});
    say(fmt::format("node {} has joined, with {} ({} of {} nodes are there)", node->name,
                    counted(m.devices.size(), "device"), nodes_here(), std::max(setup_.nodes, nodes_here())));
    if (ending_ || interrupted_) {
      plan_.node_leaves(*node->number);
    }
    ask_for_found(m, node->node);
    decide();
  }

  /// Newer states than the run folder has, of models that nobody trains.
  void ask_for_found(const node_planned& m, const node_actor& node) {
    for (std::uint32_t i = 0; i < m.models.size(); ++i) {
      const auto& known = plan_.of(i);
      if (known.phase == assignment_phase::waiting && !known.held && m.models[i].saved > known.saved_at.value_or(0)) {
        plan_.hold(i, true);
        holders_[i] = m.instance;
        send(node, offer_found{i});
      }
    }
  }

  void release_held(std::uint64_t instance) {
    std::erase_if(holders_, [&](const auto& held) {
      if (held.second == instance) {
        plan_.hold(held.first, false);
      }
      return held.second == instance;
    });
  }

  /// All nodes must train the same models, from the same data.
  std::string objection_to_plan(const node_planned& m) const {
    if (m.models.size() != plan_.models().size() || m.devices.empty()) {
      return "it has planned other models";
    }
    for (std::size_t i = 0; i < identities_.size(); ++i) {
      if (m.models[i].identity != identities_[i]) {
        return fmt::format("of {} it has {}", plan_.of(i).name, difference(identities_[i], m.models[i].identity));
      }
    }
    return "";
  }

  static std::string difference(const std::string& here, const std::string& there) {
    const auto end = std::ranges::mismatch(here, there);
    const auto line_at = [](const std::string& text, std::string::const_iterator at) {
      const auto from = text.rfind('\n', static_cast<std::size_t>(at - text.begin()));
      const auto begin = from == std::string::npos ? 0 : from + 1;
      return text.substr(begin, text.find('\n', begin) - begin);
    };
    return fmt::format("\"{}\", the others \"{}\"", line_at(there, end.in2), line_at(here, end.in1));
  }

  void take_estimates(const node_planned& m) {
    for (std::size_t i = 0; i < m.models.size(); ++i) {
      const auto& p = m.models[i];
      works_.push_back(p.work);
      identities_.push_back(p.identity);
      record_.models[i].of = p.steps;
      record_.models[i].lanes = std::max(p.lanes, 1U);
      plan_.estimated(i, remaining_of(i, plan_.of(i).steps), p.checkpoint);
    }
    if (setup_.events.planned) {
      setup_.events.planned(m.models);
    }
  }

  /// Compared with the first node's devices at speed 1.
  double speed_of(const node_planned& m) const {
    const auto sum = [](duration total, const planned_model& p) { return total + p.work; };
    const auto its = std::accumulate(m.models.begin(), m.models.end(), duration{}, sum);
    const auto first = std::accumulate(works_.begin(), works_.end(), duration{});
    const double emulated = std::accumulate(m.devices.begin(), m.devices.end(), 0.0,
                                            [](double total, const node_device& d) { return total + d.speed; }) /
                            static_cast<double>(m.devices.size());
    return its > duration{} && first > duration{} ? emulated * seconds(first) / seconds(its) : emulated;
  }

  duration remaining_of(std::size_t model, std::uint32_t steps) const {
    const auto of = std::max(record_.models[model].of, 1U);
    const auto left = of - std::min(steps, of);
    return std::max(works_[model] / of * left, duration{1});
  }

  std::size_t nodes_here() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(members_, [](const member& m) { return m.number && !m.gone && !m.ended; }));
  }

  void on_down(const caf::down_msg& m) {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (members_[i].node && members_[i].node.address() == m.source) {
        lose(i, "is lost");
      }
    }
  }

  void lose(std::size_t i, const char* how) {
    auto& m = members_[i];
    if (m.gone || m.ending) {
      return;
    }
    m.gone = true;
    release_held(m.instance);
    if (m.number) {
      auto& record = record_.nodes[*m.number];
      record.lost = true;
      record.left = clock().now();
      note_redone(*m.number);
      plan_.node_lost(*m.number);
    }
    say(fmt::format("node {} {}", m.name, how));
    m.ended = true;
    settle();
  }

  /// Its models begin again from their checkpoints.
  void note_redone(std::size_t node) {
    for (std::size_t i = 0; i < plan_.models().size(); ++i) {
      const auto& m = plan_.of(i);
      if (m.node == node) {
        drop_offer(i);
        transit_.erase(i);
      }
      if (m.node == node && m.steps > m.saved_at.value_or(0)) {
        record_.models[i].redone += m.steps - m.saved_at.value_or(0);
        say(fmt::format("{} continues from step {}, {} are lost", m.name, m.saved_at.value_or(0),
                        counted(m.steps - m.saved_at.value_or(0), "step")));
      }
    }
  }

  void on_leaves(const node_leaves& m) {
    if (auto* const node = find(m.instance); node && node->number) {
      say(fmt::format("node {} leaves", node->name));
      plan_.node_leaves(*node->number);
      settle();
    }
  }

  /// With its report, which is pulled before it counts as ended.
  void on_ended(const node_ended& m) {
    auto* const node = find(m.instance);
    if (!node || !node->number) {
      return;
    }
    node->ending = true;
    release_held(node->instance);
    record_.nodes[*node->number].why = m.why;
    record_.nodes[*node->number].left = clock().now();
    note_redone(*node->number);
    plan_.node_lost(*node->number);
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

  fs::path folder_of(const member& m) const { return hydra::checkpoints_of(setup_.what.folder / "nodes", m.name); }

  void on_report_arrived(const report_arrived& m) {
    auto& node = members_.at(m.member);
    node.ended = true;
    if (!m.why) {
      read_report(node);
    }
    settle();
  }

  void read_report(const member& node) try {
    record_.nodes[*node.number].summary =
        report_of(parse_ordered_json(read_text(folder_of(node) / "ended" / "report.json")));
  } catch (const std::exception&) {
    // it is a part of the report that is missing
  }

  // -- models ------------------------------------------------------------------------------------------------------------

  void decide() {
    if (ending_) {
      return;
    }
    if (!started_) {
      started_ = nodes_here() >= setup_.nodes;
    }
    if (!started_ && !interrupted_) {
      return;
    }
    for (const auto& command : plan_.decide()) {
      std::visit([this](const auto& c) { give(c); }, command);
    }
    end_if_over();
  }

  const node_actor& node_of(std::size_t number) const {
    const auto found = std::ranges::find_if(members_, [&](const member& m) { return m.number == number; });
    return found->node;
  }

  void give(const assign_model& c) {
    if (!record_.began) {
      record_.began = clock().now();
    }
    const auto states = states_to_continue(checkpoints_of(c.model));
    take_model message{static_cast<std::uint32_t>(c.model), c.epoch, {}};
    try {
      if (!states.empty()) {
        message.checkpoints = source_.offer(states, caf::actor_cast<chunk_source>(this));
        offers_[c.model] = message.checkpoints.offer;
      }
    } catch (const fault_error& e) {
      say(fmt::format("the checkpoint of {} cannot be read now: {}", plan_.of(c.model).name, e.what()));
      plan_.refused(c.model, c.epoch, {fault_code::io, e.what()});
      return;
    }
    auto& record = record_.models[c.model];
    const auto& node = plan_.nodes()[c.node].name;
    say(fmt::format("{} -> {}{}", record.name, node, c.from_step ? fmt::format(", from step {}", *c.from_step) : ""));
    if (record.nodes.empty() || record.nodes.back() != node) {
      record.nodes.push_back(node);
    }
    send(node_of(c.node), message);
  }

  /// The node has it, or does not want it any more.
  void drop_offer(std::size_t model) {
    if (const auto offer = offers_.extract(model)) {
      source_.drop(offer.mapped());
    }
  }

  void give(const take_back_model& c) {
    if (plan_.of(c.model).moves_to) {
      transit_[c.model] = clock().now();
    }
    send(node_of(c.node), give_back{static_cast<std::uint32_t>(c.model), c.epoch});
  }

  bool is_current(std::uint32_t model, assignment_epoch epoch) const {
    return model < plan_.models().size() && plan_.of(model).epoch == epoch && plan_.of(model).node;
  }

  void on_began(const assignment_began& m) {
    if (!is_current(m.model, m.epoch) || !plan_.began(m.model, m.epoch)) {
      return;
    }
    drop_offer(m.model);
    auto& began = record_.models[m.model].began;
    began = began.value_or(clock().now());
    auto& used = record_.nodes[*plan_.of(m.model).node].used;
    used = used.value_or(clock().now());
    if (const auto left = transit_.extract(m.model)) {
      note_transit(m.model, clock().now() - left.mapped());
    }
    if (const auto stops = stopping_.find(m.model); stops != stopping_.end()) {
      send(node_of(*plan_.of(m.model).node), stop_assigned{m.model, m.epoch});
    }
    decide();
  }

  void note_transit(std::uint32_t model, duration took) {
    record_.models[model].transit += took;
    const auto& m = plan_.of(model);
    const auto bytes = plan_.nodes()[*m.node].capacity.link.time_for(m.checkpoint);
    plan_.measured(std::max(took - 2 * bytes, duration{}));
  }

  void on_refused(const assignment_refused& m) {
    if (is_current(m.model, m.epoch) && plan_.refused(m.model, m.epoch, m.why)) {
      drop_offer(m.model);
      transit_.erase(m.model);
      say(fmt::format("{} is refused: {}", plan_.of(m.model).name, m.why.text));
      if (plan_.of(m.model).phase == assignment_phase::ended) {
        note_end(m.model, model_phase::failed, m.why, "");
      }
      settle();
    }
  }

  void on_stays(const assignment_stays& m) {
    if (is_current(m.model, m.epoch) && plan_.stays(m.model, m.epoch)) {
      transit_.erase(m.model);
      say(fmt::format("{} stays where it is: {}", plan_.of(m.model).name, m.why.text));
    }
  }

  void on_progressed(const node_progressed& m) {
    const auto* const node = find(m.instance);
    if (!node || !node->number) {
      return;
    }
    for (const auto& p : m.models) {
      if (p.model < works_.size() && plan_.progressed(p.model, p.epoch, p.steps, remaining_of(p.model, p.steps))) {
        take_times(record_.models[p.model], p);
      }
    }
    if (!m.devices.empty()) {
      record_.nodes[*node->number].last = m;
      record_.nodes[*node->number].last.metrics_lines.clear();
    }
    if (!m.metrics_lines.empty() && setup_.events.metrics_lines) {
      setup_.events.metrics_lines(m.metrics_lines);
    }
  }

  static void take_times(cluster_model_record& into, const assignment_progress& p) {
    const auto smaller = [](duration& known, duration now) {
      known = known > duration{} && now > duration{} ? std::min(known, now) : std::max(known, now);
    };
    smaller(into.step_work, p.step_work);
    smaller(into.step_chain, p.step_chain);
    into.steps = p.steps;
  }

  // -- checkpoints that come ---------------------------------------------------------------------------------------------

  void on_offered(const checkpoint_offered& m) {
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
  void pull(const checkpoint_offered& m) {
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
  static byte_count bytes_to_pull(const offered_folders& what, const fs::path& into) {
    byte_count bytes{};
    for (const auto& f : what.files) {
      std::error_code ignored;
      bytes += fs::exists(into / f.folder, ignored) ? byte_count{} : f.size;
    }
    return bytes;
  }

  static std::string best_of(const offered_folders& what) {
    const auto best =
        std::ranges::find_if(what.files, [](const offered_file& f) { return f.folder.starts_with("best-"); });
    return best == what.files.end() ? "" : best->folder;
  }

  void on_checkpoint_arrived(const checkpoint_arrived& m) {
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
    }
    if (!queue.empty()) {
      pull(queue.front());
    }
    settle();
  }

  void take_found(const checkpoint_offered& m, const fault& why) {
    holders_.erase(m.model);
    plan_.hold(m.model, false);
    const auto& now = plan_.of(m.model);
    if (!why && now.phase == assignment_phase::waiting && m.steps > now.saved_at.value_or(0)) {
      say(fmt::format("{} was found saved at step {}", now.name, m.steps));
      plan_.found(m.model, m.steps);
    }
  }

  void on_lost_checkpoint(const checkpoint_offered& m, const fault& why) {
    if (!is_current(m.model, m.epoch)) {
      return;
    }
    say(fmt::format("the checkpoint of {} did not come: {}", plan_.of(m.model).name, why.text));
    if (m.what != handover::saved) {
      missed_.push_back({m.model, m.epoch, clock().now() + retry_interval});
    }
  }

  void ask_again() {
    std::erase_if(missed_, [this](const missed_handover& m) {
      const bool due = clock().now() >= m.due;
      if (due && is_current(m.model, m.epoch)) {
        send(node_of(*plan_.of(m.model).node), give_back{m.model, m.epoch});
      }
      return due;
    });
  }

  void take_checkpoint(const checkpoint_offered& m, const checkpoint_arrived& how) {
    count_bytes(how, plan_.of(m.model).node);
    if (!m.checkpoints.files.empty()) {
      plan_.saved(m.model, m.epoch, m.steps);
    }
    if (m.what == handover::given_back && plan_.released(m.model, m.epoch)) {
      record_.models[m.model].steps = m.steps;
    } else if (m.what == handover::ended && plan_.ended(m.model, m.epoch, m.why)) {
      record_.models[m.model].steps = m.steps;
      note_end(m.model, m.end, m.why, m.digest);
    }
  }

  void count_bytes(const checkpoint_arrived& m, std::optional<std::size_t> node) {
    record_.moved += m.bytes;
    constexpr byte_count enough{1 << 20};  // else it is latency that was measured
    if (node && m.bytes > enough && m.took > duration{}) {
      plan_.measured(*node, byte_rate{static_cast<double>(m.bytes.value()) / seconds(m.took)});
    }
  }

  void note_end(std::uint32_t model, model_phase end, const fault& why, const std::string& digest) {
    auto& record = record_.models[model];
    record.end = end;
    record.why = why;
    record.digest = digest;
    record.completed = clock().now();
    transit_.erase(model);
    say(fmt::format("{} has {}{}", record.name, end == model_phase::failed ? "failed" : "ended",
                    why ? ": " + why.text : fmt::format(" after {} steps", record.steps)));
  }

  // -- the end -----------------------------------------------------------------------------------------------------------

  void on_decide_again(const decide_again&) {
    ask_again();
    if (clock().now() >= forgiven_ + forgive_interval) {
      forgiven_ = clock().now();
      plan_.forgive();
    }
    settle();
    if (reports_due_ && clock().now() >= *reports_due_) {
      finish();
    }
    if (!finished_) {
      delayed_send(this, decide_interval, decide_again{});
    }
  }

  /// After something has changed.
  void settle() {
    end_left_nodes();
    decide();
    if (ending_) {
      finish_if_ended();
    }
  }

  bool has_models(std::size_t node) const {
    return std::ranges::any_of(plan_.models(), [&](const cluster_model& m) { return m.node == node; });
  }

  /// Newer states of models come from it.
  bool holds_models(const member& m) const {
    return std::ranges::any_of(holders_, [&](const auto& held) { return held.second == m.instance; });
  }

  /// Those that were asked to give their models back, and have none any more.
  void end_left_nodes() {
    for (auto& m : members_) {
      if (m.number && !m.gone && !m.ended && plan_.nodes()[*m.number].leaving && !has_models(*m.number) &&
          !holds_models(m) && asked_to_end_.insert(m.instance).second) {
        send(m.node, end_node{.all_kept = true});
      }
    }
  }

  void end_if_over() {
    const bool nothing_runs =
        std::ranges::none_of(plan_.models(), [](const cluster_model& m) { return m.node.has_value(); });
    if (plan_.over() || (interrupted_ && nothing_runs && holders_.empty())) {
      end_nodes();
    }
  }

  void end_nodes() {
    if (std::exchange(ending_, true)) {
      return;
    }
    record_.ended = clock().now();
    record_.interrupted = interrupted_ && !plan_.over();
    record_.moves = plan_.moves();
    for (const auto& m : members_) {
      if (!m.gone && !m.ended) {
        send(m.node, end_node{.all_kept = plan_.over()});
      }
    }
    reports_due_ = clock().now() + report_limit;
    finish_if_ended();
  }

  void finish_if_ended() {
    if (std::ranges::all_of(members_, [](const member& m) { return m.gone || m.ended || !m.number; })) {
      finish();
    }
  }

  void finish() {
    finished_ = true;
    if (auto ended = std::exchange(setup_.events.ended, nullptr)) {
      ended(std::move(record_));
    }
    members_.clear();
    arriving_.clear();
    quit();
  }

  void on_interrupt(const interrupt_cluster&) {
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

  // -- from outside ------------------------------------------------------------------------------------------------------

  void on_stop(const stop_by_name& m) {
    const auto& names = setup_.what.models;
    const auto found = std::ranges::find(names, m.model);
    if (found == names.end()) {
      return m.answer({fault_code::bad_input, fmt::format("there is no model \"{}\"", m.model)});
    }
    const auto model = static_cast<std::uint32_t>(found - names.begin());
    const auto& now = plan_.of(model);
    if (now.phase == assignment_phase::ended) {
      return m.answer({fault_code::refused, fmt::format("model '{}' has ended", m.model)});
    }
    stopping_.insert(model);
    if (now.phase == assignment_phase::training) {
      send(node_of(*now.node), stop_assigned{model, now.epoch});
    }
    m.answer({});
  }

  void on_read(const read_cluster& m) {
    run_status s;
    for (std::size_t i = 0; i < plan_.models().size(); ++i) {
      s.models.push_back(status_of(plan_.of(i), record_.models[i]));
    }
    for (const auto& n : record_.nodes) {
      for (std::size_t i = 0; i < n.devices.size() && i < n.last.devices.size() && !n.left; ++i) {
        const auto& d = n.last.devices[i];
        s.devices.push_back({n.name + "/" + n.devices[i].name, d.busy, {d.used, d.peak, d.budget}});
      }
      s.host.used += n.left ? byte_count{} : n.last.host_used;
      s.host.peak += n.left ? byte_count{} : n.last.host_peak;
      s.host.budget += n.left ? byte_count{} : n.last.host_budget;
    }
    s.elapsed = clock().now() - began_;
    m.answer(std::move(s));
  }

  model_now status_of(const cluster_model& m, const cluster_model_record& record) const {
    model_now now{.name = m.name, .steps = m.steps};
    if (record.of > 0) {
      now.of = record.of;
    }
    now.digest = record.digest;
    switch (m.phase) {
      case assignment_phase::waiting:
      case assignment_phase::assigned:
        now.note = m.node ? "on its way to " + plan_.nodes()[*m.node].name : "for a node";
        break;
      case assignment_phase::training:
        now.phase = model_phase::training;
        now.note = "on " + plan_.nodes()[*m.node].name;
        break;
      case assignment_phase::taken_back:
        now.phase = model_phase::pausing;
        now.note = "leaves " + plan_.nodes()[*m.node].name;
        break;
      case assignment_phase::ended:
        now.phase = record.end;
        now.note = record.why.text;
        break;
    }
    return now;
  }

  void say(const std::string& text) {
    if (setup_.events.say) {
      setup_.events.say(text);
    }
  }

  local_coordinator self_handle() { return caf::actor_cast<local_coordinator>(this); }

  coordinator_setup setup_;
  time_point began_;
  assignments plan_;
  cluster_record record_;
  folder_source source_;
  std::vector<member> members_;
  std::vector<duration> works_;          ///< of all steps of each model, on the first node's devices at speed 1
  std::vector<std::string> identities_;  ///< of the models, on the first node
  std::map<std::uint32_t, std::deque<checkpoint_offered>> arriving_;
  std::map<std::size_t, std::uint64_t> offers_;  ///< of models on their way to nodes
  std::map<std::size_t, time_point> transit_;    ///< models between two nodes, since when
  std::vector<missed_handover> missed_;
  std::map<std::uint32_t, std::uint64_t> holders_;  ///< models of which a newer checkpoint comes, and from which node
  std::set<std::uint32_t> stopping_;
  std::set<std::uint64_t> asked_to_end_;
  time_point forgiven_{};
  bool started_ = false;
  bool interrupted_ = false;
  bool ending_ = false;
  bool finished_ = false;
  std::optional<time_point> reports_due_;
};

}  // namespace

coordinator_handle coordinator_handle::spawn(caf::actor_system& system, coordinator_setup setup) {
  const auto made = system.spawn<coordinator, caf::detached>(std::move(setup));
  return {made, caf::actor_cast<caf::actor>(made)};
}

void coordinator_handle::interrupt() const { caf::anon_send(local_, interrupt_cluster{}); }
void coordinator_handle::stop_model(const std::string& model, command_sink answer) const {
  caf::anon_send(local_, stop_by_name{model, std::move(answer)});
}
void coordinator_handle::read_status(status_sink answer) const {
  caf::anon_send(local_, read_cluster{std::move(answer)});
}

}  // namespace hydra
