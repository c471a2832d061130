// What is not a file, in the place of each file that models and data are read from.

#include "tests/support/special_files.hpp"

#include "models/data/data_catalog.hpp"
#include "models/data/image_file.hpp"
#include "models/families/hub_folder.hpp"
#include "models/tokenizers/tokenizer.hpp"
#include "models/weights/model_config.hpp"
#include "models/weights/safetensors_file.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <filesystem>
#include <functional>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

namespace fs = std::filesystem;

struct reading {
  const char* name;
  std::function<void(const fs::path&)> read;
};

const std::array readings{
    reading{"model.safetensors", [](const fs::path& p) { safetensors_file{p}; }},
    reading{"config.json", [](const fs::path& p) { model_config::read(p); }},
    reading{"config.json", [](const fs::path& p) { describe_from(p.parent_path(), {}); }},
    reading{"tokenizer.json", [](const fs::path& p) { open_tokenizer({.file = p}); }},
    reading{"tokenizer.model", [](const fs::path& p) { open_tokenizer({.file = p}); }},
    reading{"vocab.txt", [](const fs::path& p) { open_tokenizer({.vocab = p}); }},
    reading{"a.png", [](const fs::path& p) { decode_image(p, 3); }},
    reading{"a.tif", [](const fs::path& p) { outline_of(p); }},
    reading{"a.txt", [](const fs::path& p) { open_data({text_files{.train = p}}, 2); }},
    reading{"a.bin", [](const fs::path& p) { open_data({token_files{.train = p, .vocabulary = 9}}, 2); }},
    reading{"a.jsonl", [](const fs::path& p) { open_data({jsonl_files{.train = p}}, 2); }},
    reading{"a.jsonl.gz", [](const fs::path& p) { open_data({jsonl_files{.train = p}}, 2); }},
    reading{"chat.jsonl",
            [](const fs::path& p) {
              open_data(
                  {chat_files{.train = p, .format = {.roles = {{"user", {"U", "."}}, {"assistant", {"A", "."}}}}}}, 2);
            }},
    reading{"a.csv", [](const fs::path& p) { open_data({csv_files{.train = p, .validation = p, .target = "y"}}, 0); }},
    reading{"texts.csv", [](const fs::path& p) { open_data({csv_files{.train = p, .text = "x"}}, 2); }},
    reading{"cifar.bin", [](const fs::path& p) { open_data({cifar_files{.train = {p}}}, 0); }},
    reading{"data.safetensors", [](const fs::path& p) { open_data({tensor_files{.train = p}}, 0); }}};

}  // namespace

TEST_CASE("what is not a file is refused by every reader of models and data") {
  const temporary_folder folder;
  for (const special_file& special : special_files()) {
    for (const reading& r : readings) {
      const fs::path place = folder.path() / r.name;
      special.make(place);
      CAPTURE(special.refusal, r.name);
      const fault why = fault_of([&] { r.read(place); });
      CHECK(why.code == fault_code::bad_input);
      CHECK_THAT(why.text, Contains(folder.path().string()));
      fs::remove(place);
    }
  }
}
