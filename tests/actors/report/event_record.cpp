#include "actors/report/event_record.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace hydra;

namespace {

std::string hex(const std::string& bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += {digits[byte >> 4], digits[byte & 15]};
  }
  return text;
}

}  // namespace

TEST_CASE("a checksum is CRC-32C") {  // RFC 3720, B.4
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aa);
  CHECK(crc32c(std::string(32, '\xff')) == 0x62a8ab43);
  CHECK(crc32c("123456789") == 0xe3069283);
}

TEST_CASE("records are those of TensorFlow") {
  // As the package tensorboard 2.21.0 writes it (RecordWriter of an Event).
  CHECK(hex(event_record({.time = 1.5, .step = 300, .values = {{"a", 2.0F}}})) ==
        "1800000000000000a37f4b2209000000000000f83f10ac022a0a0a080a01611500000040722e38ef");
  CHECK(hex(version_record(0.0)).find("627261696e2e4576656e743a32") != std::string::npos);  // "brain.Event:2"
}
