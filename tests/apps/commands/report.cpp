#include "tests/apps/commands/hydra_program.hpp"
#include "tests/apps/report/example.hpp"
#include "tests/apps/report/xml_check.hpp"
#include "tests/apps/workload/example.hpp"

#include <catch2/catch.hpp>

namespace hydra::apps {

using Catch::Contains;
using Catch::StartsWith;

namespace {

/// Nothing printed, nothing written.
void check_no_report(const temporary_folder& folder, const std::string& arguments, const std::string& answer) {
  const outcome o = run_hydra(folder, "report " + arguments);
  INFO(o.err);
  CHECK(o.status == 2);
  CHECK(o.out.empty());
  CHECK_THAT(o.err, StartsWith(answer));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "page.html"));
}

void write_run(const temporary_folder& folder, const std::string& report) {
  std::filesystem::create_directory(folder.path() / "run");
  folder.write("run/report.json", report);
}

/// Four models, of which successive halving trains 2 further after step 1, and 1 after step 2.
const std::string searching = example +
                              "[search]\nkind = \"halving\"\nsamples = 4\nfirst = 1\nfactor = 2\n"
                              "space.learning_rate = { log_uniform = [1e-5, 1e-3] }\n";

std::string lines_until(const std::string& text, const std::string& end) { return text.substr(0, text.find(end)); }

}  // namespace

TEST_CASE("hydra report prints what the run has printed, with its result first, and writes a page") {
  const temporary_folder folder;
  folder.write("w.toml", example);
  const outcome run = run_hydra(folder, "train w.toml --quiet");
  REQUIRE(run.status == 0);
  CHECK_THAT(run.out, StartsWith("model       gpt: validation ") && Contains(" at step 3 of 3, perplexity ") &&
                          Contains("\nrun         1 finished in ") &&
                          Contains("\nnext        hydra export runs/w gpt runs/w-gpt\n"
                                   "            hydra generate runs/w --model gpt --prompt-ids \"1 2 3\"\n\nmodel ") &&
                          Contains("\nmakespan ") && !Contains("\nmakespan of") && !Contains("utilisation"));
  CHECK(run_hydra(folder, "report runs/w").out == run.out);
  const outcome o = run_hydra(folder, "report runs/w --html page.html");
  CHECK(o.status == 0);
  CHECK(o.out == run.out);
  const std::string page = folder.read("page.html");
  CHECK(xml_fault(page) == "");
  CHECK_THAT(page, StartsWith("<!DOCTYPE html>") && Contains("loss curves") && Contains("timeline of the devices"));
  CHECK(run_hydra(folder, "report runs/w --html page.html").status == 0);
}

TEST_CASE("what a run proposes can be done as it is written") {
  const temporary_folder folder;
  folder.write("w.toml", example);
  REQUIRE(run_hydra(folder, "train w.toml --quiet").status == 0);
  CHECK(run_hydra(folder, "export runs/w gpt runs/w-gpt").status == 0);
  CHECK(run_hydra(folder, "generate runs/w --model gpt --prompt-ids \"1 2 3\"").status == 0);
}

TEST_CASE("the tables of the scheduler are shown with --details, by a run and by its report") {
  const temporary_folder folder;
  folder.write("w.toml", example);
  const outcome run = run_hydra(folder, "train w.toml --quiet --details");
  CHECK_THAT(run.out, Contains(" shards ") && Contains("\ndevice ") && Contains("\nmakespan of ") &&
                          Contains("\nbounds  work ") && Contains("\nmakespan "));
  CHECK(run_hydra(folder, "report runs/w --details").out == run.out);
}

TEST_CASE("a model that is stopped early is shown by its best evaluation, with what has stopped it, and exported so") {
  const temporary_folder folder;
  folder.write("w.toml", bent("steps = 3\noptimizer = { learning_rate = 1e-3 }",  // a rate with which the loss rises
                              "steps = 9\noptimizer = { kind = \"sgd\", learning_rate = 3 }\n"
                              "validate = { every_steps = 1, keep_best = true }") +
                             "[[controller]]\nkind = \"early-stop\"\npatience = 2\n");
  const outcome run = run_hydra(folder, "train w.toml --quiet");
  INFO(run.out);
  CHECK_THAT(run.out, Contains(" at step 1 of 3, ") && Contains(" best (step) ") && Contains(" last ") &&
                          Contains(" (1) ") && Contains("  stopped: no better for 2 evaluations\n") &&
                          Contains("\nnext        hydra export runs/w gpt runs/w-gpt --best\n"));
  CHECK(run_hydra(folder, "export runs/w gpt runs/w-gpt --best").status == 0);
}

TEST_CASE("a model that is stopped early says what has stopped it, whatever counts as better") {
  const temporary_folder folder;
  folder.write("w.toml", bent("steps = 3", "steps = 8\nvalidate = { every_steps = 1 }") +
                             "[[controller]]\nkind = \"early-stop\"\npatience = 2\nminimum = 1\n");
  const outcome run = run_hydra(folder, "train w.toml --quiet");
  INFO(run.out);
  CHECK_THAT(run.out, Contains(" of 3, ") && Contains("\nrun         1 stopped in ") &&
                          Contains("  stopped: no better by 1 for 2 evaluations\n"));
  CHECK(run_hydra(folder, "report runs/w").out == run.out);
}

TEST_CASE("a run without its report, as one that was killed, is shown from its metrics") {
  const temporary_folder folder;
  folder.write("w.toml", bent("steps = 3", "steps = 3\ncuts = [0, 2]"));
  REQUIRE(run_hydra(folder, "train w.toml --quiet").status == 0);
  std::filesystem::remove(folder.path() / "runs/w/report.json");
  const outcome o = run_hydra(folder, "report runs/w --html page.html");
  CHECK(o.status == 0);
  CHECK_THAT(o.out, StartsWith("model       gpt: ") && Contains("gpt    ") && Contains("3/3") && Contains(" -> ") &&
                        Contains("ended without a report (killed?); last line "));
  CHECK_THAT(folder.read("page.html"), Contains("loss curves") && Contains("ended without a report (killed?)"));
  CHECK_THAT(o.out, Contains("  shards\ngpt ") && Contains("       2\n"));
  CHECK_THAT(folder.read("page.html"), Contains("<td class=\"n\">2</td>"));
  std::filesystem::remove(folder.path() / "runs/w/plan.json");
  CHECK_THAT(run_hydra(folder, "report runs/w").out, Contains("gpt ") && !Contains("shards"));
}

TEST_CASE("hydra report ranks the trials of a search as the run did, also from its metrics and on the page") {
  const temporary_folder folder;
  folder.write("w.toml", searching);
  const outcome run = run_hydra(folder, "train w.toml --quiet");
  REQUIRE(run.status == 0);
  CHECK_THAT(run.out, StartsWith("best model  ") && Contains("\nsettings    learning_rate ") &&
                          Contains("\n\nmodel  steps  validation (step)  learning_rate  outcome\n") &&
                          Contains("  finished\n") && Contains("  stopped at rung 2: 2nd of 2, 1 continues\n") &&
                          Contains("  stopped at rung 1: 3rd of 4, 2 continue\n") &&
                          Contains("  stopped at rung 1: 4th of 4, 2 continue\nhalving: 4 trials; 1 of 2 goes on after "
                                   "1 and 2 of 3 steps; 7 of 12 steps trained (58 %)\n"));
  CHECK(run_hydra(folder, "report runs/w --html page.html").out == run.out);
  const std::string page = folder.read("page.html");
  CHECK(xml_fault(page) == "");
  CHECK_THAT(page, Contains("<th class=\"n\">learning_rate</th>") && Contains("7 of 12 steps trained (58 %)") &&
                       Contains("<td>stopped at rung 1: 3rd of 4, 2 continue</td>"));
  CHECK(page.find("<td>finished</td>") < page.find("<td>stopped at rung 2"));
  std::filesystem::remove(folder.path() / "runs/w/report.json");
  const std::string so_far = run_hydra(folder, "report runs/w").out;
  CHECK_THAT(so_far, Contains(lines_until(run.out.substr(run.out.find("\n\n")), "finished")) &&
                         Contains("stopped at rung 2: 2nd of 2") &&
                         Contains("7 of 12 steps trained (58 %)\n\nended without a report"));
}

TEST_CASE("a search that stops no trial ranks them by their best evaluation") {
  const temporary_folder folder;
  std::string text = searching;
  text.replace(text.find("halving"), 7, "random");
  text.erase(text.find("first = 1\nfactor = 2\n"), 21);
  folder.write("w.toml", text);
  const outcome run = run_hydra(folder, "train w.toml --quiet");  // evaluated at their end
  REQUIRE(run.status == 0);
  CHECK(run_hydra(folder, "report runs/w").out == run.out);
  CHECK_THAT(run.out, Contains("\n\nmodel  steps  validation (step)  learning_rate  outcome\n") &&
                          Contains("\nrandom: 4 trials; 12 steps trained\n"));
}

TEST_CASE("a ranking that cannot be read is a note, and the models are shown without") {
  const temporary_folder folder;
  folder.write("w.toml", searching);
  REQUIRE(run_hydra(folder, "train w.toml --quiet").status == 0);
  folder.write("runs/w/search.jsonl", "{}\n");
  const outcome o = run_hydra(folder, "report runs/w");
  CHECK(o.status == 0);
  CHECK_THAT(o.out, Contains("\n\nmodel ") && Contains("  best (step)  "));
  CHECK_THAT(o.err,
             StartsWith("note: the ranking of the search is not shown: runs/w/search.jsonl: line 1 is not a decision"));
}

TEST_CASE("a note of a report is shown as no terminal obeys it") {
  const temporary_folder folder;
  std::string report = interrupted_report;
  report.replace(report.find("<a> was"), 3, "\\u001b[2J");
  write_run(folder, report);
  const outcome o = run_hydra(folder, "report run");
  CHECK(o.status == 0);
  CHECK(o.err == "note: a checkpoint of \\x1b[2J was passed over\n");
}

TEST_CASE("a run before its first step, which has no metrics yet, is shown with its models") {
  const temporary_folder folder;
  std::filesystem::create_directory(folder.path() / "run");
  folder.write("run/workload.toml", example);
  const outcome o = run_hydra(folder, "report run --html page.html");
  INFO(o.err);
  CHECK(o.status == 0);
  CHECK_THAT(o.out, StartsWith("model  steps\ngpt        0\n") &&
                        Contains("ended without a report (killed?); no step is reported yet"));
  CHECK_THAT(folder.read("page.html"), StartsWith("<!DOCTYPE html>") && Contains("no step is reported yet"));
}

TEST_CASE("metrics that cannot be written are noted, and the run continues") {
  const temporary_folder folder;
  folder.write("w.toml", example);
  std::filesystem::create_directories(folder.path() / "runs/w/metrics.jsonl");
  folder.write("runs/w/workload.toml", parse_workload(example, "w.toml").expanded);
  const outcome o = run_hydra(folder, "train w.toml --resume --quiet");
  CHECK(o.status == 0);
  CHECK_THAT(o.err, Contains("note: metrics.jsonl is not written: "));
  CHECK_THAT(run_hydra(folder, "report runs/w").err, Contains("note: metrics.jsonl is not written: "));
}

TEST_CASE("a run without a trace has a page without a timeline") {
  const temporary_folder folder;
  write_run(folder, full_report);
  CHECK(run_hydra(folder, "report run --html page.html").status == 0);
  CHECK_THAT(folder.read("page.html"), Contains("loss curves") && !Contains("timeline of the devices"));
}

TEST_CASE("what is not a run is refused") {
  const temporary_folder folder;
  check_no_report(folder, "none --html page.html", "none: no such run folder");
  std::filesystem::create_directory(folder.path() / "empty");
  check_no_report(folder, "empty --html page.html", "\"empty\" is not a run folder: it holds no workload.toml");
  write_run(folder, full_report.substr(0, 300));
  check_no_report(folder, "run --html page.html", "run/report.json: not valid JSON");
  check_no_report(folder, "run/report.json", "run/report.json: a file");
}

TEST_CASE("a truncated trace is refused before a page is written") {
  const temporary_folder folder;
  write_run(folder, full_report);
  folder.write("run/trace.json", "{\"traceEvents\": [");
  check_no_report(folder, "run --html page.html", "run/trace.json: no trace of a run");
}

TEST_CASE("a trace that is a folder is refused before a page is written") {
  const temporary_folder folder;
  write_run(folder, full_report);
  std::filesystem::create_directory(folder.path() / "run/trace.json");
  check_no_report(folder, "run --html page.html", "run/trace.json: a folder; a file is expected");
}

TEST_CASE("a page never overwrites what is not a page") {
  const temporary_folder folder;
  write_run(folder, full_report);
  check_no_report(folder, "run --html ''", "--html is empty: the name of a file is expected");
  check_no_report(folder, "run --html " + std::string(300, 'a'), "--html aaa");
  check_no_report(folder, "run --html run/report.json", "--html run/report.json: exists, is not an HTML page");
  CHECK(folder.read("run/report.json") == full_report);
  check_no_report(folder, "run --html run", "--html run: the name of a file");
  check_no_report(folder, "run --html none/page.html", "--html none/page.html: there is no folder");
}

}  // namespace hydra::apps
