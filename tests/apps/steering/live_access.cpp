#include "apps/steering/live_access.hpp"

#include <catch2/catch.hpp>

namespace hydra::apps {

using Catch::Contains;

TEST_CASE("the address of a live page is a host and a port") {
  CHECK(parse_live_address("127.0.0.1:8080").host == "127.0.0.1");
  CHECK(parse_live_address("127.0.0.1:8080").port == 8080);
  CHECK(parse_live_address("[::1]:0").host == "::1");
  CHECK(parse_live_address("node7:9").host == "node7");
  for (const char* wrong :
       {"", "8080", "127.0.0.1", "127.0.0.1:", ":8080", "127.0.0.1:http", "127.0.0.1:65536", "127.0.0.1:-1", "[::1]"})
    CHECK_THROWS_WITH(parse_live_address(wrong), Contains("expected ADDRESS:PORT"));
}

TEST_CASE("a page at all addresses of the machine is shown under one that the page is served as") {
  for (const char* all : {"0.0.0.0", "::"}) {
    const std::string host = reachable_host(all);
    CHECK(host != all);
    const live_access access{all};
    CHECK(access.refusal({access.token(), host.find(':') == std::string::npos ? host : "[" + host + "]", ""}) == "");
  }
  CHECK(reachable_host("127.0.0.1") == "127.0.0.1");
  CHECK(reachable_host("node7") == "node7");
}

TEST_CASE("each token is another one, of 128 bits") {
  CHECK(random_token().size() == 32);
  CHECK(random_token() != random_token());
}

TEST_CASE("a request needs the token, a host that is served, and no foreign origin") {
  const live_access access{"127.0.0.1"};
  const std::string& token = access.token();
  const auto is_refused = [&](const credentials& c) { return !access.refusal(c).empty(); };
  for (const char* host : {"127.0.0.1:8080", "localhost:8080", "localhost", "[::1]:8080", "10.0.0.7:80"}) {
    INFO(host);
    CHECK_FALSE(is_refused({token, host, ""}));
    CHECK_FALSE(is_refused({token, host, std::string{"http://"} + host}));
    CHECK(is_refused({"", host, ""}));
  }
  std::string other = token;
  other.back() = other.back() == '0' ? '1' : '0';
  for (const std::string& wrong : {other, token.substr(1), token + "0", std::string(1000, '0')})
    CHECK(is_refused({wrong, "localhost:8080", ""}));
  for (const char* host : {"evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example:8080", "", ":8080"})
    CHECK(is_refused({token, host, ""}));
  for (const char* origin :
       {"http://evil.example", "https://localhost:8080", "http://localhost", "http://localhost:81", "null"})
    CHECK(is_refused({token, "localhost:8080", origin}));
}

TEST_CASE("a host that is served by its name is known by it") {
  const live_access access{"node7"};
  CHECK(access.refusal({access.token(), "node7:80", ""}).empty());
  CHECK_FALSE(access.refusal({access.token(), "node8:80", ""}).empty());
}

}  // namespace hydra::apps
