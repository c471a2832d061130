// The pages of docs/ and the shipped workloads agree with the program.

#include "apps/commands/command.hpp"
#include "apps/workload/assemble.hpp"
#include "apps/workload/schema.hpp"
#include "tests/apps/temporary_folder.hpp"
#include "tests/support/places.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace hydra::apps {

namespace {

const std::filesystem::path source = HYDRA_SOURCE_DIR;

std::string read_page(const char* name) {
  std::ostringstream text;
  text << std::ifstream{source / "docs" / name}.rdbuf();
  return text.str();
}

std::set<std::string> words_of(const std::string& text) {
  static const std::regex word{"[A-Za-z_0-9-]+"};
  std::set<std::string> words;
  for (std::sregex_iterator w{text.begin(), text.end(), word}, none; w != none; ++w) words.insert(w->str());
  return words;
}

/// Words between backquotes on one line.
std::set<std::string> code_words(const std::string& text) {
  static const std::regex code{"`[^`\\n]+`"};
  std::set<std::string> words;
  for (std::sregex_iterator c{text.begin(), text.end(), code}, none; c != none; ++c) words.merge(words_of(c->str()));
  return words;
}

/// A row of the table of a workload file's keys in docs/workload.md, by its first cell.
struct key_row {
  std::string table;            ///< "device": of this or of the nearest row above that names one
  std::set<std::string> keys;   ///< what is code
  std::set<std::string> label;  ///< what stands before a colon, else all
};

std::vector<key_row> key_rows() {
  static const std::regex of_table{"`\\[+([a-z]+)"};
  const std::string all = read_page("workload.md");
  std::istringstream text{all.substr(all.find("| table, key |"))};
  std::vector<key_row> rows;
  std::string table;
  for (std::string line; std::getline(text, line) && line.starts_with('|');) {
    const std::string cell = line.substr(1, line.find('|', 1) - 1);
    if (std::smatch found; std::regex_search(cell, found, of_table)) table = found[1];
    if (!table.empty()) rows.push_back({table, code_words(cell), words_of(cell.substr(0, cell.find(':')))});
  }
  return rows;
}

/// A key of a workload file.
struct file_key {
  std::string table;
  std::string name;
  std::string beside;  ///< in the same row: the kind that takes the key, or the key of the table that it is in
};

void collect_keys(const table_rules& rules, const file_key& at, std::vector<file_key>& keys) {
  const auto add = [&](const key_rule& rule, const std::string& beside) {
    keys.push_back({at.table, rule.name, beside});
    for (const table_rules& inner : rule.inner) collect_keys(inner, {at.table, "", rule.name}, keys);
  };
  for (const key_rule& rule : rules.keys) add(rule, at.beside);
  for (const table_variant& variant : rules.variants)
    for (const key_rule& rule : variant.keys) add(rule, variant.name);
}

std::vector<file_key> file_keys() {
  std::vector<file_key> keys;
  for (const key_rule& table : workload_rules().keys)
    for (const table_rules& rules : table.inner) collect_keys(rules, {table.name, "", ""}, keys);
  return keys;
}

/// "device.speed of cpu": the keys that have no row.
std::vector<std::string> without_row(const std::vector<file_key>& keys, const std::vector<key_row>& rows) {
  std::vector<std::string> missing;
  for (const file_key& k : keys) {
    const auto names = [&k](const key_row& r) {
      return r.table == k.table && r.keys.contains(k.name) && (k.beside.empty() || r.label.contains(k.beside));
    };
    if (std::ranges::none_of(rows, names)) missing.push_back(k.table + "." + k.name + " of " + k.beside);
  }
  return missing;
}

/// Bytes of a model's parameters and gradients.
double trained_bytes(const model_entry& m, const workload& w) {
  const auto& d = m.description;
  const auto data = open_data(w.data.at(m.data).description, d.chain.context);
  return 2.0 * sizeof(float) * static_cast<double>(d.chain.build(*data).parameter_count());
}

}  // namespace

TEST_CASE("every key of a workload file has its own row in docs/workload.md") {
  REQUIRE(file_keys().size() > 100);
  CHECK(without_row(file_keys(), key_rows()) == std::vector<std::string>{});
}

TEST_CASE("a row that docs/workload.md loses is missed") {
  const auto rows = key_rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto others = rows;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    INFO(Catch::StringMaker<std::set<std::string>>::convert(rows[i].keys));
    CHECK_FALSE(without_row(file_keys(), others).empty());
  }
}

TEST_CASE("docs/commands.md names every command") {
  for (const command& c : commands()) CHECK_THAT(read_page("commands.md"), Catch::Contains("hydra " + c.name));
}

TEST_CASE("every shipped workload can be assembled and fits its devices") {
  std::size_t found = 0;
  for (const auto& file : std::filesystem::directory_iterator{source / "apps/workloads"}) {
    if (file.is_directory()) continue;  // those of the paper need files that are not ours to ship
    const workload w = read_workload(file.path());
    session s{w.options};
    CHECK_NOTHROW(assemble(s, w));
    CHECK_NOTHROW(s.plan());
    ++found;
  }
  CHECK(found >= 1);
}

/// A folder as of a checkpoint with one layer, whose weights nobody reads.
std::string small_checkpoint(const temporary_folder& folder) {
  std::filesystem::create_directory(folder.path() / "gpt2");
  folder.write("gpt2/config.json", R"({"architectures": ["GPT2LMHeadModel"], "vocab_size": 300, "n_positions": 1024,
                                       "n_embd": 8, "n_layer": 1, "n_head": 2})");
  const std::string header = R"({"t": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})";
  const std::string length{static_cast<char>(header.size()), 0, 0, 0, 0, 0, 0, 0};
  folder.write("gpt2/model.safetensors", length + header + "1234");
  return (folder.path() / "gpt2").string();
}

TEST_CASE("the tutorial's fine-tuning on questions and answers is read as it is written") {
  const temporary_folder folder;
  const std::string records = folder.write("d.jsonl", "{}\n").string();
  const workload w = read_workload(
      source / "apps/workloads/questions/questions.toml",
      {parse_override("model.chain.from=" + small_checkpoint(folder)), parse_override("data.questions.train=" + records),
       parse_override("data.questions.validation=" + records), parse_override("data.questions.tokenizer=bytes")});
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
}

TEST_CASE("the paper's workload is twelve fine-tunings of a checkpoint, and so is its small variant") {
  const temporary_folder folder;
  const std::string checkpoint = small_checkpoint(folder);
  const std::string text = folder.write("text.txt", "some words").string();
  for (const auto& [name, data] :
       {std::pair<std::string, std::string>{"paper", "data.wikitext"}, {"small", "data.pages"}}) {
    const workload w =
        read_workload(source / "apps/workloads/paper" / (name + ".toml"),
                      {parse_override("model.chain.from=" + checkpoint), parse_override(data + ".train=" + text),
                       parse_override(data + ".validation=" + text), parse_override(data + ".tokenizer=bytes")});
    std::set<std::pair<std::uint32_t, double>> grid;
    for (const model_entry& m : w.models) grid.emplace(m.description.batch_size, m.description.optimizer.learning_rate);
    CHECK(grid.size() == 12);
    if (name == "small") continue;
    CHECK(w.models[0].description.chain.context == 512);
    CHECK(w.models[0].description.epochs == 1);
    CHECK(grid == std::set<std::pair<std::uint32_t, double>>{{8, 1e-5}, {8, 2e-5}, {8, 5e-5}, {8, 6e-5}, {8, 1e-4}, {8, 3e-4},
                                                             {16, 1e-5}, {16, 2e-5}, {16, 5e-5}, {16, 6e-5}, {16, 1e-4}, {16, 3e-4}});
  }
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
