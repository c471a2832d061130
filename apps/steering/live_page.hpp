#pragma once
// `hydra train --serve`: the page of a run that is under way, in a browser.

#include "apps/steering/live_access.hpp"
#include "apps/steering/steering.hpp"

#include <filesystem>
#include <memory>
#include <string>

namespace hydra::apps {

/// Serves the page of `hydra report`, live, and takes commands (docs/control.md), as long as it lives. What viewers do,
/// or do not do, costs the run nothing but memory for at most 48 of them; what others do, that for a few connections
/// (listener_limits).
class live_page {
 public:
  /// `run` outlives it. Throws fault_error{bad_input} if nothing can be served at the address.
  live_page(steering& run, const std::filesystem::path& folder, const live_address& where);
  /// Tells the viewers that the run has ended, with its last state; takes at most about two seconds, and as
  /// long as a command that is being executed.
  ~live_page();

  /// With the token: who knows it can steer the run.
  std::string url() const;

 private:
  class server;
  std::unique_ptr<server> server_;
};

}  // namespace hydra::apps
