// How hydra node finds a run and is let in.

#include "apps/run_folder/folder_lock.hpp"
#include "apps/run_folder/stopped_models.hpp"
#include "tests/apps/commands/forked_program.hpp"
#include "tests/apps/commands/hydra_program.hpp"
#include "tests/apps/workload/example.hpp"

#include <sys/stat.h>

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <utility>
#include <vector>

namespace hydra::apps {

using Catch::Contains;

namespace {

namespace fs = std::filesystem;

std::string node_refusal(const temporary_folder& folder, const std::string& options) {
  const outcome o = run_hydra(folder, "node " + options);
  CHECK(o.status == 2);
  return o.err;
}

/// `hydra <arguments>` under way, and what it says, line by line.
class heard_program {
 public:
  heard_program(const temporary_folder& folder, std::vector<std::string> arguments) : said_(folder.path() / "said") {
    REQUIRE(::mkfifo(said_.c_str(), 0600) == 0);
    end_ = std::async(std::launch::async, [this, &folder, arguments = std::move(arguments)] {
      return run_forked(
          {.folder = folder.path(), .arguments = arguments, .out = folder.path() / "out", .err = said_});
    });
    lines_.open(said_);
  }

  /// The rest of the first line that begins so; empty if there is none until the program ends.
  std::string after(const std::string& begin) {
    for (std::string line; std::getline(lines_, line);)
      if (line.starts_with(begin)) return line.substr(begin.size());
    return "";
  }
  int end() {
    for (std::string line; std::getline(lines_, line);) {
    }
    return end_.get();
  }

 private:
  fs::path said_;
  std::ifstream lines_;
  std::future<int> end_;
};

/// A run that only coordinates.
const std::vector<std::string> coordinating{"train", "w.toml", "--listen", "--no-local", "--output", "a run"};

}  // namespace

TEST_CASE("a node needs the keys of its run, and is told both ways to them") {
  const temporary_folder folder;
  const auto told_both_ways = [&folder](const std::string& options) {
    CHECK_THAT(node_refusal(folder, options),
               Contains("hydra node --join RUN takes") && Contains("hydra node --join 127.0.0.1:9 --keys DIR"));
  };
  told_both_ways("--join 127.0.0.1:9");
  REQUIRE(::setenv("MASTER_ADDR", "127.0.0.1", 1) + ::setenv("MASTER_PORT", "9", 1) == 0);
  told_both_ways("");
  REQUIRE(::setenv("HYDRA_COORDINATOR", "127.0.0.1:9", 1) == 0);
  told_both_ways("");
  for (const char* name : {"MASTER_ADDR", "MASTER_PORT", "HYDRA_COORDINATOR"}) ::unsetenv(name);
  fs::create_directory(folder.path() / "there");
  folder.write("there/cluster.json", "{\"run\": \"1\", \"address\": \"127.0.0.1:9\"}");
  const outcome unmet = run_hydra(folder, "node --join there --patience 0s");  // the run may be about to be resumed
  CHECK(unmet.status == 130);
  CHECK_THAT(unmet.err, Contains("there is no folder \"there/keys\" yet") && Contains("--keys"));
  CHECK_THAT(node_refusal(folder, "--join there --keys other"), Contains("other/authority.pem: no such file"));
}

TEST_CASE("a node joins by the line that hydra train prints, also if it is quiet, and its keys are gone at its end") {
  const temporary_folder folder, elsewhere;
  folder.write("w.toml", example);
  std::vector<std::string> quietly = coordinating;
  quietly.emplace_back("--quiet");
  heard_program run{folder, quietly};
  const std::string line = run.after("nodes join by: hydra ");
  REQUIRE(!line.empty());
  CHECK(fs::exists(folder.path() / "a run/keys/key.pem"));
  {
    fs::create_directory(elsewhere.path() / "taken");
    const folder_lock other{elsewhere.path() / "taken"};
    CHECK_THAT(node_refusal(elsewhere, line.substr(line.find(' ') + 1) + " --folder taken"),
               Contains("taken: another node has it; give each node a folder of its own"));
  }
  const outcome node = run_hydra(elsewhere, line);
  INFO(node.err);
  if (node.status != 0) run_hydra(folder, "control 'a run' quit");
  CHECK(node.status == 0);
  CHECK(run.end() == 0);
  CHECK_FALSE(fs::exists(folder.path() / "a run/keys"));
  CHECK_THAT(folder.read("a run/report.json"), Contains("sha256:"));
}

TEST_CASE("a model that is stopped while a cluster trains is stopped, too, in a run that is resumed") {
  const temporary_folder folder;
  std::string other = example.substr(example.find("[[model]]"));
  other.replace(other.find("gpt"), 3, "other");
  folder.write("w.toml", example + other);
  heard_program run{folder, coordinating};
  CHECK(!run.after("nodes join by: ").empty());
  CHECK(run_hydra(folder, "control 'a run' stop gpt").status == 0);
  CHECK(read_stopped(folder.path() / "a run") == std::vector<std::string>{"gpt"});
  CHECK(run_hydra(folder, "control 'a run' quit").status == 0);
  CHECK(run.end() == 130);
}

TEST_CASE("a node that is started before its run waits for it") {
  const temporary_folder folder, elsewhere;
  folder.write("w.toml", example);
  const std::string join = "--join \"" + (folder.path() / "a run").string() + "\": ";
  heard_program node{elsewhere, {"node", "--join", (folder.path() / "a run").string()}};
  CHECK_THAT(node.after(join),
             Contains("there is no such folder yet: hydra train --listen makes it; trying again for"));
  heard_program run{folder, coordinating};
  const int status = node.end();
  if (status != 0) run_hydra(folder, "control 'a run' quit");
  CHECK(status == 0);
  CHECK(run.end() == 0);
}

TEST_CASE("a node waits for a run whose folder vanishes for a moment, also where its name has no slash") {
  const temporary_folder folder, elsewhere;
  folder.write("w.toml", example);
  const fs::path there = elsewhere.path() / "there";
  fs::create_directory(there);
  heard_program node{elsewhere, {"node", "--join", "there"}};
  CHECK_THAT(node.after("--join \"there\": "), Contains("there is no cluster.json in that folder yet"));
  fs::remove(there);
  CHECK_THAT(node.after("--join \"there\": "), Contains("there is no such folder yet"));
  heard_program run{folder, {"train", "w.toml", "--listen", "--no-local", "--output", there.string()}};
  const int status = node.end();
  if (status != 0) run_hydra(elsewhere, "control there quit");
  CHECK(status == 0);
  CHECK(run.end() == 0);
}

TEST_CASE("an address that is written like a path or with a scheme is refused at once, with how to write it") {
  const temporary_folder folder;
  for (const char* const to : {"tcp://host:7878", "host:7878/", "host:7878/run"})
    CHECK_THAT(node_refusal(folder, "--join " + std::string{to}),
               Contains(to) && Contains("is not an address: HOST:PORT"));
  REQUIRE(::setenv("HYDRA_COORDINATOR", "tcp://host:7878", 1) == 0);
  CHECK_THAT(node_refusal(folder, ""), Contains("\"tcp://host:7878\" is not an address: HOST:PORT"));
  ::unsetenv("HYDRA_COORDINATOR");
}

TEST_CASE(
    "a node waits no longer than its patience for a run, and not at all for a damaged one, or for what is not a run") {
  const temporary_folder folder;
  const outcome none = run_hydra(folder, "node --join ./there --patience 0s");
  CHECK(none.status == 130);
  CHECK_THAT(none.err, Contains("no such folder yet") && Contains("; gave up after"));
  fs::create_directory(folder.path() / "there");
  const outcome empty = run_hydra(folder, "node --join there --patience 0s");
  CHECK(empty.status == 130);
  CHECK_THAT(empty.err, Contains("no cluster.json in that folder yet") && Contains("; gave up after"));
  folder.write("there/report.json", "{}");
  CHECK(run_hydra(folder, "node --join there --patience 0s").status == 130);  // it may be resumed with --listen
  CHECK_THAT(node_refusal(folder, "--join there/report.json"), Contains("is not an address: HOST:PORT"));
  CHECK_THAT(node_refusal(folder, "--join elsewhere"), Contains("is not an address: HOST:PORT"));
  folder.write("there/cluster.json", "{\"run\": 1}");
  CHECK_THAT(node_refusal(folder, "--join there"), Contains("there/cluster.json: is damaged: delete it"));
}

}  // namespace hydra::apps
