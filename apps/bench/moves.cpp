#include "apps/bench/moves.hpp"

#include "actors/cluster/folder_receiver.hpp"
#include "actors/cluster/folder_source.hpp"
#include "actors/cluster/network.hpp"
#include "actors/report/text_table.hpp"
#include "apps/bench/scratch_folder.hpp"
#include "apps/bench/tls_socket.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/storage/durable_folder.hpp"

#include <caf/scoped_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <span>
#include <thread>
#include <utility>
#include <vector>

namespace hydra::apps {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr double mebibyte = 1 << 20;

/// The process that has the folder. It answers numbers, as a node answers commands, and offers the folder when asked.
using owner_actor = caf::typed_actor<caf::reacts_to<want_chunk>, caf::reacts_to<drop_folders>,
                                     caf::replies_to<std::uint64_t>::with<std::uint64_t>,
                                     caf::replies_to<std::string>::with<offered_folders>>;

void types(caf::actor_system_config& c) {
  add_cluster_messages(c);
  c.add_message_type<offered_folders>("hydra::offered_folders");
}

owner_actor::behavior_type owner(owner_actor::pointer self, const std::shared_ptr<folder_source>& source) {
  return {[self, source](const want_chunk& m) { self->send(m.to, source->read(m)); },
          [source](const drop_folders& m) { source->drop(m.offer); }, [](std::uint64_t n) { return n; },
          [self, source](const std::string& folder) {
            return source->offer(std::array{fs::path{folder}}, caf::actor_cast<chunk_source>(self));
          }};
}

struct ports {
  std::uint16_t actor = 0, socket = 0;
};

/// Runs until the other process closes `orders`; each byte in it is an order for one transfer by the socket.
void serve(int orders, int answers, const cluster_keys& keys, std::uint64_t bytes) {
  cluster_network network{keys, types};
  const auto source = std::make_shared<folder_source>();
  const owner_actor actor = network.system().spawn<caf::detached>(owner, source);
  tls_listener socket{keys};
  const ports p{network.listen(actor, {"127.0.0.1", 0}), socket.port()};
  if (::write(answers, &p, sizeof p) != sizeof p) return;
  for (char order = 0; ::read(orders, &order, 1) == 1;) socket.send(bytes);
  network.close(actor.address(), p.actor);
  caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
}

/// The other process.
class owner_process {
 public:
  owner_process(const cluster_keys& keys, std::uint64_t bytes) {
    std::array<int, 2> orders{}, answers{};
    if (::pipe(orders.data()) != 0 || ::pipe(answers.data()) != 0) throw fault_error{fault_code::io, "pipe"};
    process_ = ::fork();
    if (process_ == 0) {
      ::close(orders[1]);
      serve(orders[0], answers[1], keys, bytes);
      ::_exit(0);
    }
    ::close(orders[0]);
    ::close(answers[1]);
    orders_ = orders[1];
    if (::read(answers[0], &ports_, sizeof ports_) != sizeof ports_)
      throw fault_error{fault_code::io, "no second process"};
    ::close(answers[0]);
  }
  ~owner_process() {
    ::close(orders_);
    ::waitpid(process_, nullptr, 0);
  }
  void send_by_socket() const {
    if (::write(orders_, "s", 1) != 1) throw fault_error{fault_code::io, "the second process has ended"};
  }
  const ports& at() const { return ports_; }
  pid_t id() const { return process_; }

 private:
  pid_t process_ = 0;
  int orders_ = -1;
  ports ports_;
};

double resident_mebibytes(pid_t process) {
  std::ifstream in{fmt::format("/proc/{}/statm", process)};
  double all = 0, resident = 0;
  in >> all >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / mebibyte;
}

/// The growth of two processes' memory, as long as it exists.
class memory_watch {
 public:
  explicit memory_watch(pid_t other)
      : processes_{::getpid(), other}, before_{resident_mebibytes(processes_[0]), resident_mebibytes(processes_[1])} {
    thread_ = std::jthread{[this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        for (std::size_t i = 0; i < 2; ++i)
          most_[i] = std::max(most_[i], resident_mebibytes(processes_[i]) - before_[i]);
        std::this_thread::sleep_for(5ms);
      }
    }};
  }
  std::array<double, 2> end() {
    thread_ = {};
    return most_;
  }

 private:
  std::array<pid_t, 2> processes_;
  std::array<double, 2> before_, most_{};
  std::jthread thread_;
};

/// Times of messages there and back, in ms, until it is told to end.
std::vector<double> ping(caf::actor_system& system, const owner_actor& to, const std::atomic<bool>& over) {
  caf::scoped_actor self{system};
  std::vector<double> all;
  for (std::uint64_t n = 0; !over; ++n) {
    const auto start = steady_clock::now();
    self->request(to, 10s, n)
        .receive([&](std::uint64_t) { all.push_back(1e3 * seconds(steady_clock::now() - start)); },
                 [](const caf::error&) {});
    std::this_thread::sleep_for(2ms);
  }
  std::ranges::sort(all);
  return all;
}

void write_parameters(const fs::path& place, std::uint64_t bytes) {
  durable_folder folder{posix_file_system(), place};
  std::vector<std::byte> data(1 << 20);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 2654435761U >> 13);
  folder.write("parameters", [&](byte_sink& sink) {
    for (std::uint64_t at = 0; at < bytes; at += data.size()) sink.add(data);
  });
  folder.commit();
}

void move_folder(cluster_network& network, const owner_actor& from, const fs::path& folder, const fs::path& into) {
  caf::scoped_actor self{network.system()};
  offered_folders what;
  self->request(from, 10s, folder.string())
      .receive([&](offered_folders& o) { what = std::move(o); }, [](const caf::error&) {});
  std::promise<fault> done;
  receive_folders(network.system(), {.what = what, .into = into, .replaces = true},
                  [&](const fault& f) { done.set_value(f); });
  if (const fault why = done.get_future().get()) throw fault_error{why};
}

void repeat(moves_result& r, const owner_process& other, cluster_network& network, const owner_actor& actor,
            const fs::path& folder, const cluster_keys& keys, std::uint64_t bytes) {
  other.send_by_socket();
  const double plain = seconds_of([&] { receive_over_tls(keys, other.at().socket, bytes); });
  std::atomic<bool> over = false;
  auto pings = std::async(std::launch::async, [&] { return ping(network.system(), actor, over); });
  memory_watch memory{other.id()};
  const double moved = seconds_of([&] { move_folder(network, actor, folder / "model", folder / "there"); });
  const auto grown = memory.end();
  over = true;
  const auto times = pings.get();
  const double size = static_cast<double>(bytes) / mebibyte;
  const double written = seconds_of([&] { write_parameters(folder / "again", bytes); });
  fs::remove_all(folder / "again");
  const scratch_folder memory_disk{fs::path{"/dev/shm"} / fmt::format("hydra-bench-moves-{}", ::getpid())};
  const double to_memory =
      seconds_of([&] { move_folder(network, actor, folder / "model", memory_disk.path() / "there"); });
  r.written.values.push_back(size / written);
  r.to_memory.values.push_back(plain / to_memory);
  r.socket.values.push_back(size / plain);
  r.moved.values.push_back(size / moved);
  r.share.values.push_back(plain / moved);
  r.median.values.push_back(times.at(times.size() / 2));
  r.p99.values.push_back(times.at(times.size() * 99 / 100));
  r.receiver.values.push_back(grown[0]);
  r.sender.values.push_back(grown[1]);
}

}  // namespace

moves_result measure_moves(const moves_options& o) {
  const scratch_folder scratch{"bench-moves"};
  const fs::path folder = fs::absolute("bench-moves");
  make_cluster_keys(folder / "keys");
  const cluster_keys keys = cluster_keys::in(folder / "keys");
  const owner_process other{keys, o.bytes};
  write_parameters(folder / "model", o.bytes);
  cluster_network network{keys, types};
  const auto actor = network.reach<owner_actor>({"127.0.0.1", other.at().actor});
  moves_result r;
  for (int i = 0; i < o.repeats; ++i) repeat(r, other, network, actor, folder, keys, o.bytes);
  return r;
}

std::string to_table(const moves_result& r) {
  text_table t{
      {{"moving a checkpoint between two processes, TLS over loopback"}, {"median [min..max]", alignment::right}}};
  t.add({"from disk to disk, verified, MiB/s", to_string(r.moved)});
  t.add({"bytes over a plain TLS socket, MiB/s", to_string(r.socket)});
  t.add({"one over the other", to_string(r.share)});
  t.add({"the same bytes written by one process, MiB/s", to_string(r.written)});
  t.add({"moved to a file system in memory, over the socket", to_string(r.to_memory)});
  t.add({"other messages meanwhile, there and back, median, ms", to_string(r.median)});
  t.add({"99 %, ms", to_string(r.p99)});
  t.add({"memory of the sender above before, MiB", to_string(r.sender)});
  t.add({"of the receiver, MiB", to_string(r.receiver)});
  return t.to_string();
}

std::string to_json(const moves_result& r, const machine_description& on) {
  const nlohmann::ordered_json j{{"name", "moves"},
                                 {"processor", on.processor},
                                 {"cores_used", on.cores_used},
                                 {"moved_mebibytes_per_s", json_of(r.moved)},
                                 {"socket_mebibytes_per_s", json_of(r.socket)},
                                 {"moved_over_socket", json_of(r.share)},
                                 {"written_mebibytes_per_s", json_of(r.written)},
                                 {"moved_to_memory_over_socket", json_of(r.to_memory)},
                                 {"message_median_ms", json_of(r.median)},
                                 {"message_p99_ms", json_of(r.p99)},
                                 {"sender_mebibytes", json_of(r.sender)},
                                 {"receiver_mebibytes", json_of(r.receiver)}};
  return json_text(j, 2) + "\n";
}

}  // namespace hydra::apps
