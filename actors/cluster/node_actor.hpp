#pragma once
// NODE: the actor. Its membership and files are in node.cpp, the models that it is given in node_models.cpp, what it
// says of them in node_reports.cpp.

#include "actors/cluster/exchange.hpp"
#include "actors/cluster/folder_source.hpp"
#include "actors/cluster/node.hpp"
#include "actors/protocol/guarded.hpp"
#include "actors/session/session.hpp"

#include <caf/actor_cast.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

/// The files of a model's checkpoints are here, or not.
struct checkpoints_arrived {
  std::uint32_t model = 0;
  assignment_epoch epoch = 0;
  fault why;
};

/// The nodes that train it are connected and ready.
struct team_formed {
  std::uint32_t model = 0;
  assignment_epoch epoch = 0;
};

struct command_answered {
  std::uint32_t model = 0;
  assignment_epoch epoch = 0;
  model_command what = model_command::stop;
  fault why;
};

struct trial_evaluated {
  trial_result result;
};

struct status_arrived {
  run_status status;
};

/// A model that was added cannot join the run.
struct added_refused {
  std::uint32_t model = 0;
  assignment_epoch epoch = 0;
  fault why;
};

/// Timer: the COORDINATOR is told of the run.
struct report_due {};

}  // namespace hydra

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::node_run)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::node_run_over)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::leave_cluster)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::checkpoints_arrived)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::team_formed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::team_failure)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::command_answered)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::trial_evaluated)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::status_arrived)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::opened_model)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::added_refused)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::report_due)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(hydra::metrics_line)

namespace hydra {

using local_node =
    node_actor::extend<caf::reacts_to<node_run>, caf::reacts_to<node_run_over>, caf::reacts_to<leave_cluster>,
                       caf::reacts_to<checkpoints_arrived>, caf::reacts_to<team_formed>, caf::reacts_to<team_failure>,
                       caf::reacts_to<command_answered>, caf::reacts_to<opened_model>, caf::reacts_to<added_refused>,
                       caf::reacts_to<trial_evaluated>, caf::reacts_to<status_arrived>, caf::reacts_to<report_due>,
                       caf::reacts_to<metrics_line>>;

enum class held_phase : std::uint8_t { arriving, starting, training, pausing, handed_over };

/// A model that was given to this node.
struct held_model {
  assignment_epoch epoch = 0;
  held_phase phase = held_phase::arriving;
  std::vector<team_member> team{};  ///< none: it is trained here alone
  std::uint32_t place = 0;          ///< in the team
  std::string from{};               ///< name of the checkpoint that it continues from
  added_model added{};
  checkpoint_offered last{};  ///< of one that was handed over

  /// The first one of a team saves the model and hands it over.
  bool helps() const { return place > 0; }
  step_share share() const {
    step_share s{.team = epoch};
    for (std::uint32_t i = 0; i < team.size(); ++i) {
      s.first += i < place ? team[i].replicas : 0;
      s.replicas += i == place ? team[i].replicas : 0;
      s.of += team[i].replicas;
    }
    return s;
  }
};

/// A thread of its own: it reads files. A message that is sent later keeps that thread until it arrives, so timers are
/// short.
///
/// Turns the COORDINATOR's commands into a run's, and what the run does into messages.
class node final : public local_node::base {
 public:
  using super = local_node::base;

  node(caf::actor_config& config, node_setup setup) : super(config), setup_(std::move(setup)) {}
  const char* name() const override { return "node"; }

  behavior_type make_behavior() override {
    set_down_handler([this](const caf::down_msg&) { on_coordinator_lost(); });
    monitor(setup_.coordinator);
    setup_.hello.node = caf::actor_cast<node_actor>(this);
    send(setup_.coordinator, setup_.hello);
    expects_answer();
    report_later();
    return {guarded(this, &node::on_want_chunk),
            guarded(this, &node::on_drop_folders),
            guarded(this, &node::on_accepted),
            guarded(this, &node::on_refused),
            guarded(this, &node::on_take_model),
            guarded(this, &node::on_give_back),
            guarded(this, &node::on_drop_assigned),
            guarded(this, &node::on_stop_assigned),
            guarded(this, &node::on_keep_assigned),
            guarded(this, &node::on_trial_told),
            guarded(this, &node::on_offer_found),
            guarded(this, &node::on_end_node),
            guarded(this, &node::on_run),
            guarded(this, &node::on_run_over),
            guarded(this, &node::on_leave),
            guarded(this, &node::on_checkpoints_arrived),
            guarded(this, &node::on_team_formed),
            guarded(this, &node::on_team_lost),
            guarded(this, &node::on_command_answered),
            guarded(this, &node::on_opened),
            guarded(this, &node::on_added_refused),
            guarded(this, &node::on_trial_evaluated),
            guarded(this, &node::on_status),
            guarded(this, &node::on_report_due),
            guarded(this, &node::on_metrics_line)};
  }

  void on_exit() override { end(node_end::failed, "the node has died, which is an error of Hydra"); }

  void on_fault(const fault& why) { stop(node_end::failed, why.text); }

 private:
  // membership
  void on_accepted(const node_accepted& m);
  void on_refused(const node_refused& m);
  void expects_answer();
  void check_answer();
  void on_run(const node_run& m);
  void on_leave(const leave_cluster&);
  void on_coordinator_lost();
  void on_end_node(const end_node& m);
  /// The run has to end first: it uses this actor, and the other way round.
  void stop(node_end how, const std::string& why);
  /// Once: a second one would end the run without saving.
  void interrupt();
  void on_run_over(const node_run_over& m);
  void finish();
  void end(node_end how, const std::string& why);
  // files
  void on_want_chunk(const want_chunk& m);
  void on_drop_folders(const drop_folders& m);
  offered_folders offer(const std::vector<std::filesystem::path>& folders);
  std::filesystem::path checkpoints_of(std::uint32_t model) const;
  void say(const std::string& text);
  // models on it
  held_model* current(std::uint32_t model, assignment_epoch epoch);
  void on_take_model(const take_model& m);
  void name_added(const take_model& m);
  /// One at a time of a model: those that come for an older assignment are written to the same folder.
  void receive(const take_model& m);
  void on_checkpoints_arrived(const checkpoints_arrived& m);
  void on_team_formed(const team_formed& m);
  /// It may have ended here, or be about to, and the COORDINATOR did not get it; of one that is paused a drop is
  /// refused. One that was added joins the run when it is first given to this node.
  void start(std::uint32_t model, held_model& held);
  void command(std::uint32_t model, assignment_epoch epoch, model_command what, const step_share& share = {});
  void on_opened(const opened_model& m);
  void on_added_refused(const added_refused& m);
  void on_drop_assigned(const drop_assigned& m);
  /// Its partners cannot go on, or this node has lost one.
  void on_team_lost(const team_failure& m);
  void drop(std::uint32_t model);
  void on_command_answered(const command_answered& m);
  void send_kept(const command_answered& m);
  /// One that could not be paused because it has ended is handed over as such.
  void on_paused(const command_answered& m, held_model& held);
  void on_give_back(const give_back& m);
  void on_stop_assigned(const stop_assigned& m);
  void on_keep_assigned(const keep_assigned& m);
  void on_trial_told(const trial_told& m);
  /// Without files if they are not there any more.
  void on_offer_found(const offer_found& m);
  /// `because_of`: another member of its team.
  void refuse(std::uint32_t model, assignment_epoch epoch, const fault& why,
              std::optional<std::uint32_t> because_of = {});
  /// Adds the model's checkpoints, and how many steps they have; or says why not, {io}: one may have been
  /// removed meanwhile.
  fault offer_states(checkpoint_offered& to);
  void hand_over(std::uint32_t model, held_model& held, checkpoint_offered what);
  void send_offer(std::uint32_t model, held_model& held);
  // what its run does
  /// Of a team the first node asks, and all are told.
  void on_trial_evaluated(const trial_evaluated& m);
  std::uint32_t number_of(const std::string& name) const;
  /// They are sent with the next node_progressed.
  void on_metrics_line(const metrics_line& m);
  void tell_before(std::uint32_t model);
  /// One that was added joins after the COORDINATOR has heard that it is trained here.
  bool begins_here(const std::string& name) const;
  void on_report_due(const report_due&);
  void report_later();
  void on_status(const status_arrived& m);
  /// Null: it is not a model of this run.
  const model_now* find(const run_status& s, std::uint32_t model) const;
  /// `saved`: since the last status.
  void follow(std::uint32_t model, held_model& held, const model_now& now, bool saved);
  /// One that has failed for a reason of this node is trained elsewhere, from what the coordinator has.
  void on_ended(std::uint32_t model, held_model& held, const model_now& now);
  /// Of a checkpoint that is removed meanwhile there is a newer one.
  void offer_saved(std::uint32_t model, const held_model& held);
  void send_progress(const run_status& s);
  /// To be sent.
  node_progressed take_lines();
  /// Before a state that has their steps, so that they are not lost with this node.
  void send_lines();
  local_node self_handle() { return caf::actor_cast<local_node>(this); }

  node_setup setup_;
  node_run run_;
  folder_source source_;
  std::string lines_;                          ///< of metrics.jsonl, that the COORDINATOR does not have yet
  std::map<std::string, std::string> lines_before_;  ///< of models that begin from a checkpoint: of its steps
  std::vector<lines_before> before_;                 ///< of them, what the COORDINATOR does not have yet
  std::map<std::uint32_t, held_model> held_;
  std::map<std::uint32_t, std::optional<take_model>> receiving_;  ///< models whose files come, and what is to come then
  std::set<std::uint32_t> joined_;                                ///< models that were added, and are known to the run
  std::map<std::uint32_t, std::uint32_t> saved_;         ///< how many checkpoints of each model, in the last status
  std::set<std::string> helped_;                         ///< models that others save: those have the same lines
  std::optional<std::pair<node_end, std::string>> end_;  ///< known, though the run may not have ended
  std::uint64_t report_ = 0;                             ///< the offer of its files
  std::optional<time_point> answer_due_;
  bool coordinator_lost_ = false;
  bool interrupted_ = false;
  bool finished_ = false;
  bool over_ = false;  ///< the run
};

}  // namespace hydra
