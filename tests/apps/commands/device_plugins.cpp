// Devices of plug-ins in real runs, and the messages about plug-ins that are missing.

#include "tests/apps/commands/hydra_program.hpp"
#include "tests/apps/workload/example.hpp"
#include "tests/support/test_plugin.hpp"

#include <nlohmann/json.hpp>

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace hydra::apps {

using Catch::Contains;
using Catch::StartsWith;

namespace {

std::string plugin(const std::string& name) { return hydra::test::test_plugin(name).string(); }

/// The example on other devices.
std::string on(const std::string& devices) { return bent("kind = \"cpu\"\nmemory = \"24MiB\"", devices); }

const std::string two_threads = "kind = \"thread\"\ncount = 2\nmemory = \"24MiB\"";

nlohmann::json report_of(const std::string& text, const std::string& options = "") {
  const temporary_folder folder;
  folder.write("w.toml", text);
  const outcome o = run_hydra(folder, "train w.toml --quiet --output there " + options);
  INFO(o.err);
  REQUIRE(o.status == 0);
  return nlohmann::json::parse(folder.read("there/report.json"));
}

std::string digest(const nlohmann::json& report) { return report["models"][0]["digest"]; }

/// All shared objects that the program has loaded while it ran, by the output of the loader.
std::string loaded_by(const temporary_folder& folder, const std::string& arguments) {
  const temporary_folder said;
  const std::string log = (said.path() / "ld").string();
  REQUIRE(::setenv("LD_DEBUG", "files", 1) == 0);
  REQUIRE(::setenv("LD_DEBUG_OUTPUT", log.c_str(), 1) == 0);
  const outcome o = start_hydra(folder, arguments);
  ::unsetenv("LD_DEBUG");
  ::unsetenv("LD_DEBUG_OUTPUT");
  CHECK(o.status == 0);
  std::ostringstream all;
  for (const auto& file : std::filesystem::directory_iterator{said.path()}) all << std::ifstream{file.path()}.rdbuf();
  return all.str();
}

}  // namespace

TEST_CASE("hydra trains on devices of a plug-in, alone and together with cpu devices, with the bits of cpu") {
  const std::string expected = digest(report_of(example));
  const std::string given = "--plugin " + plugin("thread_device");
  const auto alone = report_of(on(two_threads), given);
  CHECK(digest(alone) == expected);
  REQUIRE(alone["devices"].size() == 2);
  CHECK(alone["devices"][1]["name"] == "thread:1");
  CHECK(alone["devices"][1]["kind"] == "thread");
  const auto mixed = report_of(on(two_threads + "\n[[device]]\nkind = \"cpu\"\nmemory = \"24MiB\""), given);
  CHECK(mixed["devices"].size() == 3);
  CHECK(digest(mixed) == expected);
}

TEST_CASE("a plug-in is named in the file or by an option, and a run is resumed on the devices it was started on") {
  const temporary_folder folder;
  folder.write("w.toml", on(two_threads));
  CHECK_THAT(run_hydra(folder, "plan w.toml").err, StartsWith("w.toml:5: device.kind: unknown value \"thread\""));
  const std::string named = " --plugin " + plugin("thread_device");
  CHECK_THAT(run_hydra(folder, "plan w.toml" + named).out, Contains("thread:1"));
  CHECK(run_hydra(folder, "simulate w.toml --policies fifo" + named).status == 0);
  REQUIRE(run_hydra(folder, "train w.toml --quiet --output there" + named).status == 0);
  CHECK_THAT(folder.read("there/workload.toml"), Contains("plugins = [\"" + plugin("thread_device") + "\"]"));
  CHECK(run_hydra(folder, "train there/workload.toml --quiet --output there --resume").status == 0);
  CHECK(run_hydra(folder, "evaluate there" + named).status == 0);
  const outcome foreign = run_hydra(folder, "evaluate there");
  CHECK(foreign.status == 2);
  CHECK_THAT(foreign.err,
             Contains("\"thread\" is of a plug-in; the folder names \"" + plugin("thread_device") + "\"") &&
                 Contains("give it by --plugin FILE"));
  CHECK(run_hydra(folder, "evaluate w.toml" + named).status == 0);
}

TEST_CASE("a run is exported, and writes text, without the plug-in that its devices came from") {
  const temporary_folder folder;
  std::filesystem::copy_file(plugin("thread_device"), folder.path() / "mine.so");
  folder.write("w.toml", on(two_threads));
  REQUIRE(run_hydra(folder, "train w.toml --quiet --output there --plugin mine.so").status == 0);
  std::filesystem::remove(folder.path() / "mine.so");
  CHECK(run_hydra(folder, "export there gpt out").status == 0);
  CHECK_THAT(folder.read("out/config.json"), Contains("GPT2"));
  const outcome written = run_hydra(folder, "generate there --prompt-ids 1 --tokens 2");
  CHECK(written.err == "");
  CHECK(written.status == 0);
  CHECK_THAT(run_hydra(folder, "evaluate there").err, Contains("mine.so"));
}

TEST_CASE("precision and reserve of a plug-in's devices are shown by plan, report and report.json") {
  const temporary_folder folder;
  const std::string named = " --plugin " + plugin("board");
  folder.write("w.toml", on("kind = \"board\"\nmemory = \"24MiB\"\nreserve = \"1MiB\"\nprecision = \"bf16\""));
  CHECK_THAT(run_hydra(folder, "plan w.toml" + named).out,
             Contains("kind   precision") && Contains("board:0  board  bf16"));
  const auto plan = nlohmann::json::parse(run_hydra(folder, "plan w.toml --json" + named).out);
  CHECK(plan["devices"][0]["model"] == "B64");
  const outcome o = run_hydra(folder, "train w.toml --quiet --details --output there" + named);
  INFO(o.err);
  REQUIRE(o.status == 0);
  CHECK_THAT(o.out, Contains("kind   precision") && Contains("board:0  board  bf16"));
  const auto device = nlohmann::json::parse(folder.read("there/report.json"))["devices"][0];
  CHECK(device["precision"] == "bf16");
  CHECK(device["reserve_bytes"] == 1 << 20);
  CHECK_THAT(run_hydra(folder, "report there --details").out, Contains("board:0  board  bf16"));
}

TEST_CASE("what decides bits of a plug-in's device is compared with the defaults of its kind") {
  const temporary_folder folder;
  const auto board = [](const std::string& keys) { return on("kind = \"board\"\nmemory = \"24MiB\"\n" + keys); };
  const auto resume = [&](const std::string& text) {
    folder.write("w.toml", text);
    return run_hydra(folder, "train w.toml --resume --quiet --output there --plugin " + plugin("board"));
  };
  REQUIRE(resume(board("threads = 3")).status == 0);
  CHECK(resume(board("precision = \"fp32\"")).status == 0);
  const outcome one = resume(board("threads = 1"));
  CHECK(one.status == 2);
  CHECK_THAT(one.err, Contains("trained on board (now board with threads = 1)"));
}

TEST_CASE("one plug-in brings devices and a policy") {
  const auto r = report_of(on("kind = \"moody\"\nmemory = \"24MiB\""), "--policy front --plugin " + plugin("devices"));
  CHECK(r["policy"] == "front");
  CHECK(r["devices"][0]["name"] == "moody:0");
}

TEST_CASE(
    "a device that cannot be made ends the program with its name and its reason, and its options arrive as written") {
  const temporary_folder folder;
  folder.write(
      "w.toml",
      on("kind = \"moody\"\nmemory = \"2MiB\"\nmood = \"bad\"\nfans = 3\ntilt = 0.5\nbus = \"1kB/s\"\nnap = \"5ms\""));
  const outcome moody = run_hydra(folder, "train w.toml --quiet --plugin " + plugin("devices"));
  CHECK(moody.status == 3);
  CHECK_THAT(moody.err, StartsWith("w.toml:4: device: device moody:0 cannot be made: in a bad mood:") &&
                            Contains("bus=1000 B/s fans=integer 3") &&
                            Contains("memory=2097152 B mood=text bad nap=5000000 ns tilt=real 0.5"));
  folder.write("c.toml", on("kind = \"crossed\""));
  const outcome crossed = run_hydra(folder, "train c.toml --quiet --plugin " + plugin("devices"));
  CHECK(crossed.status == 2);
  CHECK_THAT(crossed.err,
             StartsWith("c.toml:4: device: device crossed:0 cannot be made: ") && Contains("the wires are crossed"));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "runs"));
}

TEST_CASE("a run that was planned and cannot start leaves no folder: the same command may be given again") {
  const temporary_folder folder;
  folder.write("w.toml", on("kind = \"moody\"\nmemory = \"24MiB\"\nmood = \"changing\""));
  const auto train = [&](const std::string& options) {
    const outcome o = run_hydra(folder, "train w.toml --quiet --plugin " + plugin("devices") + " --output " + options);
    CHECK(o.status == 3);
    CHECK_THAT(o.err, Contains("moody:0 cannot be made"));
  };
  train("there");
  CHECK_FALSE(std::filesystem::exists(folder.path() / "there"));
  train("there");
  std::filesystem::create_directory(folder.path() / "mine");
  train("mine --resume");
  CHECK_FALSE(folder.read("mine/workload.toml").empty());
}

TEST_CASE("a run whose folder another run has made while it was planned is refused, and the other's files stay") {
  for (const char* options : {"", " --resume"}) {
    const temporary_folder folder;
    folder.write("w.toml", on("kind = \"moody\"\nmemory = \"24MiB\"\nmood = \"overtaken\""));
    const outcome o = run_hydra(folder, "train w.toml --quiet --output there --plugin " + plugin("devices") + options);
    CHECK(o.status == 2);
    CHECK_THAT(o.err, Contains("--output: run.output: \"there\" exists"));
    CHECK(folder.read("there/workload.toml") == "another's");
    CHECK_FALSE(std::filesystem::exists(folder.path() / "there/data.json"));
  }
}

TEST_CASE("a plug-in whose library is missing is refused with its name, and one of a name that is taken") {
  const temporary_folder folder;
  folder.write("w.toml", example);
  const auto refusal_with = [&](const std::string& options) {
    const outcome o = run_hydra(folder, "train w.toml --quiet " + options);
    CHECK(o.status == 2);
    return o.err;
  };
  CHECK_THAT(refusal_with("--plugin " + plugin("needs_one")),
             StartsWith("--plugin: run.plugins: plug-in \"") && Contains("needs the library libhydra_stub_one.so"));
  CHECK_THAT(refusal_with("--plugin " + plugin("takes_cpu")), Contains("as Hydra itself does"));
  CHECK_THAT(refusal_with("--plugin " + plugin("thread_device") + " --plugin " + plugin("same_device")),
             Contains("same_device.so") && Contains("as \"" + plugin("thread_device")));
}

TEST_CASE("hydra devices lists every kind, its keys, and what there is of it here, whatever that is") {
  const temporary_folder folder;
  const outcome own = run_hydra(folder, "devices");
  CHECK(own.status == 0);
  CHECK_THAT(own.out, Contains("cpu  ") && Contains("\ncuda  ") && Contains("precision") && Contains("here: "));
  const outcome more =
      run_hydra(folder, "devices --plugin " + plugin("devices") + " --plugin " + plugin("thread_device"));
  REQUIRE(more.status == 0);
  CHECK_THAT(more.out, Contains("moody  has options of all types\n    memory  required") &&
                           Contains("    here: one, in the corner\n    here: one more\n") && Contains("crossed  ") &&
                           Contains("not usable here: there is no socket for it") && Contains("thread  "));
  CHECK(run_hydra(folder, "devices --plugin " + plugin("wrong_abi")).status == 2);
}

TEST_CASE("hydra policies takes a plug-in that offers devices only") {
  CHECK(run_hydra(temporary_folder{}, "policies --plugin " + plugin("thread_device")).status == 0);
}

TEST_CASE("a run on cpu loads nothing of CUDA and no plug-in") {
  const temporary_folder folder;
  folder.write("w.toml", example);
  const std::string loaded = loaded_by(folder, "train w.toml --quiet");
  CHECK_THAT(loaded, Contains("libtorch_cpu"));  // the list is one
  for (const char* name : {"libhydra_", "torch_cuda", "c10_cuda", "test_plugins"}) {
    INFO(name);
    CHECK(loaded.find(name) == std::string::npos);
  }
  CHECK_THAT(loaded_by(folder, "devices --plugin " + plugin("thread_device")), Contains("thread_device.so"));
}

}  // namespace hydra::apps
