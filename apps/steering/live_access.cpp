#include "apps/steering/live_access.hpp"

#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <openssl/crypto.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <memory>
#include <system_error>
#include <utility>

namespace hydra::apps {

namespace {

/// A host without the brackets of an IPv6 address, and its port ("" if there is none).
std::pair<std::string_view, std::string_view> host_and_port(std::string_view text) {
  const auto colon = text.rfind(':');
  const bool has_port = colon != std::string_view::npos && !text.ends_with(']');
  std::string_view host = has_port ? text.substr(0, colon) : text;
  if (host.size() > 2 && host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return {host, has_port ? text.substr(colon + 1) : ""};
}

bool is_number_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> ignored;
  return ::inet_pton(AF_INET, host.c_str(), ignored.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), ignored.data()) == 1;
}

/// Of a network that is up and not the machine itself; empty for other addresses.
std::string network_address_of(const ifaddrs& i, int family) {
  const bool counts =
      i.ifa_addr && i.ifa_addr->sa_family == family && (i.ifa_flags & IFF_UP) != 0 && (i.ifa_flags & IFF_LOOPBACK) == 0;
  std::array<char, NI_MAXHOST> text{};
  const socklen_t length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  if (!counts || ::getnameinfo(i.ifa_addr, length, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0)
    return "";
  const std::string address = text.data();
  return address.find('%') == std::string::npos ? address : "";  // of one link only
}

/// Takes the same time wherever they differ.
bool equal(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

live_address parse_live_address(std::string_view text) {
  const auto [host, port] = host_and_port(text);
  live_address address{.host = std::string{host}};
  const auto [stop, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  const bool is_port =
      error == std::errc{} && stop == port.data() + port.size() && address.port >= 0 && address.port <= 65535;
  if (host.empty() || !is_port)
    refuse(fmt::format(
        "--serve \"{}\": expected ADDRESS:PORT, such as 127.0.0.1:8080 or [::1]:8080; port 0 is any that is free",
        shown(text)));
  return address;
}

std::string reachable_host(const std::string& host) {
  if (host != "0.0.0.0" && host != "::") return host;
  const int family = host == "::" ? AF_INET6 : AF_INET;
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) first = nullptr;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all{first, ::freeifaddrs};
  for (const ifaddrs* i = first; i; i = i->ifa_next)
    if (std::string address = network_address_of(*i, family); !address.empty()) return address;
  return family == AF_INET6 ? "::1" : "127.0.0.1";
}

std::string random_token() {
  std::array<unsigned char, 16> bits;
  if (::getentropy(bits.data(), bits.size()) != 0)
    throw fault_error{fault_code::io,
                      "no random number for the URL of the live page: " + std::generic_category().message(errno)};
  std::string token;
  for (const unsigned char b : bits) token += fmt::format("{:02x}", b);
  return token;
}

live_access::live_access(std::string host) : host_{std::move(host)}, token_{random_token()} {}

std::string live_access::refusal(const credentials& c) const {
  if (!is_known(host_and_port(c.host).first)) return fmt::format("the page is not served as \"{}\"", shown(c.host));
  if (!c.origin.empty() && c.origin != "http://" + c.host)
    return fmt::format("requests of pages of {} are refused", c.origin);
  if (!equal(c.token, token_)) return "the URL lacks the run's token: hydra train prints the whole URL at its start";
  return "";
}

bool live_access::is_known(std::string_view host) const {
  return host == "localhost" || host == host_ || is_number_address(std::string{host});
}

}  // namespace hydra::apps
