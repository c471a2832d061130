#include "models/weights/safetensors.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/storage/byte_sink.hpp"
#include "tests/support/stored_tensors.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

const std::string six_floats(24, 'f'), two_ints(16, 'i'), five_bytes(5, 'u');

const std::vector<named_tensor> mixed{{"ids", tensor_of(stored_type::i64, {2}, two_ints)},
                                      {"h.0.weight", tensor_of(stored_type::f32, {2, 3}, six_floats)},
                                      {"none", tensor_of(stored_type::f32, {0, 3}, "")},
                                      {"r\xC3\xA4nd\"om\n", tensor_of(stored_type::u8, {5}, five_bytes)}};

/// Number of bytes in the header, as the format defines it: eight bytes, the lowest first.
std::size_t header_length(const std::string& file) {
  std::size_t length = 0;
  for (int i = 7; i >= 0; --i) length = length << 8 | static_cast<unsigned char>(file.at(static_cast<std::size_t>(i)));
  return length;
}

void check_refused(const std::vector<named_tensor>& tensors, const char* why) {
  CHECK_THROWS_WITH(safetensors_text(tensors), Contains(why));
}

}  // namespace

TEST_CASE("a file of one tensor is as the format specifies, byte for byte") {
  const std::string header = R"({"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})";
  CHECK(header.size() == 84);  // 8 + 84 bytes, and 36 to the next multiple of 64
  CHECK(safetensors_text({{"w", tensor_of(stored_type::f32, {}, "data")}}) ==
        std::string{"\x78\0\0\0\0\0\0\0", 8} + header + std::string(36, ' ') + "data");
}

TEST_CASE("a simple reader of the format finds every tensor's bytes") {
  const std::string file = safetensors_text(mixed);
  const std::size_t start = 8 + header_length(file);
  const auto header = nlohmann::json::parse(file.substr(8, start - 8));
  CHECK(header.size() == mixed.size() + 1);
  CHECK(header.at("__metadata__") == nlohmann::json{{"format", "pt"}});
  for (const auto& [name, tensor] : mixed) {
    const auto& entry = header.at(name);
    const auto begin = entry.at("data_offsets").at(0).get<std::size_t>(),
               end = entry.at("data_offsets").at(1).get<std::size_t>();
    CHECK(entry.at("dtype") == to_string(tensor.type));
    CHECK(entry.at("shape").get<std::vector<std::int64_t>>() == tensor.shape);
    CHECK(file.substr(start + begin, end - begin) == text_of(tensor));
  }
}

TEST_CASE("data start at a multiple of 64 bytes and follow one another in the order given") {
  for (std::size_t n = 0; n < 70; ++n) {  // all lengths of a header
    const std::string file = safetensors_text({{std::string(n, 'x'), tensor_of(stored_type::u8, {5}, five_bytes)}});
    CHECK((8 + header_length(file)) % 64 == 0);
    CHECK(file.size() == 8 + header_length(file) + 5);
  }
  const std::string file = safetensors_text(mixed);
  CHECK(file.substr(8 + header_length(file)) == two_ints + six_floats + five_bytes);
}

TEST_CASE("a file without tensors consists of a header") {
  const std::string file = safetensors_text({});
  CHECK(file.size() == 64);
  CHECK(file.substr(8) == R"({"__metadata__":{"format":"pt"}})" + std::string(24, ' '));
}

TEST_CASE("what readers would refuse is not written") {
  const auto byte = tensor_of(stored_type::u8, {1}, "x"), four = tensor_of(stored_type::f32, {1}, "1234");
  check_refused({{"a", byte}, {"a", byte}}, "\"a\" cannot be stored: its name is taken");
  check_refused({{"__metadata__", byte}}, "reserves the name");
  check_refused({{"\xFF", byte}}, "not UTF-8");
  check_refused({{"a", tensor_of(stored_type::u8, {2}, "x")}}, "U8[2] is not of 1 bytes");
  check_refused({{"a", tensor_of(stored_type::u8, {-1, -1}, "x")}}, "U8[-1, -1] is not of 1 bytes");
  check_refused({{"a", byte}, {"b", four}}, "\"b\" cannot be stored: wider types must come first");
}

TEST_CASE("bytes of a shape are counted without overflow") {
  const auto bytes = [](std::vector<std::int64_t> shape) { return bytes_of(stored_type::f32, shape); };
  CHECK(bytes({}) == 4);
  CHECK(bytes({2, 3}) == 24);
  CHECK(bytes({2, 0, 3}) == 0);
  CHECK(bytes({std::int64_t{1} << 60}) == std::uint64_t{1} << 62);
  CHECK_FALSE(bytes({std::int64_t{1} << 61}));
  CHECK_FALSE(bytes({-1}));
}

TEST_CASE("a type's text is read as it was written") {
  for (const auto type : {stored_type::f32, stored_type::i64, stored_type::u8, stored_type::bf16, stored_type::f16,
                          stored_type::boolean, stored_type::i32, stored_type::c64})
    CHECK(stored_type_of(to_string(type)) == type);
  CHECK_FALSE(stored_type_of("F4"));
}
