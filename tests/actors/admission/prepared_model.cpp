#include "actors/admission/prepared_model.hpp"

#include "models/data/data_catalog.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace hydra;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;

TEST_CASE("too few samples of packed records: the message has their number and what to set") {
  const test::temporary_folder folder;
  std::string lines;
  for (int i = 0; i < 8; ++i) lines += "{\"text\": \"abc\"}\n";
  const auto samples = [&](bool packing) {
    return too_few_samples(*open_data(jsonl({.train = folder.write("t.jsonl", lines), .packing = packing}), 8), 9);
  };
  CHECK_THAT(samples(false), EndsWith("t.jsonl has 8 training samples, fewer than one batch of 9"));
  CHECK_THAT(samples(true), Contains("has 2 training samples, fewer than one batch of 9: its 8 records are packed") &&
                                Contains("packing = false"));
}
