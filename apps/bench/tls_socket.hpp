#pragma once
// A plain TLS connection over loopback: what a checkpoint that moves is compared with.

#include "actors/cluster/keys.hpp"

#include <cstdint>
#include <memory>

namespace hydra::apps {

/// Both ends prove that they have the keys. Throws fault_error{io}.
class tls_listener {
 public:
  explicit tls_listener(const cluster_keys& keys);
  ~tls_listener();
  std::uint16_t port() const;
  /// Sends so many bytes to the first that connects.
  void send(std::uint64_t bytes);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Receives so many bytes.
void receive_over_tls(const cluster_keys& keys, std::uint16_t port, std::uint64_t bytes);

}  // namespace hydra::apps
