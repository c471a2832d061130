#pragma once
// What leads to a run that is under way: the socket of its folder, and a page if one is to be served.

#include "apps/steering/control_server.hpp"
#include "apps/steering/live_access.hpp"
#include "apps/steering/live_page.hpp"
#include "apps/steering/steering.hpp"

#include <filesystem>
#include <optional>

namespace hydra::apps {

class entrances {
 public:
  /// `run` outlives it. Says on stderr where the page is, and why a socket cannot be made. Throws
  /// fault_error{bad_input} if nothing can be served at the address.
  entrances(steering& run, const std::filesystem::path& folder, const std::optional<live_address>& page);

 private:
  std::optional<control_server> socket_;
  std::optional<live_page> page_;
};

}  // namespace hydra::apps
