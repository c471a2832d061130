#include "apps/steering/live_page.hpp"

#include "apps/steering/answer.hpp"
#include "tests/apps/steering/fake_steering.hpp"
#include "tests/apps/steering/socket_client.hpp"
#include "tests/apps/temporary_folder.hpp"
#include "tests/support/depth.hpp"
#include "tests/support/resident_bytes.hpp"

#include <httplib.h>
#include <catch2/catch.hpp>

#include <chrono>
#include <fstream>
#include <future>
#include <regex>

namespace hydra::apps {

using Catch::Contains;
using Catch::StartsWith;

namespace {

const std::string metrics = R"({"model": "gpt-a", "step": 1, "steps": 100, "loss": 3.5, "time": 1}
{"model": "gpt-a", "step": 2, "steps": 100, "loss": 3.25, "time": 2}
)";

struct served_run {
  served_run() {
    folder.write("workload.toml", "[[model]]\nname = \"gpt-a\"\n[[model]]\nname = \"gpt-b\"\n");
    folder.write("metrics.jsonl", metrics);
    page.emplace(run, folder.path(), live_address{});
    const std::string url = page->url();
    const std::regex parts{"http://127.0.0.1:([0-9]+)/\\?token=([0-9a-f]{32})"};
    std::smatch m;
    REQUIRE(std::regex_match(url, m, parts));
    port = std::stoi(m[1]);
    token = "?token=" + m[2].str();
  }

  httplib::Client client() const { return httplib::Client{"127.0.0.1", port}; }
  httplib::Result get(const std::string& path, const httplib::Headers& headers = {}) const {
    return client().Get(path, headers);
  }
  httplib::Result post(const std::string& body) const {
    return client().Post("/command" + token, body, "application/json");
  }

  /// Reads events until one contains the text; false if there is none before the end, or within a minute.
  bool watch_until(const std::string& text) const {
    std::string seen;
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes{1};
    return !client().Get("/events" + token, [&](const char* data, std::size_t n) {
      seen.append(data, n);
      return seen.find(text) == std::string::npos && std::chrono::steady_clock::now() < end;
    }) && seen.find(text) != std::string::npos;
  }

  temporary_folder folder;
  fake_steering run;
  int port = 0;
  std::string token;
  std::optional<live_page> page;
};

int status_of(const httplib::Result& r) { return r ? r->status : -1; }

/// A connection that has asked for something and never reads.
descriptor stalled_client(int port, const std::string& request) {
  descriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const int small = 4096;
  ::setsockopt(socket.number(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::connect(socket.number(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
  REQUIRE(::send(socket.number(), request.data(), request.size(), MSG_NOSIGNAL) == ssize_t(request.size()));
  return socket;
}

}  // namespace

TEST_CASE("nothing is served without the token, under another name, or to another site") {
  const served_run s;
  for (const std::string path :
       {"/", "/events", "/command", "/none", "/?token=0123456789abcdef0123456789abcdef", "/?token="}) {
    const auto r = s.get(path);
    CHECK(status_of(r) == 403);
    CHECK_THAT(r->body, !Contains("gpt"));
  }
  CHECK(status_of(s.client().Post("/command", R"({"command": "quit"})", "application/json")) == 403);
  CHECK(status_of(s.get("/" + s.token, {{"Origin", "http://evil.example"}})) == 403);
  CHECK(status_of(s.get("/" + s.token, {{"Host", "evil.example"}})) == 403);
  CHECK(status_of(s.client().Post("/command" + s.token, httplib::Headers{{"Origin", "null"}}, R"({"command": "quit"})",
                                  "text/plain")) == 403);
  CHECK(s.run.asked().empty());
  CHECK(status_of(s.get("/" + s.token)) == 200);
  CHECK(status_of(s.get("/" + s.token, {{"Host", "localhost:1"}, {"Origin", "http://localhost:1"}})) == 200);
  CHECK(status_of(s.get("/none" + s.token)) == 404);
}

TEST_CASE("the page is that of hydra report with one script, and loads nothing from elsewhere") {
  const served_run s;
  const auto r = s.get("/" + s.token);
  REQUIRE(status_of(r) == 200);
  CHECK_THAT(r->body, StartsWith("<!DOCTYPE html>") && Contains("loss curves") && Contains("3.2500") &&
                          Contains("<script nonce="));
  for (const char* outside : {"http:", "https:", "src=", "href=", "@import", "url("})
    CHECK_THAT(r->body, !Contains(outside));
  const std::string policy = r->get_header_value("Content-Security-Policy");
  CHECK_THAT(policy,
             Contains("default-src 'none'") && Contains("connect-src 'self'") && Contains("frame-ancestors 'none'"));
  const auto nonce = policy.substr(policy.find("nonce-") + 6, 32);
  CHECK_THAT(r->body, Contains("<script nonce=\"" + nonce + "\">"));
  CHECK(r->get_header_value("Referrer-Policy") == "no-referrer");
  CHECK(r->get_header_value("Cache-Control") == "no-store");
}

TEST_CASE("a model that has ended is said to be so in the tables, too") {
  const served_run s;
  CHECK(status_of(s.post(R"({"command": "stop", "model": "gpt-b"})")) == 200);
  const auto r = s.get("/" + s.token);
  REQUIRE(status_of(r) == 200);
  CHECK_THAT(r->body, Contains("<td>stopped</td>") && Contains("<td>not ended</td>"));
}

TEST_CASE("who asks for a part of the page gets all of it") {
  const served_run s;
  for (const std::string range : {"bytes=0-3", "no range"}) {
    const auto r = s.get("/" + s.token, {{"RANGE", range}, {"Range", range}});
    CHECK(status_of(r) == 200);
    CHECK_THAT(r->body, StartsWith("<!DOCTYPE html>") && Contains("loss curves"));
  }
}

TEST_CASE("the live page takes the commands of the socket") {
  const served_run s;
  const auto cloned = s.post(R"({"command": "clone", "model": "gpt-a", "changes": ["steps=20"]})");
  CHECK(status_of(cloned) == 200);
  CHECK(cloned->body == "{\"command\":\"clone\",\"model\":\"gpt-a-clone\"}\n");
  const auto unknown = s.post(R"({"command": "stop", "model": "gpt-c"})");
  CHECK(status_of(unknown) == 400);
  CHECK_THAT(unknown->body, Contains("did you mean"));
  CHECK(status_of(s.post("{")) == 400);
  CHECK(status_of(s.post(std::string(longest_command + 1, ' '))) == 413);
  CHECK(s.run.asked() == std::vector<std::string>{"clone gpt-a steps=20", "stop gpt-c"});
}

TEST_CASE("a command is seen by all who watch, and so is the growth of the metrics") {
  const served_run s;
  std::vector<std::future<bool>> watchers;
  for (int i = 0; i < 20; ++i)
    watchers.push_back(std::async(std::launch::async,
                                  [&] { return s.watch_until(R"("state":"stopped")") && s.watch_until("1.2500"); }));
  CHECK(status_of(s.post(R"({"command": "stop", "model": "gpt-b"})")) == 200);
  s.folder.write("metrics.jsonl", metrics + R"({"model": "gpt-b", "step": 1, "steps": 9, "loss": 1.25, "time": 3})"
                                            "\n");
  for (auto& w : watchers) CHECK(w.get());
}

TEST_CASE("a viewer that stops reading costs neither memory nor the others' time") {
  served_run s;
  std::vector<descriptor> stalled;
  for (int i = 0; i < 3; ++i)
    stalled.push_back(stalled_client(s.port, "GET /events" + s.token + " HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  s.run.change([](auto& models) { models[0].name = std::string(1 << 20, 'x'); });  // frames of a megabyte
  CHECK(s.watch_until(R"("gpt-b")"));
  const std::size_t before = test::resident_bytes();
  for (int i = 0; i < 100; ++i) CHECK(status_of(s.post(R"({"command": "resume", "model": "gpt-b"})")) == 200);
  CHECK(s.watch_until(R"("gpt-b")"));
  if (test::is_deep()) CHECK(test::resident_bytes() < before + (64U << 20));
}

TEST_CASE("more viewers than there is place for are told so, and others are still answered") {
  served_run s;
  const std::string request = "GET /events" + s.token + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  std::vector<descriptor> all;
  for (int i = 0; i < 48; ++i) {
    all.push_back(stalled_client(s.port, request));
    char first = 0;
    CHECK(::recv(all.back().number(), &first, 1, 0) == 1);
  }
  const auto one_more = s.get("/events" + s.token);
  CHECK(status_of(one_more) == 503);
  CHECK_THAT(one_more->body, Contains("48 viewers watch this run already"));
  CHECK(status_of(s.get("/" + s.token)) == 200);
}

TEST_CASE("at the end of the run its viewers are told, and nothing stays open") {
  const auto descriptors = open_descriptors();
  {
    served_run s;
    std::promise<void> watched;
    auto watcher = std::async(std::launch::async, [&] {
      std::string seen;
      s.client().Get("/events" + s.token, [&](const char* data, std::size_t n) {
        if (seen.empty()) watched.set_value();
        seen.append(data, n);
        return true;
      });
      return seen;
    });
    watched.get_future().wait();
    s.folder.write("metrics.jsonl", metrics + R"({"model": "gpt-b", "step": 1, "steps": 9, "loss": 1.25, "time": 3})"
                                              "\n");
    s.page.reset();
    const std::string seen = watcher.get();
    CHECK(seen.rfind("1.2500") < seen.rfind("event: status"));
    CHECK(seen.ends_with("event: end\ndata: {}\n\n"));
  }
  CHECK(open_descriptors() == descriptors);
}

TEST_CASE("bytes that are not a request do not disturb the page") {
  const served_run s;
  std::vector<descriptor> open;
  for (const std::string& bytes :
       {std::string("\0\xff\n\n", 4), std::string("GET / HTTP/9\r\n\r\n"), std::string(10000, 'x'),
        std::string("POST /command HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n"), std::string("GET /")})
    open.push_back(stalled_client(s.port, bytes));
  CHECK(status_of(s.get("/" + s.token)) == 200);
  CHECK(s.run.asked().empty());
}

TEST_CASE("clients without a token keep neither viewers out nor the page from ending") {
  served_run s;
  std::vector<descriptor> strangers;
  for (int i = 0; i < 100; ++i) strangers.push_back(stalled_client(s.port, "GET / HTTP/1.1\r\nX: "));
  CHECK(status_of(s.get("/" + s.token)) == 200);
  s.page.reset();
}

TEST_CASE("a port is served by one run only") {
  served_run s;
  CHECK_THROWS_WITH(live_page(s.run, s.folder.path(), {.host = "127.0.0.1", .port = s.port}),
                    Contains("the page cannot be served there"));
  CHECK_THROWS_WITH(live_page(s.run, s.folder.path(), {.host = "203.0.113.1", .port = 0}),
                    Contains("--serve 203.0.113.1:0"));
  CHECK_THROWS_WITH(live_page(s.run, s.folder.path(), {.host = "no host", .port = 0}), Contains("--serve no host:0"));
}

}  // namespace hydra::apps
