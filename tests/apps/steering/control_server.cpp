#include "apps/steering/control_server.hpp"

#include "apps/steering/answer.hpp"
#include "apps/steering/control_client.hpp"
#include "apps/steering/folder_socket.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"
#include "tests/apps/steering/fake_steering.hpp"
#include "tests/apps/steering/socket_client.hpp"
#include "tests/apps/temporary_folder.hpp"
#include "tests/support/depth.hpp"
#include "tests/support/resident_bytes.hpp"
#include "tests/support/scarce_threads.hpp"

#include <sys/stat.h>
#include <catch2/catch.hpp>

#include <atomic>
#include <fstream>
#include <future>
#include <random>
#include <system_error>

namespace hydra::apps {

using Catch::Contains;
using Catch::StartsWith;
using json = nlohmann::json;

namespace {

const std::string ask_status = R"({"command": "status"})";
const std::string ask_clone = R"({"command": "clone", "model": "gpt-a", "changes": ["steps=20"]})";

bool tells_status(const std::string& line) { return json::parse(line).contains("models"); }

/// Waits until the server has noticed what other clients did before, closing included. Returns the number of
/// descriptors then, two of which belong to this client.
std::ptrdiff_t settle(const std::filesystem::path& folder) {
  socket_client client{folder};
  for (int i = 0; i < 2; ++i) CHECK(tells_status(client.ask(ask_status)));
  return open_descriptors();
}

std::filesystem::path made(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  return folder;
}

/// Holds up the first command of a run until it is opened, at the latest at the end of its life.
class gate {
 public:
  explicit gate(fake_steering& run) {
    run.before_command = [this] {
      if (!first_.exchange(false)) return;
      reached_.set_value();
      opened_.get_future().wait();
    };
  }
  ~gate() { open(); }
  gate(const gate&) = delete;
  gate& operator=(const gate&) = delete;

  void wait_until_reached() { reached_.get_future().wait(); }
  void open() {
    if (!open_.exchange(true)) opened_.set_value();
  }

 private:
  std::atomic<bool> first_ = true, open_ = false;
  std::promise<void> reached_, opened_;
};

}  // namespace

TEST_CASE("each command is a line of JSON, and so is its answer") {
  const temporary_folder folder;
  fake_steering run;
  const control_server server{run, folder.path()};
  socket_client client{folder.path()};
  CHECK_THAT(client.ask(ask_status),
             StartsWith(R"({"command":"status","models":[{"name":"gpt-a","state":"training",)"));
  CHECK(client.ask(R"({"command": "stop", "model": "gpt-a"})") == R"({"command":"stop","model":"gpt-a"})");
  CHECK(client.ask(R"({"command": "pause", "model": "gpt-b"})") == R"({"command":"pause","model":"gpt-b"})");
  CHECK(client.ask(R"({"command": "resume", "model": "gpt-b"})") == R"({"command":"resume","model":"gpt-b"})");
  CHECK(client.ask(ask_clone) == R"({"command":"clone","model":"gpt-a-clone"})");
  CHECK(client.ask(R"({"command": "add", "workload": "[[model]]\nname = \"c\"\n"})") ==
        R"({"command":"add","models":["c"]})");
  CHECK(client.ask(R"({"command": "quit"})") == R"({"command":"quit"})");
  CHECK(run.asked() == std::vector<std::string>{"stop gpt-a", "pause gpt-b", "resume gpt-b", "clone gpt-a steps=20",
                                                "add 21 bytes", "quit"});
}

TEST_CASE("two clients at once get their own answers") {
  const temporary_folder folder;
  fake_steering run;
  const control_server server{run, folder.path()};
  socket_client a{folder.path()}, b{folder.path()};
  a.send(R"({"command": "pause", "model": "gpt-a"})");  // the rest follows
  CHECK(b.ask(R"({"command": "stop", "model": "gpt-b"})") == R"({"command":"stop","model":"gpt-b"})");
  CHECK(a.ask("") == R"({"command":"pause","model":"gpt-a"})");
}

TEST_CASE("several lines at once are answered in their order, empty ones skipped") {
  const temporary_folder folder;
  fake_steering run;
  const control_server server{run, folder.path()};
  socket_client client{folder.path()};
  client.send("\n\n" + ask_status + "\n\n" + ask_clone + "\n{}\n");
  CHECK(tells_status(client.receive()));
  CHECK_THAT(client.receive(), Contains("gpt-a-clone"));
  CHECK_THAT(client.receive(), Contains("error"));
}

TEST_CASE("the socket is its owner's alone, however long the path of the folder is, and goes with the run") {
  const temporary_folder folder;
  const auto deep = made(folder.path() / std::string(100, 'a') / std::string(100, 'b'));
  fake_steering run;
  {
    const control_server server{run, deep};
    struct stat found {};
    REQUIRE(::lstat((deep / "control.sock").c_str(), &found) == 0);
    CHECK(S_ISSOCK(found.st_mode));
    CHECK((found.st_mode & 0777) == 0600);
    settle(deep);
  }
  CHECK(std::filesystem::is_empty(deep));
}

TEST_CASE("the socket of a run that was killed is replaced; another file of that name is not") {
  const temporary_folder folder;
  { const descriptor killed = listen_in(folder.path()); }
  CHECK(std::filesystem::exists(folder.path() / "control.sock"));
  fake_steering run;
  {
    const control_server server{run, folder.path()};
    settle(folder.path());
  }
  folder.write("control.sock", "mine");
  CHECK_THROWS_WITH(control_server(run, folder.path()),
                    Contains("control.sock: the run cannot be reached by hydra control"));
  CHECK(folder.read("control.sock") == "mine");
}

TEST_CASE("what is not a command is answered by an error that says why, and the connection goes on") {
  const temporary_folder folder;
  fake_steering run;
  const control_server server{run, folder.path()};
  socket_client client{folder.path()};
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"status", "not a line of JSON"},
      {"{", "not a line of JSON"},
      {"\xff\xfe", "not a line of JSON"},
      {std::string("\0", 1), "not a line of JSON"},
      {"[]", "a command is a JSON object"},
      {"null", "a command is a JSON object"},
      {std::string(100000, '['), "the command is nested more than 100 deep"},
      {"{}", R"(\"command\" is missing)"},
      {R"({"command": 3})", R"(\"command\" is of the wrong type)"},
      {R"({"command": "stopp"})", R"(unknown command \"stopp\"; did you mean \"stop\"?)"},
      {R"({"command": "stop"})", R"(\"model\" is missing: the name of a model)"},
      {R"({"command": "stop", "model": ["a"]})", R"(\"model\" is of the wrong type)"},
      {R"({"command": "stop", "model": "gpt-a", "now": true})", R"(\"stop\" takes no \"now\"; it takes: model)"},
      {R"({"command": "status", "model": "gpt-a"})", R"(\"status\" takes no \"model\"; it takes: nothing else)"},
      {R"({"command": "clone", "model": "gpt-a", "changes": "steps=3"})", R"(\"changes\" is of the wrong type)"},
      {R"({"command": "clone", "model": "gpt-a", "changes": [3]})", R"(\"changes\" is of the wrong type)"},
      {R"({"command": "add", "workload": "x"})", "the text has no [[model]]"},
      {R"({"command": "stop", "model": "gpt-c"})", R"(there is no model \"gpt-c\"; did you mean \"gpt-a\"?)"},
  };
  for (const auto& [line, error] : wrong) {
    INFO(line.substr(0, 100));
    const std::string answer = client.ask(line);
    CHECK_THAT(answer, StartsWith(R"({"error":")") && Contains(error));
  }
  CHECK(run.asked() == std::vector<std::string>{"add 1 bytes", "stop gpt-c"});
  CHECK(tells_status(client.ask(ask_status)));
}

TEST_CASE("a line that never ends is refused, and costs no memory") {
  const temporary_folder folder;
  fake_steering run;
  const control_server server{run, folder.path()};
  socket_client client{folder.path()};
  const std::size_t before = test::resident_bytes();
  const std::string endless(10 << 20, 'x');
  CHECK_FALSE(client.send(endless));
  CHECK_THAT(client.receive(), Contains("a line has at most 1048576 bytes"));
  CHECK(client.receive().empty());
  if (test::is_deep()) CHECK(test::resident_bytes() < before + 2 * endless.size());
  socket_client whole{folder.path()};
  CHECK_FALSE(whole.send(endless + "\n"));
  socket_client largest{folder.path()};
  CHECK_THAT(largest.ask(R"({"command": "add", "workload": ")" + std::string(longest_command - 50, 'x') + "\"}"),
             Contains("no [[model]]"));
}

TEST_CASE("a line may come byte by byte, and half a line of a client that leaves is nothing") {
  const temporary_folder folder;
  fake_steering run;
  const control_server server{run, folder.path()};
  {
    const socket_client leaves{folder.path()};
    leaves.send(R"({"command": "quit"})");
  }
  socket_client slow{folder.path()};
  for (const char c : ask_clone) slow.send({&c, 1});
  CHECK_THAT(slow.ask(""), Contains("gpt-a-clone"));
  CHECK(run.asked() == std::vector<std::string>{"clone gpt-a steps=20"});
}

TEST_CASE("random bytes never reach the run, and leave no descriptor and no memory behind") {
  const temporary_folder folder;
  fake_steering run;
  const control_server server{run, folder.path()};
  std::mt19937 random{7};
  const auto round = [&] {
    for (int i = 0; i < 1000; ++i) {
      std::string bytes(random() % 300, '\0');
      for (char& c : bytes) c = random() % 8 == 0 ? "\n{}[]\",:"[random() % 8] : static_cast<char>(random());
      const socket_client client{folder.path()};
      client.send(bytes + (i % 2 == 0 ? "\n" : ""));
    }
    return settle(folder.path());
  };
  const auto descriptors = settle(folder.path());
  CHECK(round() == descriptors);
  const std::size_t before = test::resident_bytes();
  round();
  CHECK(round() == descriptors);
  if (test::is_deep()) CHECK(test::resident_bytes() < before + (4U << 20));
  CHECK(run.asked().empty());
}

TEST_CASE("a client that never reads is not read from either, and the others are served") {
  const temporary_folder folder;
  fake_steering run;
  const control_server server{run, folder.path()};
  const socket_client deaf{folder.path()};
  std::string many;
  for (int i = 0; i < 10000; ++i) many += ask_status + "\n";
  const std::size_t before = test::resident_bytes();
  std::size_t sent = 0;
  for (int i = 0; i < 100; ++i) {
    sent += deaf.send_without_waiting(many);
    settle(folder.path());
  }
  CHECK(sent < 2 * longest_command);
  if (test::is_deep()) CHECK(test::resident_bytes() < before + (8U << 20));
}

TEST_CASE("status does not wait for a command that takes long, another command does") {
  const temporary_folder folder;
  fake_steering run;
  const control_server server{run, folder.path()};
  gate held{run};
  socket_client slow{folder.path()}, next{folder.path()};
  slow.send(ask_clone + "\n");
  held.wait_until_reached();
  next.send(R"({"command": "stop", "model": "gpt-b"})"
            "\n" +
            ask_status + "\n");
  settle(folder.path());
  CHECK(run.asked().empty());
  held.open();
  CHECK_THAT(slow.receive(), Contains("gpt-a-clone"));
  CHECK(next.receive() == R"({"command":"stop","model":"gpt-b"})");
  CHECK(tells_status(next.receive()));
}

TEST_CASE("a client may leave while its command is executed") {
  const temporary_folder folder;
  fake_steering run;
  const auto descriptors = open_descriptors();
  {
    const control_server server{run, folder.path()};
    gate held{run};
    {
      const socket_client leaves{folder.path()};
      leaves.send(ask_clone + "\n");
      held.wait_until_reached();
    }
    settle(folder.path());
    held.open();
    socket_client stays{folder.path()};
    CHECK(stays.ask(R"({"command": "stop", "model": "gpt-b"})") == R"({"command":"stop","model":"gpt-b"})");
  }
  CHECK(run.asked().size() == 2);
  CHECK(open_descriptors() == descriptors);
}

TEST_CASE("commands are executed where the system refuses more threads") {
  const temporary_folder folder;
  fake_steering run;
  const control_server server{run, folder.path()};
  socket_client client{folder.path()};
  const test::no_more_threads none;
  CHECK(client.ask(R"({"command": "pause", "model": "gpt-a"})") == R"({"command":"pause","model":"gpt-a"})");
  CHECK_THAT(client.ask(ask_clone), Contains("gpt-a-clone"));
  CHECK(run.asked() == std::vector<std::string>{"pause gpt-a", "clone gpt-a steps=20"});
}

TEST_CASE("a server that gets a part of its threads ends them, and leaves no socket") {
  const temporary_folder folder;
  fake_steering run;
  for (int left = 0; left < 2; ++left) {
    const test::scarce_threads few{left};
    CHECK_THROWS_AS(control_server(run, folder.path()), std::system_error);
    CHECK(std::filesystem::is_empty(folder.path()));
  }
}

TEST_CASE("the 65th client is told that it is one too many") {
  const temporary_folder folder;
  fake_steering run;
  const control_server server{run, folder.path()};
  std::vector<socket_client> all;
  for (int i = 0; i < 64; ++i) CHECK(tells_status(all.emplace_back(folder.path()).ask(ask_status)));
  socket_client one_more{folder.path()};
  CHECK_THAT(one_more.receive(), Contains("64 clients are connected"));
  all.pop_back();
  for (int i = 0; i < 2; ++i) CHECK(tells_status(all.back().ask(ask_status)));
  settle(folder.path());
}

TEST_CASE("the client that ends the run gets its answer before the connections are closed") {
  const temporary_folder folder;
  fake_steering run;
  std::promise<void> asked;
  run.before_command = [&] { asked.set_value(); };
  std::optional<control_server> server{std::in_place, run, folder.path()};
  socket_client quits{folder.path()}, idle{folder.path()};
  CHECK(tells_status(idle.ask(ask_status)));
  quits.send(R"({"command": "quit"})"
             "\n");
  asked.get_future().wait();
  server.reset();
  CHECK(quits.receive() == R"({"command":"quit"})");
  CHECK(quits.receive().empty());
  CHECK(idle.receive().empty());
}

TEST_CASE("where no run is under way the client says so, and what to do") {
  const temporary_folder folder;
  const nlohmann::ordered_json status{{"command", "status"}};
  const auto ask = [&](const std::filesystem::path& run) { return ask_run(run, status); };
  CHECK_THROWS_WITH(ask(folder.path() / "none"), Contains("no such run folder"));
  CHECK_THROWS_WITH(ask(folder.path()), Contains("this is not a run folder: it holds no workload.toml"));
  CHECK_THROWS_WITH(ask(folder.write("file", "")), Contains("a file; the folder of a run is expected"));
  folder.write("plan.json", "{}");
  CHECK_THROWS_WITH(ask(folder.path()), Contains("the run of a C++ program, which alone steers it"));
  folder.write("workload.toml", "");
  CHECK_THROWS_WITH(ask(folder.path()), Contains("no run is under way in it; hydra report "));
  { const descriptor killed = listen_in(folder.path()); }
  CHECK_THROWS_WITH(ask(folder.path()), Contains("no run is under way in it; hydra report "));
}

}  // namespace hydra::apps
