#include "actors/cluster/node.hpp"

#include "actors/cluster/exchange.hpp"
#include "actors/cluster/folder_receiver.hpp"
#include "actors/cluster/folder_source.hpp"
#include "actors/protocol/guarded.hpp"
#include "actors/protocol/own_thread.hpp"
#include "actors/session/session.hpp"
#include "partition/checkpoint/checkpoint_folder.hpp"

#include <caf/actor_cast.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace hydra {

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr auto report_interval = 200ms;  ///< between two node_progressed
constexpr auto answer_limit = 30s;       ///< for the COORDINATOR

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

}  // namespace

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

namespace {

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
  checkpoint_offered last{};        ///< of one that was handed over

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
/// NODE: turns the COORDINATOR's commands into a run's, and what the run does into messages.
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

  // -- membership -----------------------------------------------------------------------------------------------------

  void on_accepted(const node_accepted& m) {
    answer_due_.reset();
    if (!end_) {
      setup_.events.accepted(m);
    }
  }

  void on_refused(const node_refused& m) { stop(node_end::refused, m.why); }

  void expects_answer() { answer_due_ = clock().now() + answer_limit; }

  void check_answer() {
    if (!answer_due_ || clock().now() < *answer_due_) {
      return;
    }
    if (over_) {
      finish();  // the report was not pulled
    } else {
      stop(node_end::lost, "the coordinator does not answer");
    }
  }

  void on_run(const node_run& m) {
    run_ = m;
    run_.plan.instance = setup_.hello.instance;
    send(setup_.coordinator, run_.plan);
    if (!run_.run) {
      return stop(node_end::failed, run_.plan.why.text);
    }
    if (end_) {
      interrupt();
    }
  }

  void on_leave(const leave_cluster&) {
    if (!run_.run) {
      return stop(node_end::left, "the node has left before it had a model");
    }
    send(setup_.coordinator, node_leaves{setup_.hello.instance});
  }

  void on_coordinator_lost() {
    coordinator_lost_ = true;
    stop(node_end::lost, "the coordinator is lost");
  }

  void on_end_node(const end_node& m) { stop(m.all_kept ? node_end::done : node_end::left, ""); }

  /// The run has to end first: it uses this actor, and the other way round.
  void stop(node_end how, const std::string& why) {
    if (!end_) {
      end_ = {how, why};
    }
    if (!run_.run || over_) {
      finish();
    } else {
      interrupt();
    }
  }

  /// Once: a second one would end the run without saving.
  void interrupt() {
    if (!std::exchange(interrupted_, true)) {
      run_.run->interrupt();
    }
  }

  void on_run_over(const node_run_over& m) {
    over_ = true;
    if (!end_) {
      end_ = {node_end::failed, m.why ? m.why.text : "its run has ended by itself"};
    }
    if (coordinator_lost_ || end_->first == node_end::refused) {
      return finish();
    }
    send_progress({});
    node_ended message{.instance = setup_.hello.instance, .why = m.why};
    if (!m.report.empty()) {
      message.files = offer({m.report});
      report_ = message.files.offer;
    }
    send(setup_.coordinator, message);
    if (m.report.empty()) {
      return finish();
    }
    expects_answer();
  }

  void finish() {
    const auto [how, why] = end_.value_or(std::pair{node_end::done, std::string{}});
    end(how, why);
    quit();
  }

  void end(node_end how, const std::string& why) {
    if (const auto ended = std::exchange(setup_.events.ended, nullptr)) {
      ended(how, why);
    }
    run_ = {};
    setup_ = {};  // it refers to this actor
    held_.clear();
    receiving_.clear();
    finished_ = true;
  }

  // -- files ----------------------------------------------------------------------------------------------------------

  void on_want_chunk(const want_chunk& m) {
    if (over_) {
      expects_answer();
    }
    send(m.to, source_.read(m));
  }

  void on_drop_folders(const drop_folders& m) {
    source_.drop(m.offer);
    if (over_ && m.offer == report_) {
      finish();
    }
  }

  offered_folders offer(const std::vector<fs::path>& folders) {
    return source_.offer(folders, caf::actor_cast<chunk_source>(this));
  }

  fs::path checkpoints_of(std::uint32_t model) const {
    return hydra::checkpoints_of(run_.folder / "checkpoints", run_.models.at(model));
  }

  // -- commands -------------------------------------------------------------------------------------------------------

  held_model* current(std::uint32_t model, assignment_epoch epoch) {
    const auto found = held_.find(model);
    return found != held_.end() && found->second.epoch == epoch ? &found->second : nullptr;
  }

  void on_take_model(const take_model& m) {
    if (!run_.run || over_ || end_) {
      if (m.checkpoints.from) {
        send(m.checkpoints.from, drop_folders{m.checkpoints.offer});
      }
      return;
    }
    name_added(m);
    if (m.place > 0) {
      helped_.insert(run_.models.at(m.model));
    } else {
      helped_.erase(run_.models.at(m.model));
    }
    held_[m.model] = {.epoch = m.epoch, .team = m.team, .place = m.place, .added = m.added};
    if (run_.exchange && !m.team.empty()) {
      run_.exchange->form({m.model, run_.models.at(m.model), m.epoch, m.team, m.place},
                          [self = self_handle(), model = m.model, epoch = m.epoch] {
                            post(self, team_formed{model, epoch});
                          });
    }
    receive(m);
  }

  void name_added(const take_model& m) {
    if (!m.added.name.empty()) {
      run_.models.resize(std::max<std::size_t>(run_.models.size(), m.model + 1));
      run_.models[m.model] = m.added.name;
    }
  }

  /// One at a time of a model: those that come for an older assignment are written to the same folder.
  void receive(const take_model& m) {
    if (const auto open = receiving_.find(m.model); open != receiving_.end()) {
      if (open->second && open->second->checkpoints.from) {
        send(open->second->checkpoints.from, drop_folders{open->second->checkpoints.offer});
      }
      open->second = m;
      return;
    }
    receiving_[m.model];
    receive_folders(system(), {.what = m.checkpoints, .into = checkpoints_of(m.model), .replaces = true},
                    [self = self_handle(), model = m.model, epoch = m.epoch](const fault& why) {
                      post(self, checkpoints_arrived{model, epoch, why});
                    });
  }

  void on_checkpoints_arrived(const checkpoints_arrived& m) {
    const auto open = receiving_.extract(m.model);
    if (open && open.mapped() && current(m.model, open.mapped()->epoch)) {
      receive(*open.mapped());
    }
    auto* held = current(m.model, m.epoch);
    if (!held) {
      return;
    }
    if (m.why) {
      return refuse(m.model, m.epoch, m.why);
    }
    const auto saved = list_states(checkpoints_of(m.model));
    held->from = saved.empty() ? "" : saved.front().filename().string();
    if (held->team.empty()) {
      return start(m.model, *held);
    }
    run_.exchange->ready(m.model, m.epoch, newest_step(checkpoints_of(m.model)).value_or(0));
  }

  void on_team_formed(const team_formed& m) {
    if (auto* held = current(m.model, m.epoch)) {
      start(m.model, *held);
    }
  }

  /// It may have ended here, or be about to, and the COORDINATOR did not get it; of one that is paused a drop is
  /// refused. One that was added joins the run when it is first given to this node.
  void start(std::uint32_t model, held_model& held) {
    held.phase = held_phase::starting;
    if (!held.added.name.empty() && !joined_.contains(model)) {
      return run_.open ? run_.open(model, held.epoch, held.added)
                       : refuse(model, held.epoch, {fault_code::refused, "this node takes no models that are added"});
    }
    command(model, held.epoch, model_command::drop);
    command(model, held.epoch, model_command::resume, held.share());
  }

  void command(std::uint32_t model, assignment_epoch epoch, model_command what, const step_share& share = {}) {
    const auto answer = [self = self_handle(), model, epoch, what](const fault& why) {
      post(self, command_answered{model, epoch, what, why});
    };
    run_.run->steer(run_.models.at(model), what, answer, share);
  }

  void on_opened(const opened_model& m) {
    if (!current(m.model, m.epoch)) {
      return;
    }
    if (m.why) {
      return refuse(m.model, m.epoch, m.why);
    }
    joined_.insert(m.model);
    const auto refused = [self = self_handle(), m](const fault& why) {
      post(self, added_refused{m.model, m.epoch, why});
    };
    const auto joined = [self = self_handle(), m, refused](const fault& why) {
      why ? refused(why) : post(self, command_answered{m.model, m.epoch, model_command::resume, {}});
    };
    run_.run->queue_model(*m.what, joined, refused);
  }

  void on_added_refused(const added_refused& m) {
    joined_.erase(m.model);
    auto* held = current(m.model, m.epoch);
    if (held && held->phase == held_phase::pausing) {  // it has waited
      hand_over(m.model, *held, {.what = handover::given_back});
    } else if (held) {
      refuse(m.model, m.epoch, m.why);
    }
  }

  void on_drop_assigned(const drop_assigned& m) {
    if (const auto* held = current(m.model, m.epoch)) {
      if (held->phase != held_phase::handed_over) {
        say(fmt::format("{} is not trained here any more", run_.models[m.model]));
      }
      drop(m.model);
    }
  }

  /// Its partners cannot go on, or this node has lost one.
  void on_team_lost(const team_failure& m) {
    if (auto* held = current(m.model, m.epoch); held && held->phase != held_phase::handed_over) {
      refuse(m.model, m.epoch, m.why, m.member);
    }
  }

  void drop(std::uint32_t model) {
    const auto held = held_.extract(model).mapped();
    if (run_.exchange && !held.team.empty()) {
      run_.exchange->disband(model, held.epoch);
    }
    const bool under_way = held.phase != held_phase::arriving && held.phase != held_phase::handed_over;
    if (under_way && run_.run && !over_) {
      command(model, held.epoch, model_command::drop);
    }
  }

  void on_command_answered(const command_answered& m) {
    if (m.what == model_command::resume && m.why.code == fault_code::bad_input) {
      joined_.erase(m.model);  // it was dropped before it had joined
    }
    auto* held = current(m.model, m.epoch);
    if (!held) {
      return;
    }
    if (m.what == model_command::save) {
      return send_kept(m);
    }
    if (m.what == model_command::resume) {
      if (m.why) {
        return refuse(m.model, m.epoch, m.why);
      }
      held->phase = held_phase::training;
      if (!held->helps()) {
        send(setup_.coordinator, assignment_began{m.model, m.epoch});
        lines_ += held->from.empty() ? before_[run_.models[m.model]] : "";  // else they came with its first steps
      }
      say(fmt::format("{} is trained here{}{}", run_.models[m.model],
                      held->from.empty() ? "" : ", from its checkpoint " + held->from,
                      held->team.empty() ? "" : fmt::format(", by {} nodes together", held->team.size())));
    } else if (m.what == model_command::pause_between_steps && held->phase == held_phase::pausing) {
      on_paused(m, *held);
    }
  }

  /// One that could not be paused because it has ended is handed over as such.
  void on_paused(const command_answered& m, held_model& held) {
    if (m.why) {
      held.phase = held_phase::training;
      if (m.why.code != fault_code::refused) {  // that one has ended, or is being stopped
        send(setup_.coordinator, assignment_stays{m.model, m.epoch, m.why});
      }
      return;
    }
    say(fmt::format("{} is handed over", run_.models[m.model]));
    hand_over(m.model, held, {.what = handover::given_back});
  }

  void on_give_back(const give_back& m) {
    auto* held = current(m.model, m.epoch);
    if (!held || over_) {
      return;
    }
    if (held->phase == held_phase::handed_over) {  // it could not be pulled
      send_offer(m.model, *held);
    } else if (held->phase == held_phase::training) {
      held->phase = held_phase::pausing;
      command(m.model, m.epoch, model_command::pause_between_steps);
    }
  }

  void on_keep_assigned(const keep_assigned& m) {
    if (current(m.model, m.epoch) && run_.run && !over_) {
      command(m.model, m.epoch, model_command::save);
    }
  }

  void send_kept(const command_answered& m) {
    checkpoint_offered message{.model = m.model, .epoch = m.epoch, .what = handover::kept, .why = m.why};
    try {
      if (!m.why) {
        message.checkpoints = offer_states(m.model, message.steps);
      }
    } catch (const fault_error& e) {  // it was removed meanwhile: there is a newer one
      message.why = e.what_happened();
    }
    send(setup_.coordinator, message);
  }

  void on_stop_assigned(const stop_assigned& m) {
    if (current(m.model, m.epoch) && run_.run) {
      command(m.model, m.epoch, model_command::stop);
    }
  }

  void on_trial_told(const trial_told& m) {
    if (current(m.model, m.epoch) && run_.run) {
      run_.run->decided({.trial = run_.models.at(m.model),
                         .steps = m.steps,
                         .verdict = m.stop ? trial_verdict::stop : trial_verdict::go_on});
    }
  }

  /// Of a team the first node asks, and all are told.
  void on_trial_evaluated(const trial_evaluated& m) {
    const auto model =
        static_cast<std::uint32_t>(std::ranges::find(run_.models, m.result.trial) - run_.models.begin());
    if (const auto held = held_.find(model); held != held_.end() && !held->second.helps()) {
      send(setup_.coordinator, trial_waits{model, held->second.epoch, m.result.steps, sent_number(m.result.score)});
    }
  }

  void on_offer_found(const offer_found& m) {
    checkpoint_offered message{.model = m.model, .what = handover::found};
    try {
      message.checkpoints = offer_states(m.model, message.steps);
    } catch (const fault_error&) {
      message.steps = 0;  // it is not there any more
    }
    send(setup_.coordinator, message);
  }

  /// `because_of`: another member of its team.
  void refuse(std::uint32_t model, assignment_epoch epoch, const fault& why,
              std::optional<std::uint32_t> because_of = {}) {
    const auto place = because_of.value_or(held_.at(model).place);
    drop(model);
    send(setup_.coordinator, assignment_refused{setup_.hello.instance, model, epoch, why, place});
    say(fmt::format("{} cannot be trained here: {}", run_.models[model], why.text));
  }

  void hand_over(std::uint32_t model, held_model& held, checkpoint_offered what) {
    held.phase = held_phase::handed_over;  // its team goes on until the COORDINATOR has it
    held.last = std::move(what);
    send_offer(model, held);
  }

  void send_offer(std::uint32_t model, held_model& held) {
    auto message = held.last;
    message.model = model;
    message.epoch = held.epoch;
    message.checkpoints = offer_states(model, message.steps);
    send(setup_.coordinator, message);
  }

  // -- what the run does ----------------------------------------------------------------------------------------------

  /// They are sent with the next node_progressed.
  void on_metrics_line(const metrics_line& m) {
    if (m.before && !begins_here(m.model)) {
      before_[m.model] += m.text;
    } else if (!helped_.contains(m.model)) {
      lines_ += m.text;
    }
  }

  /// One that was added joins after the COORDINATOR has heard that it is trained here.
  bool begins_here(const std::string& name) const {
    return std::ranges::any_of(held_, [&](const auto& entry) {
      const auto& [model, held] = entry;
      return run_.models.at(model) == name && held.phase != held_phase::arriving &&
             held.phase != held_phase::starting && held.from.empty() && !held.helps();
    });
  }

  void on_report_due(const report_due&) {
    check_answer();
    if (finished_) {
      return;
    }
    if (run_.run && !over_ && !end_) {
      run_.run->read_status([self = self_handle()](run_status s) { post(self, status_arrived{std::move(s)}); });
    }
    report_later();
  }

  void report_later() { delayed_send(this, report_interval, report_due{}); }

  void on_status(const status_arrived& m) {
    if (over_ || coordinator_lost_) {
      return;
    }
    send_progress(m.status);
    for (std::uint32_t model = 0; model < run_.models.size(); ++model) {
      const auto* const there = find(m.status, model);
      if (!there) {
        continue;
      }
      const auto& now = *there;
      const bool saved = std::exchange(saved_[model], now.checkpoints) != now.checkpoints;
      if (const auto held = held_.find(model); held != held_.end()) {
        follow(model, held->second, now, saved);
      }
    }
  }

  /// Null: it is not a model of this run.
  const model_now* find(const run_status& s, std::uint32_t model) const {
    if (model < s.models.size() && s.models[model].name == run_.models[model]) {
      return &s.models[model];  // but for those that were added
    }
    const auto found = std::ranges::find(s.models, run_.models[model], &model_now::name);
    return found == s.models.end() ? nullptr : &*found;
  }

  /// `saved`: since the last status.
  void follow(std::uint32_t model, held_model& held, const model_now& now, bool saved) {
    if (held.phase != held_phase::training && held.phase != held_phase::pausing) {
      return;
    }
    if (now.released) {
      on_ended(model, held, now);
    } else if (saved && !held.helps()) {
      offer_saved(model, held);
    }
  }

  /// One that has failed for a reason of this node is trained elsewhere, from what the coordinator has.
  void on_ended(std::uint32_t model, held_model& held, const model_now& now) {
    const bool failed = now.phase == model_phase::failed;
    const fault why{now.why, now.note};
    if (failed && now.why != fault_code::not_finite) {
      return refuse(model, held.epoch, why);
    }
    if (held.helps()) {
      say(fmt::format("{} has ended, after {} steps", run_.models[model], now.steps));
      held.phase = held_phase::handed_over;  // by the first node
      return;
    }
    if (!failed && !is_saved(model, now.steps)) {
      return refuse(model, held.epoch, {fault_code::io, "it has ended, but could not be saved"});
    }
    say(fmt::format("{} has ended here, after {} steps", run_.models[model], now.steps));
    hand_over(model, held,
              {.what = handover::ended, .end = now.phase, .why = failed ? why : fault{}, .digest = now.digest});
  }

  bool is_saved(std::uint32_t model, std::uint32_t steps) const {
    return newest_step(checkpoints_of(model)).value_or(0) == steps;
  }

  /// Of a checkpoint that is removed meanwhile there is a newer one.
  void offer_saved(std::uint32_t model, const held_model& held) try {
    checkpoint_offered message{.model = model, .epoch = held.epoch};
    message.checkpoints = offer_states(model, message.steps);
    send(setup_.coordinator, message);
  } catch (const fault_error&) {
  }

  /// Says how many steps they have.
  offered_folders offer_states(std::uint32_t model, std::uint32_t& steps) {
    const auto states = states_to_continue(checkpoints_of(model));
    steps = newest_step(checkpoints_of(model)).value_or(0);
    return offer(states);
  }

  void send_progress(const run_status& s) {
    node_progressed message{.instance = setup_.hello.instance};
    for (const auto& [model, held] : held_) {
      const bool under_way = held.phase != held_phase::arriving && held.phase != held_phase::starting;
      const auto* const there = under_way ? find(s, model) : nullptr;
      if (there && there->phase != model_phase::waiting) {
        const auto& now = *there;
        assignment_progress p{.model = model, .epoch = held.epoch, .steps = now.steps, .of = now.of.value_or(0)};
        p.loss = sent_number(now.loss);
        p.validation = sent_number(now.validation);
        p.step_work = now.step_work;
        p.step_chain = now.step_chain;
        message.models.push_back(p);
      }
    }
    for (const auto& d : s.devices) {
      message.devices.push_back({d.busy, d.memory.used, d.memory.peak, d.memory.budget});
    }
    message.host_used = s.host.used;
    message.host_peak = s.host.peak;
    message.host_budget = s.host.budget;
    message.elapsed = s.elapsed;
    message.metrics_lines = std::exchange(lines_, {});
    if (run_.exchange) {
      const auto totals = run_.exchange->totals();
      message.exchanged = totals.sent;
      message.exchanging = totals.under_way;
    }
    send(setup_.coordinator, message);
  }

  void say(const std::string& text) {
    if (setup_.events.say) {
      setup_.events.say(text);
    }
  }

  local_node self_handle() { return caf::actor_cast<local_node>(this); }

 private:
  node_setup setup_;
  node_run run_;
  folder_source source_;
  std::string lines_;  ///< of metrics.jsonl, that the COORDINATOR does not have yet
  std::map<std::string, std::string> before_;  ///< of models that begin from a checkpoint: the lines of its steps
  std::map<std::uint32_t, held_model> held_;
  std::map<std::uint32_t, std::optional<take_model>> receiving_;  ///< models whose files come, and what is to come then
  std::set<std::uint32_t> joined_;                       ///< models that were added, and are known to the run
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

}  // namespace

std::string to_string(node_end end) {
  switch (end) {
    case node_end::done:
      return "done";
    case node_end::left:
      return "left";
    case node_end::refused:
      return "refused";
    case node_end::lost:
      return "lost";
    case node_end::failed:
      return "failed";
  }
  return "";
}

node_handle node_handle::spawn(caf::actor_system& system, node_setup setup) {
  const auto made = spawn_on_own_thread<node>(system, std::move(setup));
  return node_handle(caf::actor_cast<caf::actor>(made));
}

void node_handle::begin(node_run run) const { caf::anon_send(actor_, std::move(run)); }
void node_handle::wrote(const metrics_line& line) const { caf::anon_send(actor_, line); }
void node_handle::opened(opened_model m) const { caf::anon_send(actor_, std::move(m)); }
void node_handle::evaluated(const trial_result& result) const { caf::anon_send(actor_, trial_evaluated{result}); }
void node_handle::over(node_run_over end) const { caf::anon_send(actor_, std::move(end)); }
void node_handle::lost(const team_failure& failure) const { caf::anon_send(actor_, failure); }
void node_handle::leave() const { caf::anon_send(actor_, leave_cluster{}); }

}  // namespace hydra
