// The README and the shipped workloads match the program.

#include "apps/workload/assemble.hpp"
#include "apps/workload/schema.hpp"
#include "tests/apps/reference_pages.hpp"
#include "tests/apps/temporary_folder.hpp"
#include "tests/support/places.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace hydra::apps {

namespace {

const std::filesystem::path source = HYDRA_SOURCE_DIR;

std::string page(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream{source / name}.rdbuf();
  return text.str();
}

/// Writes the page instead if HYDRA_WRITE_DOCS is set.
void check_page(const std::string& name, const std::string& expected) {
  if (std::getenv("HYDRA_WRITE_DOCS") != nullptr) std::ofstream{source / name} << expected;
  INFO("HYDRA_WRITE_DOCS=1 build/release/bin/apps_tests \"[docs]\" writes " << name);
  CHECK(page(name) == expected);
}

/// Bytes of a model's parameters and gradients.
double trained_bytes(const model_entry& m, const workload& w) {
  const auto& d = m.description;
  const auto data = open_data(w.data.at(m.data).description, d.chain.context);
  return 2.0 * sizeof(float) * static_cast<double>(d.chain.build(*data).parameter_count());
}

}  // namespace

TEST_CASE("the page of workload keys has every key, its default and its meaning", "[docs]") {
  check_page("docs/workload.md", workload_page(workload_rules(), page("apps/workloads/quickstart.toml")));
}

TEST_CASE("the page of commands has every command and its options", "[docs]") {
  check_page("docs/commands.md", commands_page());
}

TEST_CASE("the page of other tools has each word that is known, with its key and note", "[docs]") {
  check_page("docs/other-tools.md", other_tools_page());
}

TEST_CASE("every shipped workload can be assembled and fits its devices") {
  std::size_t found = 0;
  for (const auto& file : std::filesystem::directory_iterator{source / "apps/workloads"}) {
    if (file.path().extension() != ".toml") continue;  // those of the paper need files that are not ours to ship
    // The cap of search.toml holds a part of its models at a time; here they are all there.
    const workload w = read_workload(file.path(), {parse_override("host.memory=90%")});
    CHECK(w.notes.empty());
    session s{w.options};
    CHECK_NOTHROW(assemble(s, w));
    CHECK_NOTHROW(s.plan());
    ++found;
  }
  CHECK(found >= 1);
}

/// A folder like that of a checkpoint with one layer, whose weights are not read.
std::string small_checkpoint(const temporary_folder& folder) {
  std::filesystem::create_directory(folder.path() / "gpt2");
  folder.write("gpt2/config.json", R"({"architectures": ["GPT2LMHeadModel"], "vocab_size": 300, "n_positions": 1024,
                                       "n_embd": 8, "n_layer": 1, "n_head": 2})");
  const std::string header = R"({"t": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})";
  std::string file(8, '\0');  // begins with the header's length
  file[0] = static_cast<char>(header.size());
  file += header;
  file += "1234";
  folder.write("gpt2/model.safetensors", file);
  return (folder.path() / "gpt2").string();
}

TEST_CASE("the README's fine-tuning on questions and answers is read as it is written") {
  const temporary_folder folder;
  const std::string records = folder.write("d.jsonl", "{}\n").string();
  const workload w = read_workload(
      source / "apps/workloads/questions/questions.toml",
      {parse_override("model.chain.from=" + small_checkpoint(folder)),
       parse_override("data.questions.train=" + records), parse_override("data.questions.validation=" + records),
       parse_override("data.questions.tokenizer=bytes")});
  const auto& data = std::get<jsonl_files>(w.data.at("questions").description.what);
  CHECK(data.prompt == "question");
  CHECK(data.answer == "answer");
  CHECK(w.models.at(0).description.chain.context == 256);
  CHECK(w.controllers.size() == 1);
}

TEST_CASE("the workload for a GPU is read where there is none") {
  const workload w = read_workload(source / "apps/workloads/gpu/llamas.toml");
  CHECK(w.models.size() == 4);
  CHECK(w.devices.at(0).kind.name == "cuda");
  CHECK(w.notes.empty());
}

TEST_CASE("the paper's workload is twelve fine-tunings of a checkpoint") {
  const temporary_folder folder;
  const std::string checkpoint = small_checkpoint(folder);
  const std::string text = folder.write("text.txt", "some words").string();
  const workload w = read_workload(
      source / "apps/workloads/paper/paper.toml",
      {parse_override("model.chain.from=" + checkpoint), parse_override("data.wikitext.train=" + text),
       parse_override("data.wikitext.validation=" + text), parse_override("data.wikitext.tokenizer=bytes")});
  std::set<std::pair<std::uint32_t, double>> grid;
  for (const model_entry& m : w.models) grid.emplace(m.description.batch_size, m.description.optimizer.learning_rate);
  CHECK(w.models[0].description.chain.context == 512);
  CHECK(w.models[0].description.epochs == 1);
  CHECK(grid == std::set<std::pair<std::uint32_t, double>>{{8, 1e-5},
                                                           {8, 2e-5},
                                                           {8, 5e-5},
                                                           {8, 6e-5},
                                                           {8, 1e-4},
                                                           {8, 3e-4},
                                                           {16, 1e-5},
                                                           {16, 2e-5},
                                                           {16, 5e-5},
                                                           {16, 6e-5},
                                                           {16, 1e-4},
                                                           {16, 3e-4}});
}

TEST_CASE("each of the quickstart's twelve models is one and a half times as large as a device, or larger") {
  const workload w = read_workload(source / "apps/workloads/quickstart.toml");
  REQUIRE(w.models.size() == 12);
  REQUIRE(w.devices.size() == 1);
  CHECK(w.devices[0].count == 2);
  const cpu_device device = read_cpu_device(*w.devices[0].keys.as<value_table>());
  CHECK(device.link.limited());
  for (const model_entry& m : w.models) CHECK(trained_bytes(m, w) >= 1.5 * static_cast<double>(device.memory.value()));
}

TEST_CASE("the mixed workload has several families, grids of their own, and unequal devices") {
  const workload w = read_workload(source / "apps/workloads/mixed.toml");
  std::set<std::string> families, names;
  for (const model_entry& m : w.models) {
    families.insert(m.description.chain.family);
    names.insert(m.description.name);
  }
  CHECK(families.size() >= 3);
  CHECK(names.contains("gpt-lr3e-4"));
  CHECK(names.contains("mlp-w640"));
  REQUIRE(w.devices.size() == 2);
  const auto device = [&](std::size_t i) { return read_cpu_device(*w.devices[i].keys.as<value_table>()); };
  CHECK(device(0).speed != device(1).speed);
  CHECK(device(0).memory != device(1).memory);
  CHECK(device(0).link.time_for(byte_count{1 << 20}) != device(1).link.time_for(byte_count{1 << 20}));
}

}  // namespace hydra::apps
