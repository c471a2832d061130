#include "tests/apps/commands/hydra_program.hpp"
#include "tests/apps/report/xml_check.hpp"
#include "tests/support/places.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace hydra::apps {

using Catch::Contains;
using Catch::StartsWith;

namespace {

const std::string small = R"(policies = ["sharded-lrtf", "whole-model"]
repeat = 3

[[cell]]
name = "few, <small>"
family = "hetero"
models = 3
devices = 2
rho = 0.5
length = 0.1

[[cell]]
name = "shipped"
files = ["INSTANCES/few-1x*.json"]
policies = ["fifo"]
)";

std::string with_instances(std::string text) {
  const std::string word = "INSTANCES";
  const auto at = text.find(word);
  return at == std::string::npos ? text : text.replace(at, word.size(), HYDRA_SOURCE_DIR "/apps/instances");
}

outcome run_study_file(const temporary_folder& folder, const std::string& text, const std::string& options = "") {
  folder.write("s.toml", with_instances(text));
  return run_hydra(folder, "study s.toml " + options);
}

}  // namespace

TEST_CASE("a study prints its table and writes CSV, JSON and a page") {
  const temporary_folder folder;
  const outcome o = run_study_file(folder, small);
  CHECK(o.status == 0);
  CHECK_THAT(o.out, Contains("few, <small>") && Contains("whole-model") && Contains("yardstick"));
  CHECK_THAT(o.err, Contains("cell 1 of 2: few, <small>, 3 instances"));
  const auto j = nlohmann::json::parse(folder.read("studies/s/study.json"));
  CHECK(j["cells"][0]["instances"] == 3);
  CHECK(j["cells"][1]["instances"] == 2);
  CHECK(j["cells"][0]["policies"]["sharded-lrtf"]["min"] >= 1);
  CHECK(j["cells"][0]["policies"]["sharded-lrtf"]["max"] >= j["cells"][0]["policies"]["sharded-lrtf"]["mean"]);
  const std::string csv = folder.read("studies/s/study.csv");
  CHECK(std::ranges::count(csv, '\n') == 1 + 3 * 2 + 2);
  CHECK_THAT(csv,
             Contains("\"few, <small>\",\"hetero:models=3,devices=2,rho=0.5,length=0.1,seed=2\",loop,whole-model,"));
  const std::string page = folder.read("studies/s/study.html");
  CHECK(xml_fault(page) == "");
  CHECK_THAT(page, StartsWith("<!DOCTYPE html>") && Contains("few, &lt;small&gt;"));
  const std::string dot = "<circle ";
  std::size_t dots = 0;
  for (auto at = page.find(dot); at != std::string::npos; at = page.find(dot, at + 1)) ++dots;
  CHECK(dots == 2 + 1);  // the policies of each cell
}

TEST_CASE("a study has the optimum of small instances, and completions of models with deadlines") {
  const temporary_folder folder;
  const outcome o = run_study_file(folder, R"(policies = ["exact", "fifo"]

[[cell]]
name = "small"
files = ["INSTANCES/coarse-3x2.json"]

[[cell]]
name = "late"
family = "hetero"
models = 3
devices = 2
deadlines = 1.2
length = 0.1
policies = ["fifo"]
)");
  CHECK(o.status == 0);
  CHECK_THAT(o.out, Contains("exact") && Contains("1.000"));
  const std::string csv = folder.read("studies/s/study.csv");
  CHECK_THAT(csv, Contains("exact,168000.000,") && Contains(",yes,,,,,,,\n") && Contains(",3,"));
  const std::string page = folder.read("studies/s/study.html");
  CHECK(xml_fault(page) == "");
  CHECK_THAT(page, Contains("Completions") && Contains(" of 3"));
}

TEST_CASE("the same study gives the same files byte for byte, and nothing is overwritten") {
  const temporary_folder folder;
  REQUIRE(run_study_file(folder, small, "--output one --quiet").status == 0);
  REQUIRE(run_study_file(folder, small, "--output two --quiet").status == 0);
  for (const char* file : {"study.csv", "study.json", "study.html"}) {
    INFO(file);
    CHECK(!folder.read(std::filesystem::path{"one"} / file).empty());
    CHECK(folder.read(std::filesystem::path{"one"} / file) == folder.read(std::filesystem::path{"two"} / file));
  }
  const outcome again = run_study_file(folder, small, "--output one");
  CHECK(again.status == 2);
  CHECK_THAT(again.err, StartsWith("--output one: exists and is not overwritten"));
}

TEST_CASE("a study whose files cannot all be written leaves none: the same command may be given again") {
  const temporary_folder folder;
  folder.write("s.toml", with_instances(small));
  const outcome full = start_hydra(folder, "study s.toml --quiet", with_small_files(4));
  CHECK(full.status == 1);
  CHECK_THAT(full.err, StartsWith("cannot write studies/s/study.json"));
  CHECK(std::filesystem::is_empty(folder.path() / "studies/s"));
  CHECK(run_hydra(folder, "study s.toml --quiet").status == 0);
}

TEST_CASE("what is wrong in a study is refused by file, line and key") {
  const temporary_folder folder;
  const auto check = [&](const std::string& text, const std::string& answer) {
    const outcome o = run_study_file(folder, text);
    INFO(text << "\n" << o.err);
    CHECK(o.status == 2);
    CHECK(o.out.empty());
    CHECK_THAT(o.err, StartsWith(answer));
    CHECK_FALSE(std::filesystem::exists(folder.path() / "studies"));
  };
  check("repeat = 2\n", "s.toml:1: cell: missing");
  check("[[cell]]\nfamily = \"equal\"\n", "s.toml:1: cell.name: missing");
  check("[[cell]]\nname = \"a\"\n", "s.toml:1: cell.family: missing, expected a family or `files`");
  check("[[cell]]\nname = \"a\"\nfamily = \"eqal\"\n",
        "s.toml:3: cell.family: unknown value \"eqal\"; did you mean \"equal\"?");
  check("[[cell]]\nname = \"a\"\nfiles = [\"none*.json\"]\n", "s.toml:3: cell.files: no file is called \"none*.json\"");
  check("[[cell]]\nname = \"a\"\nfiles = [\"s.toml\"]\nrho = 1\n",
        "s.toml:4: cell.rho: this key is for generated instances");
  check("[[cell]]\nname = \"a\"\nfiles = [\"s.toml\"]\nfamily = \"equal\"\n",
        "s.toml:3: cell.files: this cell has a family, too");
  check("[[cell]]\nname = \"a\"\nfiles = [\"s.toml\"]\n", "s.toml:1: cell.files: s.toml: not valid JSON");
  check("[[cell]]\nname = \"a\"\nfamily = \"equal\"\nmodles = 3\n",
        "s.toml:4: cell.modles: unknown key; did you mean \"models\"?");
  check("[[cell]]\nname = \"a\"\nfamily = \"equal\"\nspeeds = \"3x\"\n", "s.toml:4: speeds: \"3x\" is given");
  check("[[cell]]\nname = \"a\"\nfamily = \"equal\"\nfailures = 8\n", "s.toml:1: cell: failures: 8 is given");
  check("policies = [\"fifa\"]\n[[cell]]\nname = \"a\"\nfamily = \"equal\"\n",
        "s.toml:1: policies: there is no policy \"fifa\"");
  check("drivers = [\"lop\"]\n[[cell]]\nname = \"a\"\nfamily = \"equal\"\n", "s.toml:1: drivers: ");
  check("[[cell]]\nname = \"a\"\nfamily = \"equal\"\n[[cell]]\nname = \"a\"\nfamily = \"paper\"\n",
        "s.toml:4: cell.name: \"a\" is used twice");
  check("[[cell]\n", "s.toml:1: not valid TOML");
  const std::string cell = "[[cell]]\nname = \"a\"\nfamily = \"equal\"\n";
  check("drivers = [\"loop\", \"loop\"]\n" + cell, "s.toml:1: drivers: \"loop\" is written twice");
  check("policies = [\"fifo\", \"fifo\"]\n" + cell, "s.toml:1: policies: \"fifo\" is given twice");
  check("drivers = [\"actors\"]\ncompletion = \"landed\"\n" + cell, "s.toml:2: completion: is a rule of the loop");
  check(cell + "devices = 3\nspeeds = \"4x1\"\n", "s.toml:4: devices: 3 is given, but `speeds` has 4");
}

TEST_CASE("what the search for the optimum would refuse is refused before anything is simulated") {
  const temporary_folder folder;
  const auto refused = [&](const std::string& text) {
    const outcome o = run_study_file(folder, text);
    CHECK(o.status == 2);
    CHECK_FALSE(std::filesystem::exists(folder.path() / "studies"));
    return o.err;
  };
  const std::string cell = "[[cell]]\nname = \"c\"\npolicies = [\"exact\"]\n";
  CHECK_THAT(refused(cell + "family = \"hetero\"\n"), Contains("cell.policies") && Contains("at most 64"));
  CHECK_THAT(refused(cell + "family = \"equal\"\nslots = 3\n"), Contains("depth = 2"));
  CHECK_THAT(refused("drivers = [\"actors\"]\n" + cell + "files = [\"INSTANCES/coarse-3x2.json\"]\n"),
             Contains("cell.policies") && Contains("by the loop"));
}

TEST_CASE("an output folder that cannot be made is refused before anything is run, and one that is empty is taken") {
  const temporary_folder folder;
  folder.write("file", "");
  const outcome o = run_study_file(folder, small, "--output file/there");
  CHECK(o.status == 2);
  CHECK_THAT(o.err, StartsWith("--output file/there: the folder cannot be made: "));
  std::filesystem::create_directory(folder.path() / "empty");
  CHECK(run_study_file(folder, small, "--quiet --output empty").status == 0);
}

}  // namespace hydra::apps
