#include "models/data/image_samples.hpp"

#include "runtime/base/fault.hpp"
#include "tests/conformance/data.hpp"
#include "tests/models/data/image_writers.hpp"
#include "tests/models/data/read_sample.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using namespace std::string_literals;

namespace {

/// This many equal images of this size.
image_samples_options options(const temporary_folder& folder, std::size_t count, image_size size) {
  image_samples_options o{.name = "pictures", .classes = 3};
  for (std::size_t i = 0; i < count; ++i) {
    const auto file = folder.path() / (std::to_string(i) + ".png");
    write_png(file, ramp(size, 3));
    o.train.push_back({file, static_cast<std::int64_t>(i % 3)});
  }
  return o;
}

std::vector<float> pixels(const data_source& data, std::size_t index, split part = split::train) {
  return read_sample<float>(data, index, part).input;
}

}  // namespace

TEST_CASE("an image is [channels, height, width], scaled by ImageNet's numbers") {
  const temporary_folder folder;
  const image_samples data{options(folder, 2, {4, 5})};
  conforms(data);
  CHECK(data.sample_input() == tensor_spec{{3, 4, 5}, element::f32});
  CHECK(data.classes() == 3);
  const auto s = read_sample<float>(data, 1);
  CHECK(s.target == std::vector<std::int64_t>{1});
  CHECK(s.counted == 1);
  // ramp: 10 + 3 y + 2 x + 20 c
  CHECK(s.input[0] == Approx((10 / 255.0 - 0.485) / 0.229));
  CHECK(s.input[5 + 3] == Approx((19 / 255.0 - 0.485) / 0.229));
  CHECK(s.input[20] == Approx((30 / 255.0 - 0.456) / 0.224));
  CHECK(s.input[59] == Approx((10 + 9 + 8 + 40) / 255.0 / 0.225 - 0.406 / 0.225));
}

TEST_CASE("files that have several images are counted") {
  const temporary_folder folder;
  auto o = options(folder, 1, {2, 3});
  CHECK(image_samples{o}.notes().empty());
  const std::string image = ",\0\0\0\0\3\0\2\0\0\x08\x06\0\1\x08\x1C\x18\x10\0"s;
  const std::string screen = "GIF89a\3\0\2\0\x80\0\0\1\2\3\xC8\x64\x32"s;
  o.train.push_back({folder.write("a.gif", screen + image + image + ";"), 0});
  CHECK_THAT(image_samples{o}.notes().at(0),
             Contains("pictures: 1 file has more than one image") &&
                 EndsWith("of which the first is read: " + o.train.back().file.string()));
  o.validation = {o.train.back(), {folder.write("b.gif", screen + image + ";"), 0}};
  CHECK_THAT(image_samples{o}.notes().at(0), Contains("pictures: 2 files have") && EndsWith("a.gif, ..."));
  CHECK(image_samples{o}.notes().size() == 1);
}

TEST_CASE("scale, channels and size are those of the options") {
  const temporary_folder folder;
  auto o = options(folder, 1, {4, 6});
  o.size = {2, 3};
  o.channels = 1;
  o.scale = {{0.5}, {0.25}};
  const image_samples data{std::move(o)};
  CHECK(data.sample_input() == tensor_spec{{1, 2, 3}, element::f32});
  const auto values = pixels(data, 0);
  for (const float v : values) CHECK(((v * 0.25F + 0.5F) * 255 > 20 && (v * 0.25F + 0.5F) * 255 < 50));
  CHECK(values[0] < values[5]);
}

TEST_CASE("half of the training images are mirrored, the same ones at every read") {
  const temporary_folder folder;
  auto o = options(folder, 100, {2, 3});
  o.validation = o.train;
  const auto plain = pixels(image_samples{o}, 0);
  std::vector<float> mirrored;
  for (std::size_t row = 0; row < 6; ++row)
    for (std::size_t x = 3; x-- > 0;) mirrored.push_back(plain[row * 3 + x]);
  o.flip = true;
  const image_samples data{o};
  std::size_t flipped = 0;
  for (std::size_t i = 0; i < 100; ++i) {
    const auto values = pixels(data, i);
    flipped += values == mirrored;
    CHECK((values == mirrored || values == plain));
    CHECK(pixels(data, i) == values);
    CHECK(pixels(data, i, split::validation) == plain);
  }
  CHECK(flipped == Approx(50).margin(20));
}

TEST_CASE("images of several sizes need a target size") {
  const temporary_folder folder;
  auto o = options(folder, 2, {4, 5});
  write_png(o.train[1].file, ramp({4, 6}, 3));
  CHECK_THROWS_WITH(image_samples{o},
                    Contains("0.png is 4 x 5 pixels") && Contains("1.png is 4 x 6") && Contains("size ="));
  o.size = {4, 5};
  CHECK(pixels(image_samples{o}, 1).size() == 60);
}

TEST_CASE("a damaged header or a missing end is found when the data are opened, damaged pixels when they are read") {
  const temporary_folder folder;
  auto o = options(folder, 3, {40, 50});
  std::fstream{o.train[1].file, std::ios::in | std::ios::out | std::ios::binary}.seekp(60).write("pixels", 6);
  const image_samples data{o};
  CHECK_THROWS_WITH(pixels(data, 1), Contains("1.png cannot be read as an image"));
  CHECK_NOTHROW(pixels(data, 2));
  std::filesystem::resize_file(o.train[1].file, 60);
  CHECK_THROWS_WITH(image_samples{o}, Contains("1.png cannot be read as an image: its end is missing"));
  o.train.erase(o.train.begin() + 1);
  folder.write("2.png", "\x89PNG");
  CHECK_THROWS_WITH(image_samples{o}, Contains("2.png"));
}

TEST_CASE("means and deviations for another number of channels are refused") {
  const temporary_folder folder;
  auto o = options(folder, 1, {4, 5});
  o.scale.mean = {0.5};
  CHECK_THROWS_WITH(image_samples{o}, Contains("pictures: mean has 1 numbers; the images have 3 channels"));
  o.scale = {{}, {1, 0, 1}};
  CHECK_THROWS_WITH(image_samples{o}, Contains("each deviation must be above 0"));
  o.scale = {};
  o.channels = 2;
  CHECK_THROWS_WITH(image_samples{o}, Contains("1 or 3 channels, not 2"));
}

TEST_CASE("the fingerprint distinguishes images of other bytes, classes or options") {
  const temporary_folder folder;
  const auto o = options(folder, 3, {4, 5});
  const std::string first = image_samples{o}.fingerprint();
  CHECK(image_samples{o}.fingerprint() == first);
  auto flipped = o, relabelled = o;
  flipped.flip = true;
  relabelled.train[0].label = 2;
  CHECK(image_samples{flipped}.fingerprint() != first);
  CHECK(image_samples{relabelled}.fingerprint() != first);
  write_png(o.train[2].file, ramp({4, 5}, 1));
  CHECK(image_samples{o}.fingerprint() != first);
}
