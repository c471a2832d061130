#include "models/data/gaussian_clusters.hpp"

#include "runtime/base/fault.hpp"
#include "tests/conformance/data.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace hydra;

namespace gaussian_clusters_test {

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

TEST_CASE("a sample is a function of seed, split and index") {
  const synthetic_classes options{.features = 4, .classes = 3, .samples = 50, .seed = 1};
  synthetic_classes other = options;
  other.seed = 2;
  test::conforms(gaussian_clusters{options});
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

TEST_CASE("with a shape samples are images around a smooth pattern of their class") {
  const synthetic_classes options{.shape = {2, 3, 5}, .classes = 4, .samples = 50, .noise = 0.5, .seed = 6};
  synthetic_classes flat = options;
  flat.features = 30, flat.shape = {};
  const gaussian_clusters images{options};
  CHECK(images.sample_input() == tensor_spec{{2, 3, 5}, element::f32});
  CHECK(images.describe() == "synthetic-classes shape=2x3x5 classes=4");
  std::vector<float> pixels(30);
  std::int64_t label = -1;
  images.read(split::train, 9, std::as_writable_bytes(std::span{pixels}), std::as_writable_bytes(std::span{&label, 1}));
  const sample vector = read(flat, 9);
  CHECK(label == vector.label);
  CHECK(pixels != vector.features);
}

TEST_CASE("a shape that is not that of an image is refused") {
  CHECK_THROWS_WITH((gaussian_clusters{{.shape = {3, 8}}}), Catch::Contains("[3, 8]") && Catch::Contains("height"));
  CHECK_THROWS_AS((gaussian_clusters{{.shape = {3, 0, 8}}}), fault_error);
  CHECK_THROWS_WITH((gaussian_clusters{{.shape = {3, 65537, 8}}}), Catch::Contains("from 1 to 65536"));
}

}  // namespace gaussian_clusters_test
