#include "models/tokenizer.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace hydra;

namespace {

namespace fs = std::filesystem;

fs::path test_data() {
  const char* const named = std::getenv("HYDRA_TEST_DATA");
  return named ? fs::path{named} : fs::path{HYDRA_SOURCE_DIR}.parent_path() / "shared" / "data";
}

std::string read(const fs::path& file) {
  std::ifstream in{file, std::ios::binary};
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("GPT-2's files encode as GPT-2 does, and WikiText-2 is decoded to the byte") {
  const fs::path files = test_data() / "gpt2-tokenizer", text_file = test_data() / "wikitext-2" / "valid.txt";
  if (!fs::exists(files) || !fs::exists(text_file)) {
    WARN("skipped: " << test_data() << " has no GPT-2 vocabulary or no WikiText-2");
    return;
  }
  const auto t = open_tokenizer({.file = files});
  CHECK(t->vocabulary() == 50257);
  CHECK(t->special().end_of_text == 50256u);
  CHECK(t->encode("Hello world<|endoftext|>") == std::vector<std::uint32_t>{15496, 995, 50256});
  CHECK(open_tokenizer({.vocab = files / "vocab.json", .merges = files / "merges.txt"})->identity() == t->identity());
  const std::string text = read(text_file);
  CHECK(t->decode(t->encode(text)) == text);
}
