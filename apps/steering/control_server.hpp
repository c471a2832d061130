#pragma once
// The server of control.sock: commands to a run from `hydra control` and from scripts (docs/control.md).

#include "apps/steering/steering.hpp"

#include <filesystem>
#include <memory>

namespace hydra::apps {

/// Listens in the run folder, whose lock the caller holds, as long as it lives. One thread reads, `status` is answered
/// at once; the other commands are executed one after the other, by a second one. Whatever a client does, the run does
/// not notice it.
class control_server {
 public:
  /// `run` outlives it. Throws fault_error{io} if the socket cannot be made, std::system_error if a thread cannot.
  control_server(steering& run, const std::filesystem::path& folder);
  /// Waits for a command that is being executed, closes all connections, removes the socket.
  ~control_server();

 private:
  class loop;
  std::unique_ptr<loop> loop_;
};

}  // namespace hydra::apps
