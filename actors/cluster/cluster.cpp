#include "actors/cluster/cluster.hpp"

#include "actors/cluster/metrics_lines.hpp"
#include "actors/report/report_json.hpp"
#include "actors/run/run_requests.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <future>
#include <system_error>
#include <thread>
#include <utility>

namespace hydra {

namespace {

/// No node is let in any more.
bool is_complete(const report& r) {
  return !r.interrupted && std::ranges::all_of(r.models, [](const model_report& m) {
    return m.status == model_status::finished || m.status == model_status::stopped;
  });
}

fault has_ended() { return {fault_code::refused, "the run has ended"}; }

}  // namespace

struct cluster::state {
  state(cluster_workload w, cluster_options o)
      : what(std::move(w)),
        options(std::move(o)),
        say(contained(options.say)),
        lines(what.folder, options.progress),
        network(options.keys ? *options.keys : take_keys_of_run(what.folder), add_cluster_messages),
        coordinator(coordinator_handle::spawn(network.system(), setup())) {
    try {
      options.listen.port = network.listen(coordinator.actor(), options.listen);
      listens = true;
    } catch (...) {
      coordinator.interrupt();
      coordinator.interrupt();
      throw;
    }
  }

  coordinator_setup setup() {
    return {.what = what,
            .build = options.local_name.empty() ? "" : build_text(),
            .local_name = options.local_name,
            .nodes = options.nodes,
            .events = {.say =
                           [this](const std::string& text) {
                             if (listens) say(text);
                           },
                       .planned = [this](const std::vector<planned_model>& m) { lines.expect(what.models, m); },
                       .metrics_lines = [this](const std::string& text) { lines.add(text); },
                       .ended = [this](cluster_record r) { ended.set_value(std::move(r)); }}};
  }

  /// Who is still looking for the coordinator waits for the next one.
  void close() { network.close(coordinator.actor().address(), options.listen.port); }

  cluster_workload what;
  cluster_options options;
  teller say;
  metrics_lines lines;
  std::promise<cluster_record> ended;
  std::atomic<bool> listens = false;  ///< before that it says nothing
  cluster_network network;
  coordinator_handle coordinator;
  bool has_run = false;
};

cluster::cluster(cluster_workload what, cluster_options options)
    : state_(std::make_unique<state>(std::move(what), std::move(options))) {}

cluster::~cluster() {
  if (!state_->has_run) {
    interrupt();
    interrupt();
    state_->ended.get_future().wait();
    state_->close();
  }
}

std::string cluster::address() const { return to_string(reachable(state_->options.listen)); }

report cluster::run(session_maker local) {
  auto& s = *state_;
  if (s.has_run) {
    throw fault_error(fault_code::bad_input, "cluster::run() may be called once; build another cluster");
  }
  std::optional<cluster_member> member;
  fault local_failed;
  std::jthread node;
  if (local) {
    member.emplace(member_options{.name = s.options.local_name, .folder = s.what.folder / "local", .say = {}},
                   std::move(local));
    node = std::jthread([&] {
      try {
        member->serve(s.network, s.coordinator.actor(), s.options.listen);  // may be refused
      } catch (...) {
        local_failed = to_fault(std::current_exception());
        s.coordinator.interrupt();
      }
    });
  }
  s.has_run = true;
  auto record = s.ended.get_future().get();
  s.close();
  if (node.joinable()) {
    node.join();
  }
  if (local_failed) {
    throw fault_error(local_failed);
  }
  if (record.why) {
    throw fault_error(record.why);
  }
  auto r = build_cluster_report(record, s.what.folder);
  r.name = s.what.name;
  if (const auto note = s.lines.close(); !note.empty()) {
    r.notes.push_back(note);
  }
  const auto file = s.what.folder / "report.json";
  // a run that was interrupted while it waited for nodes keeps the report from before
  if (record.began || !record.interrupted || !std::filesystem::exists(file)) {
    write_report(r, file);
  }
  if (is_complete(r) &&
      !s.options.keys) {  // after the report: a run that has none is continued, by nodes that have these keys
    std::error_code ignored;
    std::filesystem::remove_all(keys_of_run(s.what.folder), ignored);
  }
  return r;
}

void cluster::interrupt() { state_->coordinator.interrupt(); }

void cluster::stop(const std::string& model) { steer(model, model_command::stop); }
void cluster::pause(const std::string& model) { steer(model, model_command::pause); }
void cluster::resume(const std::string& model) { steer(model, model_command::resume); }

/// A pause takes as long as the step that has begun and the transfer of its checkpoint.
void cluster::steer(const std::string& model, model_command what) {
  answered<void>(has_ended(),
                 [&](auto answer) { state_->coordinator.steer(model, what, sink_of(std::move(answer))); });
}

void cluster::add(cluster_addition model) {
  answered<void>(has_ended(),
                 [&](auto answer) { state_->coordinator.add(std::move(model), sink_of(std::move(answer))); });
}

std::filesystem::path cluster::keep(const std::string& model, std::optional<std::uint32_t> steps) {
  return answered<std::filesystem::path>(has_ended(), [&](auto answer) {
    state_->coordinator.keep(model, steps,
                             [answer = std::move(answer)](const fault& why, const std::filesystem::path& kept) {
                               why ? answer->set_exception(std::make_exception_ptr(fault_error(why)))
                                   : answer->set_value(kept);
                             });
  });
}

void cluster::copy_begun(const std::string& copy, bool joined) { state_->coordinator.copy_begun(copy, joined); }

run_status cluster::status() {
  return answered<run_status>(has_ended(), [&](auto answer) {
    state_->coordinator.read_status([answer = std::move(answer)](run_status s) { answer->set_value(std::move(s)); });
  });
}

}  // namespace hydra
