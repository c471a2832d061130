#include "models/data/image_resize.hpp"

#include "tests/models/data/image_writers.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace hydra;
using namespace hydra::test;

namespace {

image uneven(image_size size, std::int64_t channels) {
  image result = image::blank(size, channels);
  std::uint8_t* next = result.pixels.data();
  for (std::int64_t y = 0; y < size.height; ++y)
    for (std::int64_t x = 0; x < size.width; ++x)
      for (std::int64_t c = 0; c < channels; ++c)
        *next++ = static_cast<std::uint8_t>(y * y * 37 + x * x * 11 + x * y * 5 + c * 50);
  return result;
}

using bytes = std::vector<std::uint8_t>;

}  // namespace

// Expected values: Pillow 13, Image.fromarray(...).resize((width, height), Image.BILINEAR).
TEST_CASE("resized images equal Pillow's, smaller and larger, in one direction and in both") {
  const image from = uneven({5, 7}, 1);
  CHECK(resized(from, {2, 3}).pixels == bytes{71, 121, 134, 119, 150, 126});
  CHECK(resized(from, {8, 4}).pixels == bytes{7,   53,  123, 90,  24,  74,  148, 118, 53,  103, 175,
                                              154, 124, 134, 128, 149, 139, 153, 112, 133, 96,  160,
                                              125, 106, 95,  168, 138, 120, 97,  174, 148, 133});
  CHECK(resized(from, {5, 9}).pixels == bytes{0,   7,   26,  56,  99,  159, 89,  59,  140, 37,  48,  70,
                                              104, 151, 215, 149, 123, 207, 148, 162, 188, 170, 21,  89,
                                              169, 175, 92,  77,  94,  124, 167, 221, 93,  120, 131, 51,
                                              80,  101, 135, 181, 239, 115, 146, 161, 84});
  CHECK(resized(from, {3, 7}).pixels ==
        bytes{16, 29, 64, 121, 200, 46, 169, 108, 129, 172, 94, 124, 177, 108, 79, 108, 158, 231, 70, 187, 70});
}

TEST_CASE("channels are resized independently") {
  CHECK(resized(uneven({6, 5}, 3), {4, 2}).pixels == bytes{35,  85,  135, 127, 146, 146, 124, 141, 132, 124, 104, 147,
                                                           120, 153, 172, 149, 99,  128, 163, 172, 84,  158, 132, 102});
}

TEST_CASE("an image of the right size is unchanged, and one of one colour keeps it") {
  CHECK(resized(uneven({5, 7}, 3), {5, 7}).pixels == uneven({5, 7}, 3).pixels);
  image plain = image::blank({33, 17}, 3);
  std::ranges::fill(plain.pixels, std::uint8_t{200});
  const image result = resized(plain, {12, 40});
  CHECK(result.size == image_size{12, 40});
  CHECK(std::ranges::all_of(result.pixels, [](std::uint8_t v) { return v == 200; }));
}
