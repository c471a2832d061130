// chain = { from = "FOLDER" }

#include "models/data/data_catalog.hpp"
#include "tests/apps/temporary_folder.hpp"
#include "tests/apps/workload/example.hpp"
#include "tests/support/hub_checkpoint.hpp"

#include <catch2/catch.hpp>

namespace hydra::apps {

using Catch::Contains;
using Catch::StartsWith;

namespace {

const std::string example_chain = "{ family = \"gpt2\", layers = 2, width = 8, heads = 2, context = 4 }";

/// The example with a chain that comes from the folder's "tiny", a checkpoint.
std::string with_chain(const temporary_folder& folder, const std::string& more = "") {
  return bent(example_chain, "{ from = \"" + (folder.path() / "tiny").string() + "\"" + more + " }");
}

void write_tiny(const temporary_folder& folder) {
  test::write_checkpoint(folder.path() / "tiny", test::tiny_gpt2_config(), test::tiny_gpt2_tensors());
}

}  // namespace

TEST_CASE("a chain may come from a checkpoint's folder, with a context of its own") {
  const temporary_folder folder;
  write_tiny(folder);
  const workload w = parse_workload(with_chain(folder, ", context = 3, dropout = 0.1"), "w.toml");
  CHECK(w.models.at(0).description.chain.family == "gpt2");
  CHECK(w.models.at(0).description.chain.context == 3);
  CHECK_THAT(w.expanded, Contains("chain = { from = \"" + (folder.path() / "tiny").string() + "\", context = 3"));
  CHECK(parse_workload(w.expanded, "w.toml").expanded == w.expanded);
}

TEST_CASE("a grid varies the keys of a chain that comes from a checkpoint") {
  const temporary_folder folder;
  write_tiny(folder);
  const workload w = parse_workload(with_chain(folder) + "[model.grid]\nchain.context = [2, 5]\n", "w.toml");
  REQUIRE(w.models.size() == 2);
  CHECK(w.models[0].description.chain.context == 2);
  CHECK(w.models[1].description.chain.context == 5);
}

TEST_CASE("a chain without a source, or with two, is refused with its line") {
  const temporary_folder folder;
  write_tiny(folder);
  CHECK_THAT(refusal(bent(example_chain, "{ from = \"no/such\" }")),
             StartsWith("w.toml:13: model.chain.from: no such folder \"no/such\"") &&
                 Contains("hf download no/such --local-dir such"));
  CHECK_THAT(refusal(bent(example_chain, "{ from = \"./no/such\" }")), !Contains("hf download"));
  CHECK_THAT(refusal(bent(example_chain, "{ from = \"runs/none\" }")), !Contains("hf download"));
  CHECK_THAT(refusal(bent(example_chain, "{ from = \"~/none\" }")),
             !Contains("hf download") && Contains("; \"~\" is not expanded here: write "));
  CHECK_THAT(refusal(with_chain(folder, ", family = \"gpt2\"")),
             StartsWith("w.toml:13: model.chain.from: family is given too"));
  CHECK_THAT(refusal(bent(example_chain, "{ context = 4 }")),
             StartsWith("w.toml:13: model.chain.family: missing") && Contains("give from in its place"));
  CHECK_THAT(refusal(with_chain(folder, ", layers = 2")), StartsWith("w.toml:13: model.chain.layers: unknown key"));
  CHECK_THAT(refusal(with_chain(folder, ", head = \"tail\"")),
             StartsWith("w.toml:13: model.chain.head: unknown value"));
  CHECK_THAT(refusal(with_chain(folder, ", context = 7")),
             StartsWith("w.toml:13: model.chain.from: ") && Contains("n_positions"));
  folder.write("tiny/config.json", R"({"architectures": ["GPT3"]})");
  CHECK_THAT(refusal(with_chain(folder)),
             StartsWith("w.toml:13: model.chain.from: ") && Contains("config.json: architectures: \"GPT3\""));
}

}  // namespace hydra::apps
