#include "apps/steering/control_server.hpp"
#include "tests/apps/commands/hydra_program.hpp"
#include "tests/apps/steering/fake_steering.hpp"

#include <catch2/catch.hpp>

namespace hydra::apps {

using Catch::Contains;
using Catch::StartsWith;

namespace {

struct run_in_folder {
  run_in_folder() { folder.write("workload.toml", ""); }

  outcome control(const std::string& arguments) const { return run_hydra(folder, "control . " + arguments); }

  temporary_folder folder;
  fake_steering run{{{"gpt-a", "training", 12, 100, 3.25}, {"gpt-b"}, {"gpt-c", "waiting"}}};
  std::optional<control_server> server{std::in_place, run, folder.path()};
};

}  // namespace

TEST_CASE("hydra control status shows models, devices and host memory") {
  const run_in_folder r;
  const outcome o = r.control("status");
  CHECK(o.status == 0);
  CHECK(o.err.empty());
  CHECK(o.out ==
        "model  state                       steps    loss  validation\n"
        "gpt-a  training                   12/100  3.2500           -\n"
        "gpt-b  training                    0/100       -           -\n"
        "gpt-c  waiting (for host memory)   0/100       -           -\n"
        "\n"
        "device  busy   memory      peak    budget\n"
        "cpu:0   75 %  9.0 MiB  10.0 MiB  12.0 MiB\n"
        "host memory 200.0 MiB of 250.0 MiB, peak 200.0 MiB; 12 s since the start\n");
}

TEST_CASE("hydra control status shows no text that a terminal obeys") {
  run_in_folder r;
  r.run.change([](std::vector<fake_model>& models) { models.front().name = "gpt\x1b[31m\xe2\x80\xae"; });
  const outcome o = r.control("status");
  CHECK(o.status == 0);
  CHECK_THAT(o.out, Contains("gpt\\x1b[31m\\u202e") && !Contains("\x1b") && !Contains("\xe2\x80\xae"));
}

TEST_CASE("hydra control does to the run what its words say, and tells it") {
  run_in_folder r;
  r.folder.write("more.toml", "[[model]]\nname = \"d\"\n[[model]]\nname = \"e\"\n");
  CHECK(r.control("stop gpt-a").out == "gpt-a: stopped\n");
  CHECK(r.control("pause gpt-b").out == "gpt-b: saved and paused\n");
  CHECK(r.control("resume gpt-b").out == "gpt-b: resumed\n");
  CHECK(r.control("clone gpt-b optimizer.learning_rate=1e-4 steps=20").out == "gpt-b-clone: a clone of gpt-b\n");
  CHECK(r.control("add more.toml").out == "d: added\ne: added\n");
  CHECK(r.control("quit").out == "the run saves its state and ends\n");
  CHECK(r.run.asked() == std::vector<std::string>{"stop gpt-a", "pause gpt-b", "resume gpt-b",
                                                  "clone gpt-b optimizer.learning_rate=1e-4 steps=20", "add 42 bytes",
                                                  "quit"});
}

TEST_CASE("hydra control refuses what it cannot send, and tells what the run refuses, with status 2") {
  run_in_folder r;
  r.folder.write("long.toml", std::string(2 << 20, '#'));
  const auto check_refusal = [&](const std::string& arguments, const std::string& why) {
    const outcome o = r.control(arguments);
    INFO(arguments);
    CHECK(o.status == 2);
    CHECK(o.out.empty());
    CHECK_THAT(o.err, Contains(why));
  };
  check_refusal("stopp gpt-a", "hydra control: unknown command \"stopp\"; did you mean \"stop\"?");
  check_refusal("stop", "something is missing after \"stop\"; expected: hydra control RUN stop MODEL");
  check_refusal("status now", "too much follows after \"status\"; expected: hydra control RUN status");
  check_refusal("add none.toml", "none.toml: ");
  check_refusal("add long.toml", "long.toml: too long to be sent to a run");
  CHECK(r.run.asked().empty());
  check_refusal("stop gpt-x", "there is no model \"gpt-x\"; did you mean \"gpt-a\"?");
  r.server.reset();
  check_refusal("status", ".: no run is under way in it; hydra report . shows what it has done");
}

}  // namespace hydra::apps
