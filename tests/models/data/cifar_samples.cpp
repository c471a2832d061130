#include "models/data/cifar_samples.hpp"

#include "runtime/base/fault.hpp"
#include "tests/conformance/data.hpp"
#include "tests/models/data/read_sample.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

/// Labels and 3072 bytes that start with `first` and increase.
std::string record(std::initializer_list<int> labels, int first) {
  std::string bytes;
  for (const int label : labels) bytes += static_cast<char>(label);
  for (int i = 0; i < 3072; ++i) bytes += static_cast<char>((first + i) % 256);
  return bytes;
}

constexpr float scaled(int value, double mean, double deviation) {
  return static_cast<float>((value / 255.0 - mean) / deviation);
}

}  // namespace

TEST_CASE("a CIFAR-10 record is a label and three planes") {
  const temporary_folder folder;
  const auto file = folder.write("a.bin", record({3}, 0) + record({9}, 7));
  const cifar_samples data{{.train = {file, file}}};
  conforms(data);
  CHECK(data.samples(split::train) == 4);
  CHECK(data.samples(split::validation) == 0);
  CHECK(data.sample_input() == tensor_spec{{3, 32, 32}, element::f32});
  const auto s = read_sample<float>(data, 3);
  CHECK(s.target == std::vector<std::int64_t>{9});
  CHECK(s.input[0] == Approx(scaled(7, 0.4914, 0.2470)));
  CHECK(s.input[1025] == Approx(scaled(8, 0.4822, 0.2435)));
  CHECK(s.input[3071] == Approx(scaled(6, 0.4465, 0.2616)));
}

TEST_CASE("a CIFAR-100 record has a coarse and a fine label") {
  const temporary_folder folder;
  const auto file = folder.write("a.bin", record({19, 99}, 0));
  CHECK(read_sample<float>(cifar_samples{{.train = {file}, .classes = 100}}, 0).target[0] == 99);
  CHECK(read_sample<float>(cifar_samples{{.train = {file}, .classes = 20}}, 0).target[0] == 19);
}

TEST_CASE("a folder has its files under their original names, and the test batch for validation") {
  const temporary_folder folder;
  for (int i = 1; i <= 5; ++i) folder.write("data_batch_" + std::to_string(i) + ".bin", record({i}, 0));
  folder.write("test_batch.bin", record({7}, 0) + record({8}, 0));
  const cifar_samples data{{.train = {folder.path()}}};
  CHECK(data.samples(split::train) == 5);
  CHECK(data.samples(split::validation) == 2);
  CHECK(read_sample<float>(data, 1, split::validation).target[0] == 8);
  CHECK_THROWS_WITH((cifar_samples{{.train = {folder.path()}, .classes = 100}}), Contains("train.bin: no such file"));
}

TEST_CASE("rows of mirrored CIFAR images are reversed, validation images never") {
  const temporary_folder folder;
  std::string many;
  for (int i = 0; i < 64; ++i) many += record({0}, 0);
  const auto file = folder.write("a.bin", many);
  const cifar_samples plain{{.train = {file}}}, flipped{{.train = {file}, .validation = {file}, .flip = true}};
  const auto straight = read_sample<float>(plain, 0).input;
  std::size_t turned = 0;
  for (std::size_t i = 0; i < 64; ++i) {
    const auto values = read_sample<float>(flipped, i).input;
    if (values != straight) {
      ++turned;
      for (std::size_t x = 0; x < 32; ++x) CHECK(values[2048 + 64 + x] == straight[2048 + 64 + 31 - x]);
    }
    CHECK(read_sample<float>(flipped, i, split::validation).input == straight);
  }
  CHECK(turned == Approx(32).margin(16));
}

TEST_CASE("files of another size, other labels and other numbers of classes are refused") {
  const temporary_folder folder;
  const auto file = folder.write("a.bin", record({3}, 0));
  CHECK_THROWS_WITH((cifar_samples{{.train = {file}, .classes = 100}}),
                    Contains("a.bin has 3073 bytes") && Contains("records of 3074 bytes"));
  CHECK_THROWS_WITH((cifar_samples{{.train = {folder.write("b.bin", record({3}, 0) + record({10}, 0))}}}),
                    Contains("b.bin: record 1 has label 10"));
  CHECK_THROWS_WITH((cifar_samples{{.train = {file}, .classes = 50}}), Contains("classes is 50"));
}

TEST_CASE("a folder without a test batch has no validation images, unless they are requested") {
  const temporary_folder folder;
  for (int i = 1; i <= 5; ++i) folder.write("data_batch_" + std::to_string(i) + ".bin", record({i}, 0));
  CHECK(cifar_samples{{.train = {folder.path()}}}.samples(split::validation) == 0);
  CHECK_THROWS_WITH((cifar_samples{{.train = {folder.path()}, .validation = {folder.path()}}}),
                    Contains("test_batch.bin: no such file"));
}

TEST_CASE("the fingerprint distinguishes records of other bytes, parts or options") {
  const temporary_folder folder;
  const auto a = folder.write("a.bin", record({3}, 0)), b = folder.write("b.bin", record({3}, 1));
  const std::string first = cifar_samples{{.train = {a}}}.fingerprint();
  CHECK(cifar_samples{{.train = {a}}}.fingerprint() == first);
  CHECK(cifar_samples{{.train = {b}}}.fingerprint() != first);
  CHECK(cifar_samples{{.train = {a}, .flip = true}}.fingerprint() != first);
  CHECK(cifar_samples{{.train = {a}, .validation = {b}}}.fingerprint() !=
        cifar_samples{{.train = {a, b}}}.fingerprint());
}
