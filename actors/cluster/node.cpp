#include "actors/cluster/node.hpp"

#include "actors/cluster/exchange.hpp"
#include "actors/cluster/node_actor.hpp"
#include "actors/protocol/own_thread.hpp"
#include "partition/checkpoint/checkpoint_folder.hpp"

#include <chrono>

namespace hydra {

namespace {

constexpr auto answer_limit = std::chrono::seconds(30);  ///< for the COORDINATOR

}  // namespace

void node::on_accepted(const node_accepted& m) {
  answer_due_.reset();
  if (!end_) {
    setup_.events.accepted(m);
  }
}

void node::on_refused(const node_refused& m) { stop(node_end::refused, m.why); }

void node::expects_answer() { answer_due_ = clock().now() + answer_limit; }

void node::check_answer() {
  if (!answer_due_ || clock().now() < *answer_due_) {
    return;
  }
  if (over_) {
    finish();  // the report was not pulled
  } else {
    stop(node_end::lost, "the coordinator does not answer");
  }
}

void node::on_run(const node_run& m) {
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

void node::on_leave(const leave_cluster&) {
  if (!run_.run) {
    return stop(node_end::left, "the node has left before it had a model");
  }
  send(setup_.coordinator, node_leaves{setup_.hello.instance});
}

void node::on_coordinator_lost() {
  coordinator_lost_ = true;
  stop(node_end::lost, "the coordinator is lost");
}

void node::on_end_node(const end_node& m) { stop(m.all_kept ? node_end::done : node_end::left, ""); }

void node::stop(node_end how, const std::string& why) {
  if (!end_) {
    end_ = {how, why};
  }
  if (!run_.run || over_) {
    finish();
  } else {
    interrupt();
  }
}

void node::interrupt() {
  if (!std::exchange(interrupted_, true)) {
    run_.run->interrupt();
  }
}

void node::on_run_over(const node_run_over& m) {
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

void node::finish() {
  const auto [how, why] = end_.value_or(std::pair{node_end::done, std::string{}});
  end(how, why);
  quit();
}

void node::end(node_end how, const std::string& why) {
  if (const auto ended = std::exchange(setup_.events.ended, nullptr)) {
    ended(how, why);
  }
  run_ = {};
  setup_ = {};  // it refers to this actor
  held_.clear();
  receiving_.clear();
  finished_ = true;
}

void node::on_want_chunk(const want_chunk& m) {
  if (over_) {
    expects_answer();
  }
  send(m.to, source_.read(m));
}

void node::on_drop_folders(const drop_folders& m) {
  source_.drop(m.offer);
  if (over_ && m.offer == report_) {
    finish();
  }
}

offered_folders node::offer(const std::vector<std::filesystem::path>& folders) {
  return source_.offer(folders, caf::actor_cast<chunk_source>(this));
}

std::filesystem::path node::checkpoints_of(std::uint32_t model) const {
  return hydra::checkpoints_of(run_.folder / "checkpoints", run_.models.at(model));
}

void node::say(const std::string& text) {
  if (setup_.events.say) {
    setup_.events.say(text);
  }
}

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
