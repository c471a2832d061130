#include "models/tokenizers/merge_table.hpp"

#include <catch2/catch.hpp>

#include <random>

using namespace hydra;

TEST_CASE("merging a word with a queue gives the same as scanning") {
  std::mt19937 random{3};
  for (int round = 0; round < 300; ++round) {
    merge_table table{60};
    for (std::uint32_t rank = 0; rank < 60; ++rank)
      table.add(random() % (4 + rank), random() % (4 + rank), {rank, 4 + rank});
    std::vector<std::uint32_t> scanned(random() % 80), queued;
    for (auto& symbol : scanned) symbol = random() % 4;
    queued = scanned;
    merge_by_scanning(table, scanned);
    merge_by_queue(table, queued);
    REQUIRE(scanned == queued);
  }
}

TEST_CASE("the leftmost of equal pairs merges first") {
  merge_table table{1};
  table.add(1, 1, {0, 2});
  std::vector<std::uint32_t> word{1, 1, 1};
  table.merge(word);
  CHECK(word == std::vector<std::uint32_t>{2, 1});
}

TEST_CASE("an empty table merges nothing") {
  std::vector<std::uint32_t> word(100, 7);
  merge_table{0}.merge(word);
  CHECK(word.size() == 100);
}
