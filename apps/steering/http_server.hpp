#pragma once
// cpp-httplib behind a request_listener.

#include "apps/steering/request_listener.hpp"

#include <httplib.h>

#include <optional>
#include <string>

namespace hydra::apps {

/// Routes requests and writes answers as httplib::Server does. Connections are accepted, and heads of requests are
/// read, by a request_listener, because the library bounds neither. One request for each connection.
class http_server : public httplib::Server {
 public:
  /// Serves from then on, as long as this lives; once, after the routes were set. Port 0 is any that is free. Returns
  /// the port, or -1, and errno says why; 0 if there is no such address.
  int open(const std::string& host, int port);

 private:
  void answer(int socket, std::string received);

  std::optional<request_listener> listener_;
};

}  // namespace hydra::apps
