#pragma once
// COORDINATOR: the actor. Nodes are in coordinator_nodes.cpp, models on them and their checkpoints in
// coordinator_models.cpp, trials of a search in coordinator_trials.cpp, models that are added, and kept for that, in
// coordinator_additions.cpp, the end in coordinator_ends.cpp, what else others ask in coordinator.cpp.

#include "actors/cluster/assignments.hpp"
#include "actors/cluster/coordinator.hpp"
#include "actors/cluster/folder_source.hpp"
#include "actors/protocol/guarded.hpp"
#include "actors/run/trial_gate.hpp"
#include "actors/run/write_retry.hpp"

#include <caf/actor_cast.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

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

struct steer_by_name {
  std::string model;
  model_command what = model_command::stop;
  command_sink answer;
};
struct read_cluster {
  status_sink answer;
};
struct add_to_cluster {
  cluster_addition what;
  command_sink answer;
};
struct copy_has_begun {
  std::string copy;
  bool joined = true;
};
struct keep_by_name {
  std::string model;
  std::optional<std::uint32_t> steps;
  kept_sink answer;
};

}  // namespace hydra

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::checkpoint_arrived)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::report_arrived)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::interrupt_cluster)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::decide_again)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::steer_by_name)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::read_cluster)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::add_to_cluster)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::keep_by_name)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::copy_has_begun)

namespace hydra {

using local_coordinator = coordinator_actor::extend<caf::reacts_to<checkpoint_arrived>, caf::reacts_to<report_arrived>,
                                                    caf::reacts_to<interrupt_cluster>, caf::reacts_to<decide_again>,
                                                    caf::reacts_to<steer_by_name>, caf::reacts_to<read_cluster>,
                                                    caf::reacts_to<add_to_cluster>, caf::reacts_to<keep_by_name>,
                                                    caf::reacts_to<copy_has_begun>>;

inline constexpr auto retry_interval = std::chrono::seconds(5);          ///< after a transfer that has failed
inline constexpr auto expense_interval = std::chrono::seconds(5);        ///< at which expenses.json is written
inline constexpr auto decide_interval = std::chrono::milliseconds(250);  ///< at which moves are considered

/// A node, from its joining on.
struct joined_node {
  std::string name;
  std::uint64_t instance = 0;
  node_actor node;
  std::string exchange{};               ///< its address
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

/// Somebody waits for a state of a model.
struct wanted_state {
  std::uint32_t model = 0;
  std::optional<std::uint32_t> steps{};  ///< after so many; none: the next one
  kept_sink answer;
  std::optional<assignment_epoch> asked{};  ///< whom it was asked of
  time_point not_before{};                  ///< after a fault
};

/// A thread of its own: it reads files. A message that is sent later keeps that thread until it arrives, so timers are
/// short.
class coordinator final : public local_coordinator::base {
 public:
  using super = local_coordinator::base;

  coordinator(caf::actor_config& config, coordinator_setup setup)
      : super(config), setup_(std::move(setup)), began_(clock().now()), trials_(std::move(setup_.what.search)) {
    for (const auto& name : setup_.what.models) {
      plan_.add_model(name, duration{1}, {});
      record_.models.push_back({.name = name});
    }
    first_added_ = plan_.models().size();
    for (const auto& m : setup_.what.added) {
      append(m);
    }
    find_checkpoints();
    open_expenses();
  }
  const char* name() const override { return "coordinator"; }

  behavior_type make_behavior() override {
    set_down_handler([this](const caf::down_msg& m) { on_down(m); });
    delayed_send(this, decide_interval, decide_again{});
    inputs_ = spawn_inputs(system(), setup_.what.inputs);
    for (const auto& m : setup_.what.added) {
      add_inputs(inputs_, m.inputs);
    }
    return {guarded(this, &coordinator::on_want_chunk),
            guarded(this, &coordinator::on_drop_folders),
            guarded(this, &coordinator::on_join),
            guarded(this, &coordinator::on_planned),
            guarded(this, &coordinator::on_began),
            guarded(this, &coordinator::on_refused),
            guarded(this, &coordinator::on_stays),
            guarded(this, &coordinator::on_offered),
            guarded(this, &coordinator::on_trial_waits),
            guarded(this, &coordinator::on_progressed),
            guarded(this, &coordinator::on_leaves),
            guarded(this, &coordinator::on_ended),
            guarded(this, &coordinator::on_checkpoint_arrived),
            guarded(this, &coordinator::on_report_arrived),
            guarded(this, &coordinator::on_interrupt),
            guarded(this, &coordinator::on_decide_again),
            guarded(this, &coordinator::on_steer),
            guarded(this, &coordinator::on_read),
            guarded(this, &coordinator::on_add),
            guarded(this, &coordinator::on_keep),
            guarded(this, &coordinator::on_copy_begun)};
  }

  void on_exit() override {
    pausing_.clear();
    keeping_.clear();
    if (inputs_) {
      send_exit(inputs_, caf::exit_reason::user_shutdown);
    }
    if (auto ended = std::exchange(setup_.events.ended, nullptr)) {
      record_.notes.emplace_back("the coordinator has died, which is an error of Hydra");
      record_.ended = steady_clock::now();
      record_.interrupted = true;
      ended(std::move(record_));
    }
  }

  void on_fault(const fault& why) {
    record_.notes.push_back(why.text);
    interrupted_ = true;
    end_nodes(false);
    say("the coordinator fails: " + why.text);
  }

 private:
  // files
  void on_want_chunk(const want_chunk& m);
  void on_drop_folders(const drop_folders& m);
  std::filesystem::path checkpoints_of(std::size_t model) const;
  void find_checkpoints();
  // nodes
  void on_join(const join_cluster& m);
  std::string objection(const join_cluster& m) const;
  joined_node* find(std::uint64_t instance);
  void on_planned(const node_planned& m);
  void ask_for_found(const node_planned& m, const node_actor& node);
  void ask_for_found(std::uint32_t model, std::uint32_t saved, std::uint64_t instance, const node_actor& node);
  void release_held(std::uint64_t instance);
  std::string objection_to_plan(const node_planned& m) const;
  static std::string difference(const std::string& here, const std::string& there);
  void leave_out(const node_planned& m, std::size_t node);
  void take_estimates(const node_planned& m);
  double speed_of(const node_planned& m) const;
  duration remaining_of(std::size_t model, std::uint32_t steps) const;
  std::size_t nodes_here() const;
  void on_down(const caf::down_msg& m);
  void lose(std::size_t i, const char* how);
  /// The models of a node that is lost continue elsewhere.
  void give_up(std::size_t node);
  /// A model that was trained to `steps` continues from its last checkpoint.
  void note_redone(std::uint32_t model, std::uint32_t steps);
  void on_leaves(const node_leaves& m);
  void on_ended(const node_ended& m);
  std::filesystem::path folder_of(const joined_node& m) const;
  void on_report_arrived(const report_arrived& m);
  void read_report(const joined_node& node);
  // models
  void decide();
  const joined_node& member_of(std::size_t number) const;
  const node_actor& node_of(std::size_t number) const { return member_of(number).node; }
  void give(const assign_model& c);
  void drop_offer(std::size_t model);
  void give(const take_back_model& c);
  void give(const drop_model& c);
  take_model with_checkpoints(const assign_model& c, const std::vector<std::filesystem::path>& states);
  std::vector<team_member> team_of(const assign_model& c) const;
  bool is_current(std::uint32_t model, assignment_epoch epoch) const;
  /// A checkpoint of it comes.
  bool is_arriving(std::uint32_t model) const;
  void on_began(const assignment_began& m);
  void note_transit(std::uint32_t model, duration took);
  void on_refused(const assignment_refused& m);
  void count_failure(std::size_t node, const fault& why);
  void set_aside_damaged(std::size_t model);
  void on_stays(const assignment_stays& m);
  void on_progressed(const node_progressed& m);
  void add_lines(const std::string& text) const;
  void take_length(const assignment_progress& p);
  void take_times(const assignment_progress& p, std::size_t node);
  void take_losses(const assignment_progress& p);
  // checkpoints that come
  void on_offered(const checkpoint_offered& m);
  void pull(const checkpoint_offered& m);
  static byte_count bytes_to_pull(const offered_folders& what, const std::filesystem::path& into);
  static byte_count bytes_of_one(const offered_folders& what);
  static std::string best_of(const offered_folders& what);
  void on_checkpoint_arrived(const checkpoint_arrived& m);
  void take_found(const checkpoint_offered& m, const fault& why);
  void on_lost_checkpoint(const checkpoint_offered& m, const fault& why);
  void ask_again();
  void take_checkpoint(const checkpoint_offered& m, const checkpoint_arrived& how);
  void take_late(const checkpoint_offered& m);
  void count_bytes(const checkpoint_arrived& m, std::optional<std::size_t> node);
  void note_end(std::uint32_t model, model_phase end, const fault& why, const std::string& digest);
  // trials of a search
  void on_trial_waits(const trial_waits& m);
  /// Calls what asks the rule of the search, or its hooks.
  void search(const std::function<trial_gate::answers()>& asks);
  void end_search(const fault& why);
  void tell(const trial_answer& a);
  void watch_record();
  void record_again();
  bool waits_for_decision(std::size_t model) const;
  /// Steps to its next comparison with others, or to its end, that are left of `steps`.
  std::uint32_t steps_ahead(std::size_t model, std::uint32_t steps) const;
  // expenses
  void open_expenses();
  void record_expenses();
  void record_expenses_in_turn();
  // the end
  void on_decide_again(const decide_again&);
  void settle();
  bool has_models(std::size_t node) const;
  bool holds_models(const joined_node& m) const;
  void end_left_nodes();
  void end_if_over();
  void end_nodes(bool all_kept);
  void finish_if_ended();
  void finish();
  void on_interrupt(const interrupt_cluster&);
  // models that are added
  std::size_t append(const cluster_addition& m);
  void on_add(const add_to_cluster& m);
  void on_keep(const keep_by_name& m);
  void on_copy_begun(const copy_has_begun& m);
  void answer_keeps();
  duration expected_work(std::uint32_t steps) const;
  bool is_there(const wanted_state& w) const;
  bool may_be_kept(const wanted_state& w) const;
  void take_kept(const checkpoint_offered& m);
  void answer_kept(const wanted_state& w) const;
  void answer_trial_keeps(const fault& why);
  bool is_added(std::size_t model) const { return model >= first_added_; }
  // from outside
  std::optional<std::uint32_t> find_model(const std::string& name, const command_sink& answer) const;
  void on_steer(const steer_by_name& m);
  fault objection(std::uint32_t model, model_command what) const;
  void stop(std::uint32_t model);
  void end_stopped();
  void answer_pauses();
  void refuse_pause(std::uint32_t model, const fault& why);
  /// Only models that are paused are left.
  bool waits_for_command() const;
  /// Says once that the run waits, and for what, when nothing but a command can continue it.
  void note_wait();
  void on_read(const read_cluster& m);
  std::string places_of(const cluster_model& m) const;
  model_now status_of(const cluster_model& m, const cluster_model_record& record) const;
  void say(const std::string& text);
  local_coordinator self_handle();

  coordinator_setup setup_;
  time_point began_;
  assignments plan_;
  cluster_record record_;
  folder_source source_;
  input_source inputs_;
  std::vector<joined_node> members_;
  std::vector<duration> works_;          ///< of all steps of each model, on the first node's devices at speed 1
  std::vector<std::string> identities_;  ///< of the models, on the first node
  trial_gate trials_;
  write_retry record_retry_{duration{}};
  std::optional<time_point> record_due_;  ///< decisions that could not be recorded are tried again
  std::map<std::uint32_t, std::deque<checkpoint_offered>> arriving_;
  std::map<std::size_t, std::vector<std::uint64_t>> offers_;  ///< of models on their way to nodes
  std::map<std::size_t, time_point> transit_;    ///< models between two nodes, since when
  std::vector<missed_handover> missed_;
  std::map<std::uint32_t, std::uint64_t> holders_;  ///< models of which a newer checkpoint comes, and from which node
  std::set<std::uint32_t> stopping_;
  std::set<std::uint32_t> stopped_before_;  ///< in an earlier part of the run: they are stopped where they begin
  std::multimap<std::uint32_t, command_sink> pausing_;  ///< who waits until a model is paused
  std::vector<wanted_state> keeping_;
  std::size_t first_added_ = 0;      ///< behind the models of the workload
  std::vector<added_model> added_;   ///< those behind it
  std::map<std::uint32_t, std::pair<assignment_epoch, std::uint32_t>> waits_at_;  ///< trials, after so many steps
  /// Models whose lines_before have come, and from which node. A run that is resumed may get them again.
  std::map<std::uint32_t, std::uint64_t> told_before_;
  std::set<std::uint64_t> asked_to_end_;
  time_point forgiven_{};
  std::optional<expense_file> expenses_;  ///< none: it cannot be written
  time_point expenses_written_{};
  bool started_ = false;
  bool interrupted_ = false;
  bool waits_ = false;  ///< it was said that the run waits for a command
  bool ending_ = false;
  bool finished_ = false;
  std::optional<time_point> reports_due_;
};

}  // namespace hydra
