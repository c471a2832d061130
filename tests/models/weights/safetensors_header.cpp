#include "models/weights/safetensors_header.hpp"

#include "runtime/base/fault.hpp"

#include <catch2/catch.hpp>

using namespace hydra;

namespace {

/// An invalid header for 8 bytes of data, and the expected message.
struct malformed {
  std::string json;
  const char* why;
};

/// An object with the tensor "a" described by `entry`.
std::string a(const std::string& entry) { return R"({"a":{)" + entry + "}}"; }

const std::string deep(100'000, '['), deep_array = deep + std::string(deep.size(), ']');

const malformed table[]{
    {"", "not an object"},
    {"[]", "not an object"},
    {"null", "not an object"},
    {" {}", "not an object"},
    {"{", "not JSON from byte"},
    {"{}x", "not JSON from byte"},
    {std::string{"{}\0", 3}, "zero byte"},
    {"{\"\xFF\":1}", "not JSON from byte"},
    {R"({"a":1e999})", "not JSON: "},
    {R"({"a":1})", "tensor \"a\": is described by no object"},
    {R"({"a":null})", "tensor \"a\": is described by no object"},
    {R"({"__metadata__":1})", "__metadata__ is not an object of texts"},
    {R"({"__metadata__":[]})", "__metadata__ is not an object of texts"},
    {R"({"__metadata__":{"step":1}})", "__metadata__ is not an object of texts"},
    {R"({"a":{},"a":{}})", "\"a\" is given twice"},
    {R"({"a":{},"\u0061":{}})", "\"a\" is given twice"},
    {R"({"__metadata__":{},"__metadata__":{}})", "\"__metadata__\" is given twice"},
    {a(R"("dtype":"F32","shape":[2],"shape":[2],"data_offsets":[0,8])"), "\"shape\" is given twice"},
    {a(R"("shape":[2],"data_offsets":[0,8])"), "tensor \"a\": dtype is not text"},
    {a(R"("dtype":1,"shape":[2],"data_offsets":[0,8])"), "tensor \"a\": dtype is not text"},
    {a(R"("dtype":"F4","shape":[16],"data_offsets":[0,8])"),
     "tensor \"a\": dtype \"F4\" is not a type that Hydra knows"},
    {a(R"("dtype":"F32","data_offsets":[0,8])"), "tensor \"a\": shape is not an array"},
    {a(R"("dtype":"F32","shape":2,"data_offsets":[0,8])"), "tensor \"a\": shape is not an array"},
    {a(R"("dtype":"F32","shape":[1,-2],"data_offsets":[0,8])"), "tensor \"a\": shape[1] is not a count"},
    {a(R"("dtype":"F32","shape":[2.0],"data_offsets":[0,8])"), "tensor \"a\": shape[0] is not a count"},
    {a(R"("dtype":"F32","shape":["2"],"data_offsets":[0,8])"), "tensor \"a\": shape[0] is not a count"},
    {a(R"("dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,8])"), "tensor \"a\": shape[0] is not a count"},
    {a(R"("dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,8])"),
     "tensor \"a\": shape[0] is not a count"},
    {a(R"("dtype":"F32","shape":[)" + deep_array + R"(],"data_offsets":[0,8])"),
     "the header: is nested more than 100 deep"},
    {R"({"a":)" + deep_array + "}", "the header: is nested more than 100 deep"},
    {a(R"("dtype":"F32","shape":[2])"), "tensor \"a\": data_offsets is not an array"},
    {a(R"("dtype":"F32","shape":[2],"data_offsets":[8])"), "tensor \"a\": data_offsets are not a start and an end"},
    {a(R"("dtype":"F32","shape":[2],"data_offsets":[0,8,8])"), "tensor \"a\": data_offsets are not a start"},
    {a(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"), "tensor \"a\": data_offsets are not a start"},
    {a(R"("dtype":"F32","shape":[2],"data_offsets":[-8,0])"), "tensor \"a\": data_offsets[0] is not a count"},
    {a(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"), "tensor \"a\": F32[3] is not of 8 bytes"},
    {a(R"("dtype":"I64","shape":[2],"data_offsets":[0,8])"), "tensor \"a\": I64[2] is not of 8 bytes"},
    // 2^62 * 4 * 4 bytes = 0 and (2^61 + 2) * 4 = 8 if counted modulo 2^64
    {a(R"("dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0])"), "is not of 0 bytes"},
    {a(R"("dtype":"F32","shape":[4611686018427387906],"data_offsets":[0,8])"), "is not of 8 bytes"},
    {a(R"("dtype":"F32","shape":[4],"data_offsets":[0,16])"), "tensor \"a\": ends at 16 of 8 bytes"},
    {a(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])"), "tensor \"a\": starts at 4 instead of 0"},
    {a(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])"), "no tensor owns bytes 4 to 8"},
    {"{}", "no tensor owns bytes 0 to 8"},
    {a(R"("dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[3],"data_offsets":[5,8])"),
     "tensor \"b\": starts at 5 instead of 4"},
    {a(R"("dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[5],"data_offsets":[3,8])"),
     "tensor \"b\": starts at 3 instead of 4"},
    {a(R"("dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8])"),
     "tensor \"b\": starts at 0 instead of 8"},
    {a(R"("dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[0],"data_offsets":[4,4])"),
     "tensor \"b\": starts at 4 instead of 8"},
};

}  // namespace

TEST_CASE("each invalid header is refused, with the tensor and what is wrong") {
  for (const auto& [json, why] : table) {
    CAPTURE(json.substr(0, 200), why);
    CHECK_THROWS_WITH(parse_safetensors_header(json, 8), Catch::Contains(why));
  }
}

TEST_CASE("an invalid header is bad input") {
  try {
    parse_safetensors_header("[]", 0);
    FAIL("it was read");
  } catch (const fault_error& e) {
    CHECK(e.what_happened().code == fault_code::bad_input);
  }
}

TEST_CASE("entries are in the order of their data, whatever their order in the header") {
  const auto [metadata, entries] = parse_safetensors_header(
      R"({"c":{"dtype":"U8","shape":[4],"data_offsets":[4,8]},"b":{"dtype":"U8","shape":[0],"data_offsets":[4,4]},)"
      R"("a":{"shape":[2,2],"data_offsets":[0,4],"dtype":"U8","of":"interest to others"}}   )",
      8);
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].name == "a");
  CHECK(entries[0].shape == std::vector<std::int64_t>{2, 2});
  CHECK(entries[1].name == "b");
  CHECK(entries[2].name == "c");
  CHECK(entries[2].begin == 4);
  CHECK(entries[2].end == 8);
}

TEST_CASE("a header of no tensors describes no data") {
  CHECK(parse_safetensors_header("{}", 0).entries.empty());
  const auto header = parse_safetensors_header(R"({"__metadata__":{"format":"pt"}})", 0);
  CHECK(header.entries.empty());
  CHECK(header.metadata.at("format") == "pt");
}
