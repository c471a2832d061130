#include "models/running_average.hpp"

#include <catch2/catch.hpp>

#include <vector>

using namespace hydra;

TEST_CASE("a running average keeps its share after K micro-batches and adds what they gathered") {
  std::vector<float> average{1, -2, 0};
  const std::vector<float> gathered{0.5f, 0.25f, -1};
  apply_average(0.5, 3, average, gathered);
  CHECK(average == std::vector<float>{0.625f, 0, -1});
  apply_average(1, 1, average, gathered);
  CHECK(average == gathered);
  CHECK_THROWS_WITH(apply_average(0.5, 1, average, std::span(gathered).first(2)),
                    Catch::Contains("3 running averages"));
}
