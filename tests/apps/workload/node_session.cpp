// The session of a node takes what is on its machine, and the rest from the coordinator.

#include "apps/workload/node_session.hpp"

#include "actors/admission/identity.hpp"
#include "apps/workload/parse.hpp"
#include "tests/apps/temporary_folder.hpp"
#include "tests/apps/workload/example.hpp"
#include "tests/support/hub_checkpoint.hpp"
#include "tests/support/test_plugin.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace hydra::apps {

using Catch::Contains;

namespace {

namespace fs = std::filesystem;

const std::string workload_text = R"([run]
name = "w"

[[device]]
kind = "cpu"
memory = "24MiB"

[data.ids]
kind = "tokens"
train = "data/train.bin"
vocabulary = 8

[[model]]
name = "gpt"
chain = { from = "tiny" }
data = "ids"
batch_size = 2
steps = 3
optimizer = { learning_rate = 1e-3 }
)";

void write_inputs(const fs::path& folder, const std::string& text) {
  fs::create_directories(folder / "data");
  std::ofstream(folder / "data" / "train.bin") << text;
  test::write_checkpoint(folder / "tiny", test::tiny_gpt2_config(), test::tiny_gpt2_tensors());
}

}  // namespace

TEST_CASE("a node has the same models with its own files as with those that it takes from the coordinator") {
  const temporary_folder folder;
  write_inputs(folder.path() / "own", std::string(500, '\0'));
  write_inputs(folder.path() / "other", std::string(500, '\0'));
  fs::remove_all(folder.path() / "own" / "tiny");
  std::vector<std::string> asked;
  const auto identity = [&](const fs::path& began_in, const std::string& output) {
    const auto input = [&](const std::string& name) {
      asked.push_back(name);
      return folder.path() / "other" / name;
    };
    const auto s = node_session({.name = "w", .workload = workload_text, .began_in = began_in.string()}, {},
                                {folder.path() / output, nullptr, input}).run;
    s->plan();
    return with_bare_names(s->estimates().at(0).identity);
  };
  const std::string whole = identity(folder.path() / "other", "1");
  CHECK(asked.empty());
  CHECK(identity(folder.path() / "own", "2") == whole);
  CHECK(asked == std::vector<std::string>{"tiny"});
  asked.clear();
  CHECK(identity("/there/is/no/such/folder", "3") == whole);
  CHECK(asked == std::vector<std::string>{"data/train.bin", "tiny"});
}

TEST_CASE("a node loads the plug-ins that it was started with, and refuses a workload that needs others") {
  const temporary_folder folder;
  write_inputs(folder.path(), std::string(500, '\0'));
  const auto session_of = [&](const std::string& text, const std::vector<std::string>& own) {
    return node_session({.name = "w", .workload = text, .began_in = folder.path().string()}, {.plugins = own},
                        {folder.path() / "out", nullptr, nullptr})
        .run;
  };
  const auto with = [](const std::string& lines) { return "[run]\n" + lines + "\n" + workload_text.substr(6); };
  const std::string theirs = "/theirs/two_policies.so", list = "plugins = [\"" + theirs + "\"]";
  const std::string policy = "policy = \"" + theirs + ":last-candidate\"";
  const std::string rule = "[search]\nkind = \"own\"\nrule = \"" + theirs + "\"\n";
  for (const std::string& text : {with(list), with(policy), with(list + "\n" + policy), rule + workload_text})
    CHECK_THROWS_WITH(session_of(text, {}),
                      Contains("needs \"" + theirs + "\"") && Contains("hydra node --plugin FILE"));
  const std::vector<std::string> own{test::test_plugin("two_policies").string()};
  CHECK(session_of(with(policy), own) != nullptr);
  CHECK(session_of(with(list + "\npolicy = \"last-candidate\""), own) != nullptr);
  CHECK_THROWS_WITH(session_of(with(policy), {test::test_plugin("shortest_first").string()}),
                    Contains("needs \"" + theirs));
}

TEST_CASE("the inputs of a workload are the files and folders that it names") {
  const temporary_folder folder;
  write_inputs(folder.path(), std::string(500, '\0'));
  const workload w = parse_workload(workload_text, "w.toml", {}, folder.path());
  const std::string text = (folder.path() / "data" / "train.bin").string(), tiny = (folder.path() / "tiny").string();
  CHECK(inputs_in(w.as_run) == input_paths{{text, {text}}, {tiny, {tiny}}});
}

TEST_CASE("a tokenizer goes to nodes with the files that are read beside it") {
  const temporary_folder folder;
  write_inputs(folder.path(), std::string(500, '\0'));
  const fs::path tokenizer = folder.write("tokenizer.json", "{}"), beside = folder.write("tokenizer_config.json", "{}"),
                 model = folder.write("config.json", "{}");
  value_table root = parse_toml(workload_text, "w.toml");
  set_path(root, "data.ids.tokenizer.file", text_value(tokenizer.string(), {}));
  workload w;
  w.as_run = root;
  CHECK(inputs_in(w.as_run).at(tokenizer.string()) == std::vector{tokenizer, beside, model});
}

}  // namespace hydra::apps
