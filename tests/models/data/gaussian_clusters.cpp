#include "models/data/gaussian_clusters.hpp"

#include "runtime/fault.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace hydra;

namespace {

struct sample {
  std::vector<float> features;
  std::int64_t label = -1;
};

sample read(const synthetic_classes& options, std::size_t index, split part = split::train) {
  sample s{std::vector<float>(static_cast<std::size_t>(options.features)), -1};
  CHECK(gaussian_clusters{options}.read(part, index, std::as_writable_bytes(std::span{s.features}),
                                        std::as_writable_bytes(std::span{&s.label, 1})) == 1);
  return s;
}

}  // namespace

TEST_CASE("a sample is a function of seed, split and index") {
  const synthetic_classes options{.features = 4, .classes = 3, .samples = 50, .seed = 1};
  synthetic_classes other = options;
  other.seed = 2;
  CHECK(read(options, 7).features == read(options, 7).features);
  CHECK(read(options, 7).features != read(options, 8).features);
  CHECK(read(options, 7).features != read(options, 7, split::validation).features);
  CHECK(read(options, 7).features != read(other, 7).features);
}

TEST_CASE("without noise the samples of a class are equal and those of others are not") {
  const synthetic_classes options{.features = 4, .classes = 3, .samples = 50, .noise = 0};
  std::set<std::vector<float>> points;
  std::set<std::int64_t> labels;
  for (std::size_t i = 0; i < 50; ++i) {
    points.insert(read(options, i).features);
    labels.insert(read(options, i, split::validation).label);
    points.insert(read(options, i, split::validation).features);
  }
  CHECK(labels == std::set<std::int64_t>{0, 1, 2});
  CHECK(points.size() == 3);
}

TEST_CASE("impossible sizes and noise are refused") {
  CHECK_THROWS_AS((gaussian_clusters{{.features = 0}}), fault_error);
  CHECK_THROWS_AS((gaussian_clusters{{.classes = -1}}), fault_error);
  CHECK_THROWS_AS((gaussian_clusters{{.noise = -1}}), fault_error);
}
