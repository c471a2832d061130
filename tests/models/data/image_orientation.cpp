#include "models/data/image_orientation.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace hydra;
using namespace std::string_literals;

namespace image_orientation_test {

using bytes = std::vector<std::uint8_t>;

std::string exif(bool little_endian, char orientation) {
  return little_endian
             ? "II*\0\x08\0\0\0\x02\0\x0F\x01\x02\0\x01\0\0\0A\0\0\0\x12\x01\x03\0\x01\0\0\0"s + orientation + "\0\0\0"s
             : "MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0"s + orientation + "\0\0"s;
}

// Expected values: Pillow 13, ImageOps.exif_transpose() of an image of 3 x 2 pixels.
TEST_CASE("stored images are turned and mirrored as Pillow does it") {
  const image stored{{2, 3}, 1, {1, 2, 3, 4, 5, 6}};
  const std::vector<bytes> right{{1, 2, 3, 4, 5, 6}, {3, 2, 1, 6, 5, 4}, {6, 5, 4, 3, 2, 1}, {4, 5, 6, 1, 2, 3},
                                 {1, 4, 2, 5, 3, 6}, {4, 1, 5, 2, 6, 3}, {6, 3, 5, 2, 4, 1}, {3, 6, 2, 5, 1, 4}};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    CAPTURE(orientation);
    const image_size size = orientation < 5 ? image_size{2, 3} : image_size{3, 2};
    CHECK(upright(stored, orientation).pixels == right[static_cast<std::size_t>(orientation) - 1]);
    CHECK(upright(stored, orientation).size == size);
    CHECK(upright(stored.size, orientation) == size);
  }
  CHECK(upright({{1, 2}, 3, {1, 2, 3, 4, 5, 6}}, 2).pixels == bytes{4, 5, 6, 1, 2, 3});
}

TEST_CASE("the orientation is EXIF's in either byte order, else XMP's") {
  CHECK(orientation_of({exif(true, 6), {}}) == 6);
  CHECK(orientation_of({"Exif\0\0"s + exif(false, 8), {}}) == 8);
  CHECK(orientation_of({exif(false, 3), "tiff:Orientation=\"6\""}) == 3);
  CHECK(orientation_of({{}, "<x tiff:Orientation='2'/><tiff:Orientation>5</tiff:Orientation>"}) == 5);
  CHECK(orientation_of({"MM\0*\0\0\0\x08\0\0"s, "a tiff:Orientation=\"6\""}) == 6);
}

TEST_CASE("an orientation that is damaged, out of range or not there means upright") {
  for (const std::string& block :
       {""s, "II"s, "II*\0\xFF\xFF\xFF\xFF"s, exif(true, 9), exif(false, 0), exif(true, 6).substr(0, 12)})
    CHECK(orientation_of({block, {}}) == 1);
  CHECK(orientation_of({exif(true, 9), "tiff:Orientation=\"6\""}) == 1);
  CHECK(orientation_of({{}, "tiff:Orientation="}) == 1);
}

}  // namespace image_orientation_test
