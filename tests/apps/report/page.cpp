#include "apps/report/page.hpp"

#include "apps/report/result.hpp"
#include "tests/apps/report/example.hpp"
#include "tests/apps/report/xml_check.hpp"

#include <catch2/catch.hpp>

#include <regex>
#include <set>

namespace hydra::apps {

using Catch::Contains;

namespace {

recorded_run with_models(const std::vector<std::pair<double, double>>& loss_and_validation) {
  recorded_run run;
  for (const auto& [loss, validation] : loss_and_validation) {
    model_report m;
    m.loss = {static_cast<float>(loss)};
    if (validation > 0) m.validation.push_back({.step = 1, .loss = validation});
    run.summary.models.push_back(m);
  }
  return run;
}

constexpr const char* defined = R"((--\w+):)";

/// What the pattern's first group matches.
std::set<std::string> names_in(const std::string& text, const char* pattern) {
  const std::regex name{pattern};
  std::set<std::string> names;
  for (std::sregex_iterator m{text.begin(), text.end(), name}, none; m != none; ++m) names.insert((*m)[1]);
  return names;
}

}  // namespace

TEST_CASE("models are listed best first, by validation if there is one, undefined losses last") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(best_first(with_models({{3, 0}, {nan, 0}, {1, 0}, {2, 0}})) == std::vector<std::size_t>{2, 3, 0, 1});
  CHECK(best_first(with_models({{1, 3}, {3, 1}, {0.5, 0}})) == std::vector<std::size_t>{1, 0, 2});
  CHECK(best_first(with_models({{2, 0}, {2, 0}})) == std::vector<std::size_t>{0, 1});
}

TEST_CASE("trials of a search are listed by its ranking, other models after them") {
  recorded_run run = with_models({{1, 1}, {1, 2}, {1, 3}, {1, 0.5}});
  for (std::size_t i = 0; i < 4; ++i) run.summary.models[i].name = "m" + std::to_string(i);
  run.search.trials = {{.is = {"m2", {{"batch_size", "<8>"}}}}, {.is = {"m0"}}, {.is = {"m1"}}};
  run.search.trials[1].verdict = trial_verdict::stop;
  run.search.trials[1].reason = "stopped at rung 1: 2nd of 3, 1 continues";
  CHECK(best_first(run) == std::vector<std::size_t>{2, 0, 1, 3});
  const std::string page = to_page(run, {});
  CHECK(xml_fault(page) == "");
  CHECK_THAT(page, Contains("<th class=\"n\">batch_size</th>") && Contains("<td class=\"n\">&lt;8&gt;</td>") &&
                       Contains("<td>stopped at rung 1: 2nd of 3, 1 continues</td>"));
}

TEST_CASE("a cluster's run has a table of its nodes, and nothing that only they know") {
  recorded_run run = with_models({{1, 1}});
  CHECK_THAT(to_page(run, {}), !Contains("<h2>Nodes</h2>") && Contains("decisions"));
  run.summary.cluster = {.nodes = {{.name = "a<b", .devices = 2, .models = 3, .outcome = "lost"}}, .moves = 4};
  run.bounds = {{"work", 2}, {"h2d", 0}};
  const std::string page = to_page(run, {});
  CHECK(xml_fault(page) == "");
  CHECK_THAT(page, Contains("<h2>Nodes</h2>") && Contains("<td>a&lt;b</td><td class=\"n\">2</td>") &&
                       Contains("<td>lost</td>") && Contains("Network: 4 moves") && !Contains("decisions") &&
                       Contains("<td>work</td>") && !Contains("<td>h2d</td>"));
}

TEST_CASE("a model says how its steps were divided, and what the pipeline cost") {
  recorded_run run = with_models({{1, 0}});
  model_report& m = run.summary.models[0];
  m.cuts = {0, 2, 3, 5};
  CHECK_THAT(to_page(run, {}), !Contains("replicas") && !Contains("waves"));
  m.replicas = 2;
  m.waves = 8;
  m.pieces = 2;
  m.pipeline = {.compute = std::chrono::seconds{3}, .bubble = std::chrono::seconds{1}};
  CHECK_THAT(to_page(run, {}), Contains("4, 2 replicas, 8 waves (bubble 25 %), 2 pieces"));
}

TEST_CASE("the page is well-formed, escapes names and shows no undefined number") {
  const std::string page = to_page(example_run(), {});
  CHECK(xml_fault(page) == "");
  CHECK_THAT(page, Contains("&lt;b&gt;&amp;&quot;&#39;") && Contains("&lt;run&gt; &amp; more") && !Contains("<b>&"));
  CHECK_THAT(page.substr(page.find("</style>")), !Contains("nan") && !Contains("inf\"") && !Contains("inf<"));
}

TEST_CASE("the page needs nothing from elsewhere") {
  const std::string page = to_page(example_run(), {});
  for (const char* outside : {"http:", "https:", "src=", "href=", "@import", "url(", "<script"})
    CHECK_THAT(page, !Contains(outside));
}

TEST_CASE("every colour variable of the page has a value for light and dark screens and for paper") {
  const std::string page = to_page(example_run(), {});
  const auto dark = page.find("@media (prefers-color-scheme: dark)"), body = page.find("\nbody {"),
             print = page.find("@media print");
  const auto used = names_in(page, R"(var\((--\w+)\))");
  REQUIRE_FALSE(used.empty());
  REQUIRE((dark < body && body < print && print < page.find("</style>")));
  CHECK(names_in(page.substr(0, dark), defined) == used);
  CHECK(names_in(page.substr(dark, body - dark), defined) == used);
  CHECK(names_in(page.substr(print, page.find("</style>") - print), defined) == used);
}

TEST_CASE("the page begins with the best model and what the run has taken") {
  recorded_run run = example_run();
  run.next = {"hydra export a <b> c"};
  run.note_on_next = "of the last step";
  const std::string page = to_page(run, {}), top = page.substr(0, page.find("<h2>"));
  CHECK(top.find("<b>gpt b</b><span>best model") <
        top.find("<b>2.1250</b><span>validation at step 4 of 4; perplexity 8.40"));
  CHECK_THAT(top,
             Contains("wall time; 1 finished, 1 failed") &&
                 Contains("<b>100 B</b><span>memory peak, of 200 B on cpu:0") &&
                 Contains("<b>80 %</b><span>efficiency: bound 8.000 s (uniform) / makespan 10.000 s; largest gap ") &&
                 Contains("of the last step</p>\n<pre>hydra export a &lt;b&gt; c</pre>"));
  CHECK_THAT(to_page(example_run(), {}), !Contains("<pre>"));
}

TEST_CASE("makespan, bounds and policy stand as reported at the end of the page") {
  const std::string page = to_page(example_run(), {});
  CHECK_THAT(page.substr(page.find("<h2>Makespan and its bounds</h2>")),
             Contains("<b>10.000 s</b><span>makespan") && Contains("<b>8.000 s</b><span>lower bound (uniform)") &&
                 Contains("<b>80 %</b><span>efficiency") && Contains("<td>chain</td>") &&
                 Contains("policy fifo, seed 7"));
  CHECK(page.find("<h2>Models</h2>") < page.find("<h2>Devices</h2>"));
  CHECK(page.find("<h2>Devices</h2>") < page.find("<h2>Makespan and its bounds</h2>"));
}

TEST_CASE("what tells the models apart has columns, and columns without a value are left out") {
  recorded_run run = with_models({{1, 1}, {1, 2}});
  run.summary.models[0].name = "a";
  run.summary.models[1].name = "b";
  CHECK_THAT(to_page(run, {}), !Contains("learning_rate") && !Contains(">perplexity<") && !Contains(">rate now<"));
  run.settings = {{"optimizer.learning_rate"}, {{"a", {"1e-3"}}}};
  run.learning_rates["b"] = 0.00025;
  CHECK_THAT(to_page(run, {}), Contains("<th class=\"n\">learning_rate</th>") &&
                                   Contains("<td class=\"n\">1e-3</td>") && Contains("<th class=\"n\">rate now</th>") &&
                                   Contains("<td class=\"n\">0.00025</td>"));
}

TEST_CASE("a page has the name of the run's folder") {
  recorded_run run = example_run();
  run.folder = "live2";
  CHECK_THAT(to_page(run, {}), Contains("<title>live2 - Hydra</title>") && Contains("<h1>live2</h1>"));
}

TEST_CASE("models that are made alike have one row of sizes") {
  recorded_run run = with_models({{1, 0}, {2, 0}, {3, 0}});
  for (std::size_t i = 0; i < 3; ++i) run.summary.models[i].name = "m" + std::to_string(i);
  run.summary.models[1].parameters = 7;
  CHECK_THAT(to_page(run, {}), Contains("<td>m0, m2</td>") && Contains("<td class=\"n\">7</td><td>m1</td>"));
}

TEST_CASE("an interrupted run says so, with its notes") {
  const std::string page = to_page(parse_report(interrupted_report, "report.json"), {});
  CHECK(xml_fault(page) == "");
  CHECK_THAT(page, Contains("The run was interrupted") && Contains("a checkpoint of &lt;a&gt; was passed over") &&
                       Contains("<td>interrupted</td>"));
  CHECK_THAT(to_page(example_run(), {}), !Contains("interrupted"));
}

TEST_CASE("a report with nothing in it still makes a page") {
  const std::string page = to_page(recorded_run{}, {});
  CHECK(xml_fault(page) == "");
  CHECK_THAT(page, !Contains("<svg") && !Contains("<table"));
}

TEST_CASE("the checker of this test finds what is not well-formed") {
  CHECK(xml_fault("<a b=\"c\"><d/>&lt;</a>") == "");
  for (const char* wrong : {"<a>", "<a></b>", "</a>", "<a b=c></a>", "<a>&</a>", "<a", "<a>1 < 2</a>"})
    CHECK_FALSE(xml_fault(wrong).empty());
}

}  // namespace hydra::apps
