#include "actors/cluster/member.hpp"

#include "actors/admission/identity.hpp"
#include "actors/cluster/input_receiver.hpp"
#include "actors/report/report_json.hpp"
#include "partition/checkpoint/checkpoint_folder.hpp"
#include "runtime/base/regular_file.hpp"
#include "runtime/storage/durable_folder.hpp"
#include "runtime/storage/file_system.hpp"

#include <ATen/Version.h>
#include <torch/headeronly/version.h>

#include <fmt/format.h>
#include <hydra/version.hpp>
#include <oneapi/tbb/concurrent_queue.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <iterator>
#include <random>
#include <span>
#include <thread>
#include <utility>
#include <vector>

namespace hydra {

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

/// What happens to a NODE, for the thread that waits.
struct node_course : std::enable_shared_from_this<node_course> {
  std::promise<std::optional<node_accepted>> accepted;  ///< none: it has ended before
  std::promise<std::pair<node_end, std::string>> ended;
  std::atomic<bool> answered = false;

  node_events events(const teller& say) {
    return {.accepted =
                [self = shared_from_this()](const node_accepted& what) {
                  if (!self->answered.exchange(true)) self->accepted.set_value(what);
                },
            .say = say,
            .ended =
                [self = shared_from_this()](node_end how, const std::string& why) {
                  if (!self->answered.exchange(true)) self->accepted.set_value(std::nullopt);
                  self->ended.set_value({how, why});
                }};
  }
};

/// Opens models that are added to the run of a node, one after the other.
class opening_thread {
 public:
  using opener = std::function<model_description(const added_model&)>;

  opening_thread(opener open, node_handle node)
      : open_(std::move(open)), node_(std::move(node)), thread_([this] { open_all(); }) {}
  ~opening_thread() {
    over_ = true;
    wanted_->push({.last = true});
    thread_.join();
  }
  opening_thread(const opening_thread&) = delete;
  opening_thread& operator=(const opening_thread&) = delete;

  /// For the NODE, which may outlive this.
  model_opening opens() const {
    return [wanted = wanted_](std::uint32_t model, assignment_epoch epoch, const added_model& what) {
      wanted->push({model, epoch, what});
    };
  }

 private:
  struct wanted_model {
    std::uint32_t model = 0;
    assignment_epoch epoch = 0;
    added_model what{};
    bool last = false;
  };

  void open_all() {
    wanted_model next;
    for (wanted_->pop(next); !next.last && !over_; wanted_->pop(next)) {
      opened_model answer{.model = next.model, .epoch = next.epoch};
      try {
        answer.what = std::make_shared<const model_description>(open_(next.what));
      } catch (...) {
        answer.why = to_fault(std::current_exception());
      }
      node_.opened(std::move(answer));
    }
  }

  using queue = tbb::concurrent_bounded_queue<wanted_model>;
  std::shared_ptr<queue> wanted_ = std::make_shared<queue>();
  opener open_;
  node_handle node_;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

/// The files of a run that its COORDINATOR keeps; empty if they cannot be written.
fs::path report_folder(const fs::path& run) try {
  const auto place = run / "ended";
  auto& files = posix_file_system();
  files.remove_all(place);
  durable_folder folder(files, place);
  for (const auto* name : {"report.json", "trace.json", "plan.json"}) {
    if (fs::exists(run / name)) {
      const regular_file in(run / name);
      folder.write(name, [&in](byte_sink& sink) {
        std::vector<char> piece(1 << 20);
        for (std::uint64_t at = 0; const auto got = in.read(piece, at); at += got) {
          sink.add(std::as_bytes(std::span(piece).first(got)));
        }
      });
    }
  }
  folder.commit();
  return place;
} catch (const std::exception&) {
  return {};
}

}  // namespace

std::uint64_t random_number() {
  std::random_device random;
  return (static_cast<std::uint64_t>(random()) << 32) | random();
}

std::string build_text() {
  return fmt::format("hydra {}, libtorch {}, {}", version, TORCH_VERSION, at::get_cpu_capability());
}

cluster_member::cluster_member(member_options options, session_maker make)
    : options_(std::move(options)), make_(std::move(make)) {
  options_.say = contained(std::move(options_.say));
}

/// It may be planned, or have been told already that it ends.
void cluster_member::end_session() {
  const std::lock_guard lock(mutex_);
  over_ = true;
  if (running_) {
    running_->interrupt();
  }
}

bool cluster_member::is_over() const {
  const std::lock_guard lock(mutex_);
  return over_;
}

bool cluster_member::leaving() const {
  const std::lock_guard lock(mutex_);
  return asked_to_leave_ > 0;
}

void cluster_member::leave() {
  const std::lock_guard lock(mutex_);
  ++asked_to_leave_;
  if (asked_to_leave_ == 1 && node_) {
    node_->leave();
  } else if (asked_to_leave_ > 1 && running_) {
    running_->interrupt();
  }
}

/// False if it is to leave meanwhile.
bool cluster_member::wait(duration time) const {
  for (const auto until = steady_clock::now() + time; steady_clock::now() < until;) {
    if (leaving()) {
      return false;
    }
    std::this_thread::sleep_for(20ms);
  }
  return !leaving();
}

void cluster_member::say(const std::string& text) const {
  if (!text.empty()) {
    options_.say(text);
  }
}

/// With growing pauses.
std::optional<node_end> cluster_member::persist(const std::function<void()>& attempt) const {
  const auto deadline = steady_clock::now() + options_.patience;
  std::string last;
  for (duration pause = 100ms;; pause = std::min<duration>(pause * 2, 5s)) {
    try {
      attempt();
      return std::nullopt;
    } catch (const fault_error& e) {
      if (e.what_happened().code == fault_code::bad_input) {
        throw;  // no waiting mends it
      }
      const duration left = deadline - steady_clock::now();
      if (left <= duration::zero()) {
        say(fmt::format("{}; gave up after {}", e.what(), to_string(options_.patience)));
        return node_end::lost;
      }
      if (last != e.what()) {
        say(fmt::format("{}; trying again for {}", e.what(), to_string(left)));
      }
      last = e.what();
      if (!wait(std::min(pause, left))) {
        return node_end::done;
      }
    }
  }
}

node_end cluster_member::join(cluster_network& network, const std::function<network_address()>& where) {
  for (;;) {
    network_address at;
    std::optional<coordinator_actor> coordinator;
    if (const auto end = persist([&] {
          at = where();
          coordinator = network.reach<coordinator_actor>(at);
        })) {
      return *end;
    }
    const auto how = serve(network, *coordinator, at);
    if (how != node_end::lost || !wait(1s)) {  // a process that ends may still be reached
      return leaving() ? node_end::done : how;
    }
  }
}

void cluster_member::plan(session& s, node_run& run) const {
  const auto& plan = s.plan();
  for (const auto& d : s.devices()) {
    run.plan.devices.push_back({d.name, d.kind, d.speed});
  }
  const auto& left_out = s.left_out();
  auto unfit = left_out.begin();
  const auto add_left_out = [&] {
    for (; unfit != left_out.end() && unfit->place == run.models.size(); ++unfit) {
      run.models.push_back(unfit->name);
      run.plan.models.push_back({.unfit = unfit->why.text});
    }
  };
  const auto estimates = s.estimates();
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    add_left_out();
    const auto& m = estimates[i];
    const auto& cut = plan.models[i];
    run.models.push_back(m.name);
    run.plan.models.push_back({with_bare_names(m.identity) + "computed on: " + m.arithmetic + "\n", m.steps, m.work,
                               m.checkpoint, cut.shape().lanes(),
                               newest_step(checkpoints_of(run.folder / "checkpoints", m.name)).value_or(0),
                               cut.replicas, m.nodes});
  }
  add_left_out();
}

/// Of the run; the same for all memberships.
fs::path cluster_member::folder_of(const node_accepted& what) const {
  return options_.folder / fmt::format("{:016x}", what.run);
}

fs::path cluster_member::input(cluster_network& network, const node_accepted& what, const std::string& name) const {
  return receive_input(network.system(), {.name = name,
                                          .from = what.inputs,
                                          .into = folder_of(what) / "inputs",
                                          .cancelled = [this] { return is_over() || leaving(); },
                                          .say = options_.say});
}

/// A session that cannot be planned is null; the COORDINATOR is told why.
made_session cluster_member::planned_session(cluster_network& network, const node_accepted& what, node_run& run,
                                             const std::shared_ptr<node_exchange>& exchange,
                                             const network_address& near) {
  made_session s{nullptr};
  try {
    s = make_(what, {run.folder, exchange, [&](const std::string& name) { return input(network, what, name); },
                     [node = *node_](const trial_result& r) { node.evaluated(r); }});
    s.run->watch_metrics([node = *node_](const metrics_line& line) { node.wrote(line); });
    use(s.run.get());
    plan(*s.run, run);
    for (const auto& name : what.added) {
      run.models.push_back(name);
      run.plan.added.push_back(newest_step(checkpoints_of(run.folder / "checkpoints", name)).value_or(0));
    }
    if (std::ranges::any_of(run.plan.models, [](const planned_model& m) { return m.nodes > 1; })) {
      run.plan.exchange = exchange->listen(options_.address.empty() ? address_towards(near) : options_.address);
      run.exchange = exchange.get();
    }
    run.run = s.run.get();
  } catch (...) {
    run.plan.why = to_fault(std::current_exception());
    use(nullptr);
    s = {nullptr};
  }
  return s;
}

/// Whom leave() and the end of the NODE interrupt.
void cluster_member::use(session* s) {
  const std::lock_guard lock(mutex_);
  running_ = s;
  if (s && over_) {
    s->interrupt();
  }
}

node_run_over cluster_member::train(session& s) const try {
  s.run();
  return {};
} catch (...) {
  return {.why = to_fault(std::current_exception())};
}

node_end cluster_member::serve(cluster_network& network, const coordinator_actor& coordinator,
                               const network_address& near) {
  const auto course = std::make_shared<node_course>();
  auto accepted = course->accepted.get_future();
  auto ended = course->ended.get_future();
  std::shared_ptr<node_exchange> exchange;
  {
    const std::lock_guard lock(mutex_);
    over_ = false;
    auto events = course->events(options_.say);
    events.ended = [this, ended = std::move(events.ended)](node_end how, const std::string& why) {
      end_session();
      ended(how, why);
    };
    const join_cluster hello{cluster_protocol, build_text(), options_.name, random_number(), {}};
    // Without a thread for it there is no node either, which would outlive this membership.
    const auto node = std::make_shared<std::optional<node_handle>>();
    exchange = std::make_shared<node_exchange>(network, [node](const team_failure& why) { (*node)->lost(why); });
    *node = node_ = node_handle::spawn(network.system(), {hello, coordinator, std::move(events)});
    if (asked_to_leave_ > 0) {
      node_->leave();
    }
  }
  const auto what = accepted.get();
  made_session trained{nullptr};
  std::optional<opening_thread> opening;
  if (what) {
    node_run run{.folder = folder_of(*what)};
    trained = planned_session(network, *what, run, exchange, near);
    if (trained.open) {
      try {
        opening.emplace(trained.open, *node_);
        run.open = opening->opens();
      } catch (const std::system_error&) {  // no thread: it takes no models that are added
      }
    }
    node_->begin(run);
    if (trained.run && !is_over()) {
      auto over = train(*trained.run);
      if (!over.why) {
        over.report = report_folder(run.folder);
      }
      node_->over(over);
    }
  }
  const auto [how, why] = ended.get();
  say(why);
  {
    const std::lock_guard lock(mutex_);
    node_.reset();
    running_ = nullptr;
  }
  opening.reset();
  trained.run.reset();
  if (how == node_end::done && what) {
    drop_folder(*what);
  }
  return how;
}

/// The coordinator has all that is worth keeping.
void cluster_member::drop_folder(const node_accepted& what) const {
  std::error_code ignored;
  fs::remove_all(folder_of(what), ignored);
  fs::remove(options_.folder, ignored);
}

}  // namespace hydra
