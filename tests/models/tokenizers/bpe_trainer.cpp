#include "models/tokenizers/bpe_trainer.hpp"

#include "models/tokenizers/tokenizer.hpp"
#include "runtime/base/fault.hpp"
#include "tests/support/temporary_file.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <random>

using namespace hydra;

namespace {

using word = std::vector<std::string>;

/// Counts all pairs again for each merge.
std::vector<std::string> merges_by_recounting(std::map<word, std::int64_t> words, std::vector<std::string> tokens,
                                              std::size_t size) {
  std::vector<std::string> merges;
  while (tokens.size() < size) {
    std::map<std::pair<std::size_t, std::size_t>, std::int64_t> pairs;
    const auto id = [&](const std::string& t) {
      return static_cast<std::size_t>(std::ranges::find(tokens, t) - tokens.begin());
    };
    for (const auto& [w, count] : words)
      for (std::size_t i = 0; i + 1 < w.size(); ++i) pairs[{id(w[i]), id(w[i + 1])}] += count;
    const auto best =
        // the first one, which has the lowest ids
        std::ranges::max_element(pairs, {}, [](const auto& p) { return p.second; });
    if (best == pairs.end() || best->second < 2) break;
    const std::string left = tokens[best->first.first], right = tokens[best->first.second];
    merges.push_back(left + " " + right);
    if (std::ranges::count(tokens, left + right) == 0) tokens.push_back(left + right);
    std::map<word, std::int64_t> next;
    for (const auto& [w, count] : words) {
      word merged;
      for (std::size_t i = 0; i < w.size(); ++i)
        i + 1 < w.size() && w[i] == left&& w[i + 1] == right ? merged.push_back(left + w[++i]) : merged.push_back(w[i]);
      next[merged] += count;
    }
    words = std::move(next);
  }
  return merges;
}

}  // namespace

TEST_CASE("counts that are updated with each merge give the same merges as counting again") {
  std::mt19937 random{5};
  for (int round = 0; round < 20; ++round) {
    bpe_trainer trainer{{.vocabulary = 300}};
    std::map<word, std::int64_t> words;
    for (int i = 0; i < 60; ++i) {
      word letters;
      std::string text;
      for (std::size_t n = 1 + random() % 9; n > 0; --n) letters.emplace_back(1, static_cast<char>('a' + random() % 3));
      for (const auto& letter : letters) text += letter;
      trainer.add(text);
      ++words[letters];
    }
    const trained_bpe trained = trainer.train();
    const std::vector<std::string> bytes{trained.tokens.begin(), trained.tokens.begin() + 256};
    REQUIRE(trained.merges == merges_by_recounting(words, bytes, 300));
  }
}

TEST_CASE("a learnt tokenizer can be read and decodes what it encodes") {
  bpe_trainer trainer{{.vocabulary = 270, .special = {"<|endoftext|>", "<pad>"}}};
  const std::string text = "low lower lowest<|endoftext|>slow slower \u00e9t\u00e9 \u00e9t\u00e9<|endoftext|>";
  trainer.add(text);
  const test::temporary_file file{to_tokenizer_json(trainer.train())};
  const auto t = open_tokenizer({.file = file.path()});
  CHECK(t->decode(t->encode(text)) == text);
  CHECK(t->encode("<|endoftext|>") == std::vector<std::uint32_t>{0});
  CHECK(t->special().padding == 1u);
  CHECK(t->encode("low").size() == 1);
  CHECK(t->id_of("<|") == std::nullopt);  // nothing is learnt from special tokens
}

TEST_CASE("the order of texts does not matter") {
  bpe_trainer one{{.vocabulary = 280}}, other{{.vocabulary = 280}};
  for (const char* text : {"aba aba", "abc abc", "cab cab"}) one.add(text);
  for (const char* text : {"cab cab", "aba aba", "abc abc"}) other.add(text);
  CHECK(to_tokenizer_json(one.train()) == to_tokenizer_json(other.train()));
}

TEST_CASE("impossible options are refused") {
  CHECK_THROWS_WITH((bpe_trainer{{.vocabulary = 256, .special = {"<x>"}}}), Catch::Contains("at least 257 are needed"));
  CHECK_THROWS_WITH((bpe_trainer{{.vocabulary = 300, .special = {"a"}}}), Catch::Contains("cannot be a special token"));
  CHECK_THROWS_WITH((bpe_trainer{{.vocabulary = 300, .special = {""}}}), Catch::Contains("cannot be a special token"));
  CHECK_THROWS_WITH((bpe_trainer{{.vocabulary = 300, .special = {"<x>", "<x>"}}}), Catch::Contains("given twice"));
  CHECK_THROWS_WITH((bpe_trainer{{.vocabulary = 300, .least_count = 0}}), Catch::Contains("0 times"));
  bpe_trainer trainer{{.vocabulary = 300}};
  CHECK_THROWS_WITH(trainer.add("\xff"), Catch::Contains("byte 0"));
}
