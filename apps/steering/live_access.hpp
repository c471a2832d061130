#pragma once
// Who may see and steer a run over HTTP.

#include <string>
#include <string_view>

namespace hydra::apps {

/// Where the page is served.
struct live_address {
  std::string host = "127.0.0.1";
  int port = 0;  ///< 0: any that is free
};

/// "127.0.0.1:8080", "[::1]:8080", "0.0.0.0:0". Throws fault_error{bad_input} that starts with "--serve".
live_address parse_live_address(std::string_view text);

/// The host to write into a URL: for "0.0.0.0" and "::", which stand for all addresses of this machine, the first one
/// of a network, or that of the machine itself if it has none; others as they are.
std::string reachable_host(const std::string& host);

/// 128 random bits as 32 hexadecimal digits.
std::string random_token();

/// What a request brings; empty: nothing.
struct credentials {
  std::string token;
  std::string host;    ///< header Host
  std::string origin;  ///< header Origin
};

/// The token; and what keeps pages of other sites out, even if they knew it: a browser's request must come from the
/// page itself, and must have named an address, "localhost" or the host that is served. A name of another site that
/// leads here (DNS rebinding) is none of these.
class live_access {
 public:
  /// Makes a token.
  explicit live_access(std::string host);

  const std::string& token() const noexcept { return token_; }
  /// Why the request is refused; empty if it is not.
  std::string refusal(const credentials& c) const;

 private:
  bool is_known(std::string_view host) const;
  std::string host_;
  std::string token_;
};

}  // namespace hydra::apps
