#pragma once
// The network between the processes of a cluster: CAF's. Connections are encrypted, and both ends prove that they
// belong to the cluster; the messages of others are not read.

#include "actors/cluster/keys.hpp"

#include <caf/actor_addr.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/openssl/publish.hpp>
#include <caf/openssl/remote_actor.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace hydra {

struct network_address {
  std::string host;
  std::uint16_t port = 0;  ///< 0, to listen: any that is free
};

/// "HOST:PORT", "[::1]:PORT". Throws fault_error{bad_input}.
network_address parse_address(const std::string& text);
std::string to_string(const network_address& a);

/// True of names and addresses of the loopback interface.
bool is_loopback(const std::string& host);
/// The address of this machine from which packets to `there` leave; its name if that is not known, or if there is all
/// of its own addresses.
std::string address_towards(const network_address& there);
/// The name of this machine.
std::string host_name();
/// What others can reach where this machine listens at `a`: "0.0.0.0" and "::" are all of its addresses, and become its
/// name.
network_address reachable(network_address a);

/// An actor system whose actors others can reach. What it needs from CAF 0.17.6 is in network.cpp.
class cluster_network {
 public:
  using message_types = std::function<void(caf::actor_system_config&)>;

  /// `types` adds the messages that are sent. The files of keys are not read again. Throws fault_error{bad_input}.
  cluster_network(const cluster_keys& keys, const message_types& types);
  ~cluster_network();

  caf::actor_system& system() noexcept { return *system_; }

  /// Returns the port. Throws fault_error{bad_input} for an address that is taken, or not of this machine.
  template <class Handle>
  std::uint16_t listen(const Handle& actor, const network_address& at) {
    const auto port = caf::openssl::publish(actor, at.port, at.host.c_str(), true);
    if (!port) {
      refuse_listening(at, system_->render(port.error()));
    }
    return *port;
  }

  /// Nobody finds the actor there any more. Blocks for a moment; not in an actor. To be called before the network ends:
  /// CAF holds what is published.
  void close(const caf::actor_addr& actor, std::uint16_t port);

  /// The actor that is published there. Blocks while it connects, seconds at most; not in an actor. Throws
  /// fault_error{io} if nobody answers, or not as a member of this cluster.
  template <class Handle>
  Handle reach(const network_address& at) {
    auto actor = caf::openssl::remote_actor<Handle>(*system_, at.host, at.port);
    if (!actor) {
      refuse_reaching(at, system_->render(actor.error()));
    }
    return std::move(*actor);
  }

 private:
  class memory_file;
  [[noreturn]] void refuse_listening(const network_address& at, const std::string& why) const;
  [[noreturn]] void refuse_reaching(const network_address& at, const std::string& why) const;

  std::vector<memory_file> files_;  ///< the keys
  std::unique_ptr<caf::actor_system_config> config_;
  std::unique_ptr<caf::actor_system> system_;
};

}  // namespace hydra
