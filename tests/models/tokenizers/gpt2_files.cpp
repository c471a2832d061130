// Small versions of GPT-2's two files. tests/python/compare_tokenizers.py reads the real ones if they are available.

#include "models/tokenizers/tokenizer.hpp"
#include "tests/models/tokenizers/made_tokenizers.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;

/// Bytes 0 to 255, the words "Hello" (259) and " world" (264), "n'" (265), which is part of no word, and the end of a
/// text (266).

namespace gpt2_files_test {

struct gpt2_files : temporary_folder {
  gpt2_files() {
    const std::vector<std::string> merges{"H e",  "He l",  "Hel l",  "Hell o",  "Ġ w",
                                          "Ġw o", "Ġwo r", "Ġwor l", "Ġworl d", "n '"};
    auto vocab = bpe_file(merges)["model"]["vocab"];
    vocab["<|endoftext|>"] = vocab.size();
    std::string lines = "#version: 0.2\n";
    for (const std::string& merge : merges) lines += merge + "\n";
    write("vocab.json", vocab.dump());
    write("merges.txt", lines);
  }
};

using ids = std::vector<std::uint32_t>;

TEST_CASE("vocab.json and merges.txt are GPT-2's tokenizer, named one by one or by their folder") {
  const gpt2_files files;
  const auto t = open_tokenizer({.file = files.path()});
  CHECK(t->vocabulary() == 267);
  CHECK(t->special().end_of_text == 266u);
  CHECK(t->encode("Hello world<|endoftext|>") == ids{259, 264, 266});
  CHECK(t->encode("n't") == ids{'n', '\'', 't'});
  const auto named = open_tokenizer({.vocab = files.path() / "vocab.json", .merges = files.path() / "merges.txt"});
  CHECK(named->identity() == t->identity());
}

TEST_CASE("what GPT-2's tokenizer encodes it decodes to the byte") {
  const gpt2_files files;
  const auto t = open_tokenizer({.file = files.path()});
  std::string text =
      "\r\n  Hello world\t= Größe = \n\n e\u0301 \U0001F468\u200d\U0001F469 \u3000\u00a0don't <|endoftext|> 12 345  ";
  for (char c = 1; c != 127; ++c) text += c;
  CHECK(t->decode(t->encode(text)) == text);
}

}  // namespace gpt2_files_test
