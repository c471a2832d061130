#include "models/data/image_file.hpp"

#include "models/data/image_orientation.hpp"
#include "runtime/base/fault.hpp"
#include "tests/models/data/image_writers.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;
using namespace std::string_literals;

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
using values = std::vector<std::uint8_t>;

}  // namespace

TEST_CASE("a PNG file has exactly the pixels that were written") {
  const temporary_folder folder;
  const auto file = folder.path() / "a.png";
  write_png(file, ramp(small, 3));
  CHECK(outline_of(file).size == small);
  CHECK(decode_image(file, 3).pixels == ramp(small, 3).pixels);
  write_png(file, ramp(small, 1));
  CHECK(decode_image(file, 3).pixels == three(ramp(small, 1)).pixels);
  CHECK(decode_image(file, 1).pixels == ramp(small, 1).pixels);
}

TEST_CASE("the alpha channel of a PNG file is dropped, and of 16 bits the upper 8 are kept, not rounded") {
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
  CHECK(outline_of(file).size == image_size{16, 24});
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
  CHECK(is_image_name("a.heic"));  // which is refused by name, not passed over
  CHECK_FALSE(is_image_name("a.txt"));
}

TEST_CASE("a file that is not an image, or is damaged, is refused by name") {
  const temporary_folder folder;
  CHECK_THROWS_WITH(outline_of(folder.write("a.png", "hello")),
                    Contains("a.png is not a JPEG, PNG, WebP, GIF, BMP or TIFF file. Convert it"));
  for (const char* name : {"b.png", "b.jpg"}) {
    const auto file = folder.path() / name;
    const bool png = file.extension() == ".png";
    png ? write_png(file, ramp({64, 64}, 3)) : write_jpeg(file, ramp({64, 64}, 3));
    cut(file, 0.7);
    CHECK_THROWS_WITH(outline_of(file),
                      Contains(std::string{name} + " cannot be read as an image: its end is missing"));
    CHECK_THROWS_WITH(decode_image(file, 3), Contains(std::string{name} + " cannot be read as an image: "));
    std::filesystem::resize_file(file, 12);
    CHECK_THROWS_WITH(outline_of(file), Contains(std::string{name} + " cannot be read as an image: "));
  }
}

TEST_CASE("the end marker is searched after the pixels, whatever comes before and after it") {
  const temporary_folder folder;
  for (const char* name : {"b.png", "b.jpg"}) {
    const auto file = folder.path() / name;
    const bool png = file.extension() == ".png";
    png ? write_png(file, ramp({64, 64}, 3)) : write_jpeg(file, ramp({64, 64}, 3));
    const std::string whole = bytes_of(file);
    CHECK(outline_of(folder.write(name, whole + "more")).size == image_size{64, 64});
    CHECK_THROWS_WITH(outline_of(folder.write(name, whole.substr(0, whole.size() - 1))),
                      Contains("its end is missing"));
  }
  write_jpeg(folder.path() / "c.jpg", ramp({64, 64}, 3));
  std::string thumbnail = bytes_of(folder.path() / "c.jpg");
  thumbnail.insert(2, std::string{"\xFF\xE1\0\x04\xFF\xD9", 6});
  CHECK(outline_of(folder.write("c.jpg", thumbnail)).size == image_size{64, 64});
  CHECK_THROWS_WITH(outline_of(folder.write("c.jpg", thumbnail.substr(0, thumbnail.size() - 2))),
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
  CHECK(outline_of(file).size == image_size{64, 64});
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
  CHECK_THROWS_WITH(outline_of(file), refused);
  CHECK_THROWS_WITH(decode_image(file, 3), refused);
}

// Expected value: Pillow 13, Image.new("CMYK", (8, 8), (55, 155, 205, 127)).convert("RGB").
TEST_CASE("printing colours (CMYK) become the colours that Pillow makes of them") {
  const temporary_folder folder;
  image inverted = image::blank({8, 8}, 4);
  for (std::size_t i = 0; i < inverted.pixels.size(); ++i) inverted.pixels[i] = values{200, 100, 50, 128}[i % 4];
  write_jpeg(folder.path() / "c.jpg", inverted);
  image right = image::blank({8, 8}, 3);
  for (std::size_t i = 0; i < right.pixels.size(); ++i) right.pixels[i] = values{100, 50, 25}[i % 3];
  CHECK(largest_difference(decode_image(folder.path() / "c.jpg", 3), right) <= 1);
  CHECK(decode_image(folder.path() / "c.jpg", 1).channels == 1);
}

TEST_CASE("the orientation in a JPEG file is applied to its size and its pixels") {
  const temporary_folder folder;
  const auto file = folder.path() / "a.jpg";
  write_jpeg(file, ramp({16, 24}, 3));
  const image stored = decode_image(file, 3);
  const std::string whole = bytes_of(file);
  const auto exif = "\xFF\xE1\0\x22"
                    "Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"s;
  const auto xmp = "\xFF\xE1\0\x38http://ns.adobe.com/xap/1.0/\0<x tiff:Orientation=\"6\"/>"s;
  for (const std::string& segment : {exif, xmp}) {
    std::string turned = whole;
    folder.write("a.jpg", turned.insert(2, segment));
    CHECK(outline_of(file).size == image_size{24, 16});
    CHECK(decode_image(file, 3).pixels == upright(stored, 6).pixels);
  }
}

// The files are Pillow's; so are the pixels, exif_transpose(...).convert("RGB") as in
// transformers.image_utils.load_image.
TEST_CASE(
    "files of Pillow have the pixels that transformers loads from them, and are refused where their end is missing") {
  struct file_of_pillow {
    const char* name;
    const char* hex;
    image_size size;
    values pixels;
  };
  const values palette{10, 20, 30, 200, 100, 50, 0, 255, 128, 7, 8, 9, 0, 255, 128, 200, 100, 50};
  const values colours{1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19};
  const values black_and_white{0, 0, 0, 255, 255, 255, 255, 255, 255, 0, 0, 0, 255, 255, 255, 0, 0, 0};
  const std::vector<file_of_pillow> files{
      {"palette, transparency and gamma (PNG)",
       "89504e470d0a1a0a0000000d4948445200000003000000020203000000e01a8e890000000467414d41000186a031e8"
       "965f0000000c504c54450a141ec8643200ff8007080903a337110000000374524e53ff0080a95673130000000c4944"
       "4154789c639060780200013000fd56cd1c730000000049454e44ae426082",
       {2, 3},
       palette},
      {"grey with gamma (PNG)",
       "89504e470d0a1a0a0000000d4948445200000003000000020800000000b81f39c60000000467414d41000186a031e8"
       "965f0000001049444154789c6364d0d060a858f01f00056f026968ea86780000000049454e44ae426082",
       {2, 3},
       {0, 0, 0, 40, 40, 40, 80, 80, 80, 120, 120, 120, 160, 160, 160, 255, 255, 255}},
      {"1 bit (PNG)",
       "89504e470d0a1a0a0000000d4948445200000003000000020100000000b50f5bb70000000c49444154789c6348607a"
       "0000020801432e4afb7c0000000049454e44ae426082",
       {2, 3},
       black_and_white},
      {"turned (PNG)",
       "89504e470d0a1a0a0000000d49484452000000030000000208020000001216f14d0000001a655849664d4d002a0000"
       "0008000101120003000000010006000000000000d6674b690000001349444154789c636464628600162e2e2e080b00"
       "02dc004e5846eb720000000049454e44ae426082",
       {3, 2},
       {11, 12, 13, 1, 2, 3, 14, 15, 16, 4, 5, 6, 17, 18, 19, 7, 8, 9}},
      {"turned by XMP (PNG)",
       "89504e470d0a1a0a0000000d49484452000000030000000208020000001216f14d0000002f69545874584d4c3a636f"
       "6d2e61646f62652e786d7000000000003c7820746966663a4f7269656e746174696f6e3d2236222f3e9fe360290000"
       "001349444154789c636464628600162e2e2e080b0002dc004e5846eb720000000049454e44ae426082",
       {3, 2},
       {11, 12, 13, 1, 2, 3, 14, 15, 16, 4, 5, 6, 17, 18, 19, 7, 8, 9}},
      {"turned by XMP (WebP)",
       "524946466600000057454250565038580a000000040000000200000100005650384c250000002f024000002f202049"
       "316402921413f60182f98f12e003809ab60dd850e75f4e8de87f4c2f00584d5020190000003c7820746966663a4f72"
       "69656e746174696f6e3d2236222f3e00",
       {3, 2},
       {11, 12, 13, 1, 2, 3, 14, 15, 16, 4, 5, 6, 17, 18, 19, 7, 8, 9}},
      {"alpha, turned (WebP)",
       "524946468000000057454250565038580a000000180000000200000100005650384c3f0000002f024000102fa0a06d"
       "1ba67ffcc90e8bdab66d18f7fcff6c6622019200eaffb36682499ae8f31edf42049bdf0d1b6df6ffa0a66d0336d4f9"
       "174b23fa1feb0300455849461a0000004d4d002a00000008000101120003000000010008000000000000",
       {3, 2},
       {7, 8, 9, 17, 18, 19, 4, 5, 6, 14, 15, 16, 1, 2, 3, 11, 12, 13}},
      {"transparency (GIF)",
       "474946383961030002008100000a141ec8643200ff8007080921f90401000002002c00000000030002000008090001"
       "04103040408080003b",
       {2, 3},
       palette},
      {"smaller than its screen (GIF)",
       "474946383961040003008100000a141ec8643200ff8007080921f90401000002002c01000100030002000008090001"
       "04103040408080003b",
       {3, 4},
       {0,   255, 128, 0, 255, 128, 0, 255, 128, 0, 255, 128, 0, 255, 128, 10,  20,  30,
        200, 100, 50,  0, 255, 128, 0, 255, 128, 7, 8,   9,   0, 255, 128, 200, 100, 50}},
      {"interlaced (GIF)",
       "474946383761030005008100000a141ec8643200ff800708092c000000000300050000080d00010410304020418305"
       "070604003b",
       {5, 3},
       {10, 20, 30, 200, 100, 50,  0,  255, 128, 7,   8, 9, 10, 20, 30, 200, 100, 50,  0,  255, 128, 7,  8,
        9,  10, 20, 30,  200, 100, 50, 0,   255, 128, 7, 8, 9,  10, 20, 30,  200, 100, 50, 0,   255, 128}},
      {"colours (BMP)",
       "424d4e0000000000000036000000280000000300000002000000010018000000000018000000c40e0000c40e000000"
       "000000000000000d0c0b100f0e131211000000030201060504090807000000",
       {2, 3},
       colours},
      {"palette (BMP)",
       "424d4e0000000000000046000000280000000300000002000000010008000000000008000000c40e0000c40e000004"
       "000000040000001e140a003264c80080ff0000090807000302010000010200",
       {2, 3},
       palette},
      {"1 bit (BMP)",
       "424d46000000000000003e000000280000000300000002000000010001000000000008000000c40e0000c40e000002"
       "0000000200000000000000ffffff004000000060000000",
       {2, 3},
       black_and_white},
      {"alpha (BMP)",
       "424d4e0000000000000036000000280000000300000002000000010020000000000018000000c40e0000c40e000000"
       "000000000000000d0c0bff100f0e01131211ff03020100060504ff09080780",
       {2, 3},
       colours},
      {"turned (BigTIFF)",
       "49492b000800000010000000000000000b000000000000000001040001000000000000000300000000000000010104"
       "0001000000000000000200000000000000020103000300000000000000080008000800000003010300010000000000"
       "000001000000000000000601030001000000000000000200000000000000110104000100000000000000fc00000000"
       "0000001201030001000000000000000600000000000000150103000100000000000000030000000000000016010400"
       "0100000000000000020000000000000017010400010000000000000012000000000000001c01030001000000000000"
       "00010000000000000000000000000000000102030405060708090b0c0d0e0f10111213",
       {3, 2},
       {11, 12, 13, 1, 2, 3, 14, 15, 16, 4, 5, 6, 17, 18, 19, 7, 8, 9}}};
  const temporary_folder folder;
  for (const file_of_pillow& f : files) {
    CAPTURE(f.name);
    const std::string whole = from_hex(f.hex);
    const auto file = folder.write("a.img", whole);
    CHECK(outline_of(file).size == f.size);
    CHECK_FALSE(outline_of(file).several);
    CHECK(decode_image(file, 3).pixels == f.pixels);
    CHECK_THROWS_WITH(outline_of(folder.write("a.img", whole.substr(0, whole.size() - 2))), Contains("end is missing"));
  }
}

// Pillow's save_all = True, of an image of one colour and another.
TEST_CASE("of several images in a file the first is read, and that there are more is known from its header") {
  struct file_of_two {
    const char* name;
    const char* hex;
  };
  const std::vector<file_of_two> files{
      {"a GIF animation",
       "47494638396103000200810000010203c8643200000000000021ff0b4e45545343415045322e3003010000002c0000"
       "0000030002000008060001081c18100021f90401000001002c000000000300020081c8643200000000000000000008"
       "060001081c1810003b"},
      {"a PNG animation",
       "89504e470d0a1a0a0000000d49484452000000030000000208020000001216f14d000000086163544c000000020000"
       "0000f38d93700000001a6663544c00000000000000030000000200000000000000000000000100000e839a09000000"
       "1549444154789c63646462666060606060606280010000a6000a01de682f0000001a6663544c000000010000000300"
       "000002000000000000000000000001000095f070dd000000196664415400000002789c633c9162c4c0c0c0c0c0c0c4"
       "000300196e0162eaadaed80000000049454e44ae426082"},
      {"a WebP animation",
       "524946468a00000057454250565038580a00000002000000020000010000414e494d06000000000000000000414e4d"
       "462c000000000000000000020000010000000000025650384c140000002f02400000075081540820000a9afec78888"
       "fe07414e4d462a000000000000000000020000010000000000005650384c110000002f024000000750b22257a6ff81"
       "88e87f0000"},
      {"two TIFF pages",
       "49492a00080000000a0000010400010000000300000001010400010000000200000002010300030000008600000003"
       "010300010000000100000006010300010000000200000011010400010000008c000000150103000100000003000000"
       "1601040001000000020000001701040001000000120000001c0103000100000001000000a800000008000800080001"
       "0203010203010203010203010203010203000049492a00080000000a00000104000100000003000000010104000100"
       "0000020000000201030003000000260100000301030001000000010000000601030001000000020000001101040001"
       "0000002c0100001501030001000000030000001601040001000000020000001701040001000000120000001c010300"
       "010000000100000000000000080008000800c86432c86432c86432c86432c86432c864320000"}};
  values first;
  for (int pixel = 0; pixel < 6; ++pixel) first.insert(first.end(), {1, 2, 3});
  const temporary_folder folder;
  for (const file_of_two& f : files) {
    CAPTURE(f.name);
    const auto file = folder.write("a.img", from_hex(f.hex));
    CHECK(outline_of(file).size == image_size{2, 3});
    CHECK(outline_of(file).several);
    CHECK(decode_image(file, 3).pixels == first);
  }
  const std::string gif = from_hex(files[0].hex);
  const std::string_view second{"!\xF9\x04\x01", 4};  // what stands before its image
  CHECK_FALSE(outline_of(folder.write("a.gif", gif.substr(0, gif.rfind(second) + 6))).several);
}

TEST_CASE("a photograph of several images is known from their number beside the first one") {
  const temporary_folder folder;
  write_jpeg(folder.path() / "a.jpg", ramp({4, 4}, 3));
  const std::string alone = bytes_of(folder.path() / "a.jpg");
  for (const char images : {1, 2}) {
    std::string photograph = alone;
    const std::string directory =
        from_hex("4d4d002a000000080001b001000400000001000000") + images + from_hex("00000000");
    photograph.insert(2, from_hex("ffe200204d504600") + directory);
    const auto file = folder.write("a.jpg", photograph + alone);
    CHECK(outline_of(file).several == (images > 1));
    CHECK(decode_image(file, 3).pixels == decode_image(folder.write("alone.jpg", alone), 3).pixels);
  }
}
