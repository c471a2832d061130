#include "models/data/image_file.hpp"

#include "runtime/base/fault.hpp"
#include "tests/models/data/image_writers.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

int largest_difference(const image& a, const image& b) {
  REQUIRE(a.pixels.size() == b.pixels.size());
  int largest = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) largest = std::max(largest, std::abs(a.pixels[i] - b.pixels[i]));
  return largest;
}

/// Three equal channels.
image three(const image& grey) {
  image all = image::blank(grey.size, 3);
  for (std::size_t i = 0; i < all.pixels.size(); ++i) all.pixels[i] = grey.pixels[i / 3];
  return all;
}

/// The file without its end marker.
void cut(const std::filesystem::path& file, double share) {
  std::filesystem::resize_file(
      file, static_cast<std::uintmax_t>(share * static_cast<double>(std::filesystem::file_size(file))));
}

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  return {std::istreambuf_iterator<char>(in), {}};
}

constexpr image_size small{9, 13};

}  // namespace

TEST_CASE("a PNG file has exactly the pixels that were written") {
  const temporary_folder folder;
  const auto file = folder.path() / "a.png";
  write_png(file, ramp(small, 3));
  CHECK(image_size_of(file) == small);
  CHECK(decode_image(file, 3).pixels == ramp(small, 3).pixels);
  write_png(file, ramp(small, 1));
  CHECK(decode_image(file, 3).pixels == three(ramp(small, 1)).pixels);
  CHECK(decode_image(file, 1).pixels == ramp(small, 1).pixels);
}

TEST_CASE("the alpha channel of a PNG file is dropped, and of 16 bits the upper 8 are kept") {
  const temporary_folder folder;
  const auto file = folder.path() / "a.png";
  write_png(file, ramp(small, 4));
  CHECK(decode_image(file, 3).pixels == ramp(small, 3).pixels);
  write_png(file, ramp(small, 3), 16);
  CHECK(decode_image(file, 3).pixels == ramp(small, 3).pixels);
  write_png(file, ramp(small, 1), 16);
  CHECK(decode_image(file, 1).pixels == ramp(small, 1).pixels);
}

TEST_CASE("colours become luma") {
  const temporary_folder folder;
  const auto file = folder.path() / "a.png";
  write_png(file, {{1, 3}, 3, {255, 0, 0, 0, 255, 0, 0, 0, 255}});
  CHECK(decode_image(file, 1).pixels == std::vector<std::uint8_t>{76, 150, 29});
}

TEST_CASE("a JPEG file has nearly the pixels that were written") {
  const temporary_folder folder;
  const auto file = folder.path() / "a.jpg";
  write_jpeg(file, ramp({16, 24}, 3));
  CHECK(image_size_of(file) == image_size{16, 24});
  CHECK(largest_difference(decode_image(file, 3), ramp({16, 24}, 3)) <= 4);
  write_jpeg(file, ramp({16, 24}, 1));
  CHECK(largest_difference(decode_image(file, 1), ramp({16, 24}, 1)) <= 2);
  CHECK(decode_image(file, 3).pixels == three(decode_image(file, 1)).pixels);
}

TEST_CASE("the format of a file is determined by its bytes") {
  const temporary_folder folder;
  const auto file = folder.path() / "a.jpg";
  write_png(file, ramp(small, 3));
  CHECK(decode_image(file, 3).size == small);
  CHECK(is_image_name("x/A.JPEG"));
  CHECK(is_image_name("a.png"));
  CHECK_FALSE(is_image_name("a.txt"));
}

TEST_CASE("a file that is not an image, or is damaged, is refused by name") {
  const temporary_folder folder;
  CHECK_THROWS_WITH(image_size_of(folder.write("a.png", "hello")), Contains("a.png is neither a JPEG nor a PNG file"));
  for (const char* name : {"b.png", "b.jpg"}) {
    const auto file = folder.path() / name;
    const bool png = file.extension() == ".png";
    png ? write_png(file, ramp({64, 64}, 3)) : write_jpeg(file, ramp({64, 64}, 3));
    cut(file, 0.7);
    CHECK_THROWS_WITH(image_size_of(file), Contains(std::string{name} + " cannot be read as an image: its end is missing"));
    CHECK_THROWS_WITH(decode_image(file, 3), Contains(std::string{name} + " cannot be read as an image: "));
    std::filesystem::resize_file(file, 12);
    CHECK_THROWS_WITH(image_size_of(file), Contains(std::string{name} + " cannot be read as an image: "));
  }
}

TEST_CASE("the end marker is searched after the pixels, whatever comes before and after it") {
  const temporary_folder folder;
  for (const char* name : {"b.png", "b.jpg"}) {
    const auto file = folder.path() / name;
    const bool png = file.extension() == ".png";
    png ? write_png(file, ramp({64, 64}, 3)) : write_jpeg(file, ramp({64, 64}, 3));
    const std::string whole = bytes_of(file);
    CHECK(image_size_of(folder.write(name, whole + "more")) == image_size{64, 64});
    CHECK_THROWS_WITH(image_size_of(folder.write(name, whole.substr(0, whole.size() - 1))), Contains("its end is missing"));
  }
  write_jpeg(folder.path() / "c.jpg", ramp({64, 64}, 3));
  std::string thumbnail = bytes_of(folder.path() / "c.jpg");
  thumbnail.insert(2, std::string{"\xFF\xE1\0\x04\xFF\xD9", 6});
  CHECK(image_size_of(folder.write("c.jpg", thumbnail)) == image_size{64, 64});
  CHECK_THROWS_WITH(image_size_of(folder.write("c.jpg", thumbnail.substr(0, thumbnail.size() - 2))),
                    Contains("its end is missing"));
}

TEST_CASE("a JPEG file whose pixels cannot be decoded is refused, not filled up") {
  const temporary_folder folder;
  const auto file = folder.path() / "a.jpg";
  write_jpeg(file, ramp({64, 64}, 3));
  std::string bytes = bytes_of(file);
  const std::size_t scan = bytes.find("\xFF\xDA") + 14;  // marker and header of three colours
  for (std::size_t at = scan; at < scan + 64; at += 2) bytes[at] = '\xFF', bytes[at + 1] = '\0';  // no code is all ones
  folder.write("a.jpg", bytes);
  CHECK(image_size_of(file) == image_size{64, 64});
  CHECK_THROWS_WITH(decode_image(file, 3), Contains("a.jpg cannot be read as an image: ") && Contains("Huffman code"));
}

TEST_CASE("a small file that claims to be a huge image is refused with its size") {
  const temporary_folder folder;
  const auto file = folder.path() / "a.jpg";
  write_jpeg(file, ramp({64, 64}, 3));
  std::string bytes = bytes_of(file);
  bytes.replace(bytes.find("\xFF\xC0") + 5, 4, "\x7F\xFF\x7F\xFF");
  folder.write("a.jpg", bytes);
  const auto refused = Contains("a.jpg cannot be read as an image: it is 32767 x 32767 pixels");
  CHECK_THROWS_WITH(image_size_of(file), refused);
  CHECK_THROWS_WITH(decode_image(file, 3), refused);
}

TEST_CASE("printing colours (CMYK) are refused") {
  const temporary_folder folder;
  write_jpeg(folder.path() / "c.jpg", ramp({8, 8}, 4));
  CHECK_THROWS_WITH(image_size_of(folder.path() / "c.jpg"), Contains("c.jpg") && Contains("CMYK"));
}
