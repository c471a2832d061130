#include "apps/commands/program.hpp"

#include "actors/policy/catalog.hpp"
#include "apps/commands/command.hpp"
#include "models/families/architecture.hpp"
#include "models/families/catalog.hpp"
#include "tests/apps/commands/hydra_program.hpp"
#include "tests/apps/workload/example.hpp"
#include "tests/support/child_process.hpp"

#include <sys/resource.h>

#include <catch2/catch.hpp>

#include <array>
#include <cstdio>

namespace hydra::apps {

using Catch::Contains;
using Catch::StartsWith;

TEST_CASE("--version and --help answer on stdout and succeed") {
  const temporary_folder folder;
  const outcome version = run_hydra(folder, "--version"), help = run_hydra(folder, "--help");
  CHECK(version.status == 0);
  CHECK_THAT(version.out, StartsWith("hydra "));
  CHECK(help.status == 0);
  for (const command& c : commands()) CHECK_THAT(help.out, Contains(c.name) && Contains(c.help));
}

TEST_CASE("--help of the program ends with the first steps and the pages that go on, that of a command does not") {
  const temporary_folder folder;
  const std::string first = "hydra init llama talks.jsonl";
  CHECK_THAT(run_hydra(folder, "--help").out, Contains(first) && Contains("docs/tutorial.md goes on"));
  CHECK_THAT(run_hydra(folder, "train --help").out, !Contains(first));
}

TEST_CASE("the program may open as many files as the system lets it") {
  const auto limits_within = [] {
    rlimit files{32, 64};
    ::setrlimit(RLIMIT_NOFILE, &files);
    constexpr std::array line{"hydra", "--version"};
    [[maybe_unused]] const auto* const out = std::freopen("/dev/null", "w", stdout);
    run_program(line.size(), line.data());
    ::getrlimit(RLIMIT_NOFILE, &files);
    return static_cast<int>(files.rlim_cur);
  };
  CHECK(test::in_child(limits_within).status == 64);
}

TEST_CASE("every command has a --help") {
  const temporary_folder folder;
  for (const command& c : commands()) {
    const outcome help = run_hydra(folder, c.name + " --help");
    CHECK(help.status == 0);
    CHECK_THAT(help.out, Contains(c.help));
    CHECK(help.err.empty());
  }
}

TEST_CASE("an unknown command is refused with the nearest") {
  const temporary_folder folder;
  const outcome o = run_hydra(folder, "trian w.toml");
  CHECK(o.status == 2);
  CHECK(o.out.empty());
  CHECK_THAT(o.err, Contains("\"trian\"") && Contains("mean \"train\""));
}

TEST_CASE("an unknown command that is near to none is refused with those that there are") {
  const outcome o = run_hydra(temporary_folder{}, "frobnicate");
  CHECK(o.status == 2);
  CHECK_THAT(o.err, Contains("unknown command \"frobnicate\" (known: ") && Contains("tokenize"));
}

TEST_CASE("who writes what other programs call it reads how it is said here") {
  const temporary_folder folder;
  CHECK_THAT(run_hydra(folder, "resume runs/w").err, Contains("hydra train RUN --resume"));
  CHECK_THAT(run_hydra(folder, "train w.toml --lr 1e-3").err,
             Contains("--lr: here it is model.optimizer.learning_rate; give it by --set "
                      "model.optimizer.learning_rate=1e-3"));
  CHECK_THAT(run_hydra(folder, "train w.toml model.steps=3").err, Contains("set by --set model.steps=3"));
  CHECK_THAT(run_hydra(folder, "train --batch-size=8").err, Contains("give it by --set model.batch_size=8"));
  CHECK_THAT(run_hydra(folder, "train w.toml 1e-3").err,
             Contains("set by --set, such as --set model.optimizer.learning_rate=1e-3"));
  CHECK_THAT(run_hydra(folder, "train").err, !Contains("set by --set"));
}

TEST_CASE("a line that lacks an argument is answered with a whole one, as the help is") {
  const temporary_folder folder;
  const std::string whole = "such as: hydra export runs/workload llama-lr4e-4 adapter\n";
  const outcome lacking = run_hydra(folder, "export runs/workload llama-lr4e-4");
  CHECK(lacking.status == 2);
  CHECK_THAT(lacking.err, StartsWith("hydra: folder is required\n" + whole));
  CHECK_THAT(run_hydra(folder, "export --help").out, Contains(whole));
  CHECK_THAT(run_hydra(folder, "export r gpt out --nonsense").err, !Contains("such as"));
}

TEST_CASE("an option without its value is answered with what it takes, and with a whole line") {
  const temporary_folder folder;
  const outcome lacking = run_hydra(folder, "report runs/quickstart --html");
  CHECK(lacking.status == 2);
  CHECK_THAT(lacking.err, StartsWith("hydra: --html needs a value behind it (FILE): also write one self-contained ") &&
                              Contains("\nsuch as: hydra report runs/quickstart --html page.html\n"));
  CHECK_THAT(run_hydra(folder, "train w.toml --set").err,
             StartsWith("hydra: --set needs a value behind it (KEY=VALUE): "));
}

TEST_CASE("a text in the place of an option is answered with the option that takes it") {
  const outcome o = run_hydra(temporary_folder{}, "generate runs/workload 'hello you'");
  CHECK(o.status == 2);
  CHECK_THAT(o.err, Contains("a text to continue is given by --prompt 'hello you', a message to answer by --chat"));
}

TEST_CASE("numbers that an option cannot hold are refused with its name, not taken for others") {
  const temporary_folder folder;
  for (const std::string option :
       {"generate r --samples", "generate r --seed", "export r m f --step", "simulate i --seed"})
    for (const char* number : {"-1", "18446744073709551616", "1e1", "0x3", "3k", "''"}) {
      const outcome o = run_hydra(folder, option + " " + number);
      INFO(option << " " << number << " -> " << o.err);
      CHECK(o.status == 2);
      CHECK_THAT(o.err, Contains("hydra: " + option.substr(option.find("--")) + ": \"") &&
                            Contains("\" is not a whole number from 0 to 18446744073709551615"));
    }
  const outcome o = run_hydra(folder, "generate r --tokens 99999999999999999999");
  CHECK(o.status == 2);
  CHECK_THAT(o.err, Contains("hydra: --tokens: \"99999999999999999999\" is not a whole number from "));
}

TEST_CASE("digits after a zero are decimal") {
  CHECK_THAT(run_hydra(temporary_folder{}, "generate r --prompt-ids 1 --tokens -010").err,
             Contains("--tokens is -10;"));
}

TEST_CASE("a wrong command line is refused") {
  const temporary_folder folder;
  for (const char* line : {"", "train", "train w.toml --polcy fifo", "policies more", "--nonsense"}) {
    const outcome o = run_hydra(folder, line);
    CHECK(o.status == 2);
    CHECK(o.out.empty());
    CHECK_THAT(o.err, Contains("--help"));
  }
}

TEST_CASE("output that cannot be written is an error with a message, whether it is noticed early or at the end") {
  const temporary_folder folder;
  folder.write("w.toml", example);
  const std::string why = "cannot write standard output: No space left on device\n";
  for (const char* line : {"policies", "families", "--help", "plan w.toml"}) {
    const outcome o = run_hydra_with_streams(folder, line, ">/dev/full");
    INFO(line);
    CHECK(o.status == 1);
    CHECK(o.err == why);
  }
  const outcome trained = run_hydra_with_streams(folder, "train w.toml --quiet", ">/dev/full");
  CHECK(trained.status == 1);
  CHECK_THAT(trained.err, StartsWith("cannot write standard output: "));
}

TEST_CASE("a failure keeps its status where stdout or stderr cannot be written") {
  const temporary_folder folder;
  CHECK(run_hydra_with_streams(folder, "policies more", ">/dev/full").status == 2);
  CHECK(run_hydra_with_streams(folder, "trian w.toml", "2>/dev/full").status == 2);
}

TEST_CASE("hydra policies lists every policy with its help") {
  const temporary_folder folder;
  const outcome o = run_hydra(folder, "policies");
  CHECK(o.status == 0);
  for (const policy_entry& p : built_in_policies()) CHECK_THAT(o.out, Contains(p.name) && Contains(p.help));
}

TEST_CASE("hydra families lists every family with its options") {
  const temporary_folder folder;
  const outcome o = run_hydra(folder, "families");
  CHECK(o.status == 0);
  for (const family& f : families()) {
    CHECK_THAT(o.out, Contains(f.name) && Contains(f.help));
    for (const hydra::option& option : f.options) CHECK_THAT(o.out, Contains(option.name) && Contains(option.help));
  }
  CHECK_THAT(o.out, Contains("from  in place of a family"));
  for (const architecture& a : architectures()) CHECK_THAT(o.out, Contains(a.name));
}

TEST_CASE("hydra devices lists the kinds of devices with their keys") {
  const temporary_folder folder;
  const outcome o = run_hydra(folder, "devices");
  CHECK(o.status == 0);
  CHECK_THAT(o.out, Contains("cpu") && Contains("memory") && Contains("latency") && Contains("cores"));
}

}  // namespace hydra::apps
