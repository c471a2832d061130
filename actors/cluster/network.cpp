// Written for CAF 0.17.6. What it needs, besides heartbeats, so that no node is lost that should not be:
// * OpenSSL's error queue is cleared (openssl_errors.hpp).
// * Node ids are random: CAF's are the same in two containers that share a network and have the same process number.
// * Key files are read once, before the start: CAF reads them at each connection, and ends the process if one is
// missing.
// * No message takes longer to send than the timeout: what is large is sent in chunks.
// * An actor with a thread of its own is gone before the system ends: CAF counts it as ended before it has said so to
//   other nodes, and when their broker is stopped in between, the message stays, the actor with it, and its thread is
//   awaited for ever.

#include "actors/cluster/network.hpp"

#include "actors/cluster/openssl_errors.hpp"
#include "actors/protocol/system_config.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"
#include "runtime/base/text_file.hpp"
#include "runtime/base/thread_supply.hpp"

#include <caf/actor_system.hpp>
#include <caf/io/middleman.hpp>
#include <caf/node_id.hpp>
#include <caf/openssl/manager.hpp>
#include <caf/scoped_actor.hpp>

#include <fmt/format.h>
#include <netdb.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <random>
#include <thread>
#include <utility>

namespace hydra {

/// A copy of a file, in memory, with a path.
class cluster_network::memory_file {
 public:
  explicit memory_file(const std::filesystem::path& file) : descriptor_(memfd_create("key", MFD_CLOEXEC)) {
    const auto content = read_text(file, text_kind::key);
    if (descriptor_ < 0 || write(descriptor_, content.data(), content.size()) != static_cast<ssize_t>(content.size())) {
      throw fault_error(fault_code::io, file.string() + ": cannot be copied to memory");
    }
  }
  ~memory_file() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }
  memory_file(memory_file&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  memory_file& operator=(memory_file&&) = delete;
  std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

 private:
  int descriptor_;
};

namespace {

using namespace std::chrono_literals;

constexpr caf::timespan heartbeat = 1s;
constexpr caf::timespan timeout = 10s;  ///< after which a silent peer counts as lost

/// Who sends it to a peer of another version is refused.
constexpr const char* application = "hydra cluster 2";

/// Access to the id of an actor system, which has no other way to be set: an explicit instantiation may name private
/// members.
caf::node_id& id_of(caf::actor_system& system);
template <caf::node_id caf::actor_system::*Member>
struct id_access {
  friend caf::node_id& id_of(caf::actor_system& system) { return system.*Member; }
};
template struct id_access<&caf::actor_system::node_>;

/// A random id, and the wait for threads of actors. Initialised after the middleman, which sets the id, and before
/// anything uses it; stopped before the middleman. Takes a place that 0.17 leaves free.
class network_module final : public caf::actor_system::module {
 public:
  explicit network_module(caf::actor_system& system) : system_(system) {}
  void start() override { own_threads_ = system_.detached_actors(); }
  void stop() override {
    system_.clock().cancel_all();  // messages to come hold their receivers
    const auto until = std::chrono::steady_clock::now() + timeout;
    while (system_.detached_actors() > own_threads_ && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(1ms);
    }
  }
  void init(caf::actor_system_config&) override {
    std::random_device random;
    caf::node_id::default_data::host_id_type host;
    for (auto& byte : host) {
      byte = static_cast<std::uint8_t>(random());
    }
    id_of(system_) = caf::make_node_id(static_cast<std::uint32_t>(getpid()), host);
  }
  id_t id() const override { return network_manager; }
  void* subtype_ptr() override { return this; }
  static caf::actor_system::module* make(caf::actor_system& system, caf::detail::type_list<>) {
    return new network_module(system);
  }

 private:
  caf::actor_system& system_;
  std::size_t own_threads_ = 0;  ///< of the system itself
};

/// A module of CAF that makes threads when it starts, and could not be destroyed without one of them.
class module_with_threads final : public caf::actor_system::module {
 public:
  explicit module_with_threads(caf::actor_system::module* made) : made_(made) {}
  void start() override {
    begin_or_end_process("the network of the cluster", [this] { made_->start(); });
  }
  void stop() override { made_->stop(); }
  void init(caf::actor_system_config& config) override { made_->init(config); }
  id_t id() const override { return made_->id(); }
  void* subtype_ptr() override { return made_->subtype_ptr(); }

 private:
  std::unique_ptr<caf::actor_system::module> made_;
};

template <class Module>
void load_with_threads(caf::actor_system_config& config) {
  config.module_factories.push_back([](caf::actor_system& system) -> caf::actor_system::module* {
    return new module_with_threads(Module::make(system, caf::detail::type_list<>{}));
  });
}

/// With those of the middleman: its multiplexer, and an actor for each kind of connections.
constexpr std::size_t threads_of_network = threads_of_system + 3;

}  // namespace

network_address parse_address(const std::string& text) {
  const auto colon = text.rfind(':');
  network_address a;
  if (colon != std::string::npos) {
    a.host = text.substr(0, colon);
    if (a.host.size() > 2 && a.host.front() == '[' && a.host.back() == ']') {
      a.host = a.host.substr(1, a.host.size() - 2);
    }
    const auto* end = text.data() + text.size();
    const auto [read, error] = std::from_chars(text.data() + colon + 1, end, a.port);
    if (error == std::errc{} && read == end && !a.host.empty() && a.host.find('/') == std::string::npos) {
      return a;
    }
  }
  refuse(fmt::format("\"{}\" is not an address: HOST:PORT, with a port up to 65535", shown(text)));
}

std::string to_string(const network_address& a) {
  return a.host.find(':') == std::string::npos ? fmt::format("{}:{}", a.host, a.port)
                                               : fmt::format("[{}]:{}", a.host, a.port);
}

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

bool is_loopback(const std::string& host) { return host == "localhost" || host == "::1" || host.starts_with("127."); }

std::string address_towards(const network_address& there) {
  if (there.host == "0.0.0.0" || there.host == "::") {
    return host_name();
  }
  addrinfo* found = nullptr;
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_DGRAM;
  if (getaddrinfo(there.host.c_str(), std::to_string(there.port).c_str(), &wanted, &found) != 0) {
    return host_name();
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> all(found, freeaddrinfo);
  const int socket = ::socket(found->ai_family, SOCK_DGRAM, 0);
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  std::array<char, NI_MAXHOST> text{};
  // Of a datagram socket nothing is sent.
  const bool known =
      connect(socket, found->ai_addr, found->ai_addrlen) == 0 &&
      getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) == 0 &&
      getnameinfo(reinterpret_cast<sockaddr*>(&own), size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) == 0;
  ::close(socket);
  return known ? text.data() : host_name();
}

network_address reachable(network_address a) {
  if (a.host == "0.0.0.0" || a.host == "::") {
    a.host = host_name();
  }
  return a;
}

cluster_network::cluster_network(const cluster_keys& keys, const message_types& types)
    : config_(make_system_config()) {
  check_cluster_keys(keys);
  if (!openssl_errors_are_cleared()) {
    throw fault_error(fault_code::internal, "this program was linked without openssl_errors.cpp in front of libssl");
  }
  for (const auto& file : {keys.authority, keys.certificate, keys.key}) {
    files_.emplace_back(file);
  }
  config_->openssl_cafile = files_[0].path();
  config_->openssl_certificate = files_[1].path();
  config_->openssl_key = files_[2].path();
  config_->set("middleman.heartbeat-interval", heartbeat);
  config_->set("middleman.connection-timeout", timeout);
  config_->set("middleman.app-identifiers", std::vector<std::string>{application});
  types(*config_);
  load_with_threads<caf::io::middleman>(*config_);
  load_with_threads<caf::openssl::manager>(*config_);
  config_->load<network_module>();
  require_threads(threads_of_network, "the network of the cluster");
  system_ = std::make_unique<caf::actor_system>(*config_);
}

cluster_network::~cluster_network() = default;

/// caf::openssl::unpublish does not compile.
void cluster_network::close(const caf::actor_addr& actor, std::uint16_t port) {
  caf::scoped_actor self(*system_);
  self->request(system_->openssl_manager().actor_handle(), timeout, caf::unpublish_atom::value, actor, port)
      .receive([] {}, [](const caf::error&) {});
}

void cluster_network::refuse_listening(const network_address& at, const std::string& why) const {
  refuse(fmt::format(
      "{}: it is not possible to listen there ({}): the port is taken, or the address is not one of this machine",
      to_string(at), why));
}

void cluster_network::refuse_reaching(const network_address& at, const std::string& why) const {
  throw fault_error(fault_code::io,
                    fmt::format("{}: no coordinator of this cluster answers there ({}): it is not running, its address "
                                "is another one, or its keys are others",
                                to_string(at), why));
}

}  // namespace hydra
