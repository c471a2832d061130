#include "actors/report/event_record.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace hydra {

static_assert(std::endian::native == std::endian::little, "records are little-endian");

namespace {

constexpr std::array<std::uint32_t, 256> crc_table = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78U : 0U);
    }
    table[i] = crc;
  }
  return table;
}();

/// TFRecord's form of a checksum, so that one of data with checksums in it is not trivial.
std::uint32_t masked_crc(std::string_view bytes) { return std::rotr(crc32c(bytes), 15) + 0xa282ead8U; }

template <class Number>
std::string bytes_of(Number n) {
  std::string bytes(sizeof n, '\0');
  std::memcpy(bytes.data(), &n, sizeof n);
  return bytes;
}

// Fields of a protocol buffer: a key of number and wire type, then the value.

std::string varint(std::uint64_t n) {
  std::string bytes;
  for (; n >= 0x80; n >>= 7) {
    bytes.push_back(static_cast<char>(n | 0x80));
  }
  bytes.push_back(static_cast<char>(n));
  return bytes;
}

std::string key(std::uint64_t field, std::uint64_t wire_type) { return varint(field << 3 | wire_type); }
std::string integer(std::uint64_t field, std::uint64_t n) { return key(field, 0) + varint(n); }
std::string real(std::uint64_t field, double x) { return key(field, 1) + bytes_of(x); }
std::string real(std::uint64_t field, float x) { return key(field, 5) + bytes_of(x); }
std::string text(std::uint64_t field, const std::string& t) { return key(field, 2) + varint(t.size()) + t; }

std::string framed(const std::string& event) {
  const std::string length = bytes_of(static_cast<std::uint64_t>(event.size()));
  return length + bytes_of(masked_crc(length)) + event + bytes_of(masked_crc(event));
}

enum event_field : std::uint64_t { wall_time = 1, step = 2, file_version = 3, summary = 5, session_log = 7 };

}  // namespace

std::uint32_t crc32c(std::string_view bytes) noexcept {
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc = (crc >> 8) ^ crc_table[(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  }
  return ~crc;
}

std::string version_record(double time) { return framed(real(wall_time, time) + text(file_version, "brain.Event:2")); }

std::string start_record(double time) {
  const std::uint64_t started = 1;
  return framed(real(wall_time, time) + text(session_log, integer(1, started)));
}

std::string event_record(const scalar_event& e) {
  std::string values;
  for (const auto& [tag, value] : e.values) {
    values += text(1, text(1, tag) + real(2, value));
  }
  return framed(real(wall_time, e.time) + integer(step, e.step) + text(summary, values));
}

}  // namespace hydra
