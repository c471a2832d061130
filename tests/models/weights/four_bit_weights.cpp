#include "models/weights/four_bit_weights.hpp"

#include "models/frozen/nf4.hpp"
#include "runtime/base/fault.hpp"
#include "tests/support/four_bit_tensors.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

constexpr const char* weight = "model.up.weight";
constexpr const char* state = "model.up.weight.quant_state.bitsandbytes__nf4";

hub_test_tensors with_weight(four_bit_scales how = four_bit_scales::fp32) {
  hub_test_tensors tensors{{"model.norm.weight", ramp({3}, 1)}};
  add_four_bits(tensors, weight, {3, 50}, how);
  return tensors;
}

std::string identity_of_four_bits(const hub_test_tensors& tensors) {
  const temporary_folder folder;
  write_tensors(folder.path() / "model.safetensors", tensors);
  return hub_tensors{folder.path()}.identity();
}

/// The message with which a changed weight is refused; empty if it is accepted.
template <class Change>
std::string refusal_of_changed(const Change& change, four_bit_scales how = four_bit_scales::fp32) {
  hub_test_tensors tensors = with_weight(how);
  change(tensors);
  const temporary_folder folder;
  write_tensors(folder.path() / "model.safetensors", tensors);
  try {
    hub_tensors{folder.path()};
    return {};
  } catch (const fault_error& e) {
    CHECK(e.what_happened().code == fault_code::bad_input);
    CHECK_THAT(e.what(), Contains("model.safetensors: tensor model.up.weight"));
    CHECK_THAT(e.what(),
               Contains("quantised to 4 bits by bitsandbytes: ") && Contains("take the checkpoint in 16 bits"));
    return e.what();
  }
}

std::string refusal_of_state(const std::string& from, const std::string& to,
                             four_bit_scales how = four_bit_scales::fp32) {
  return refusal_of_changed(
      [&](hub_test_tensors& t) {
        std::string text = t.at(state).bytes;
        REQUIRE(text.find(from) != std::string::npos);
        t[state] = tensor_of_text(text.replace(text.find(from), from.size(), to));
      },
      how);
}

}  // namespace

TEST_CASE("a weight that bitsandbytes has quantised to 4 bits is one tensor with the shape of its values") {
  for (const four_bit_scales how : {four_bit_scales::fp32, four_bit_scales::nested}) {
    const temporary_folder folder;
    write_tensors(folder.path() / "model.safetensors", with_weight(how));
    const hub_tensors tensors{folder.path()};
    CHECK(tensors.all().size() == 2);
    const hub_tensor* const found = tensors.find(weight);
    REQUIRE(found != nullptr);
    CHECK(found->tensor.shape == std::vector<std::int64_t>{3, 50});
    REQUIRE(found->four_bits.has_value());
    std::vector<float> values(150);
    CHECK(widen_mapped(*found->four_bits, values) == 0);
    CHECK(values == values_of_four_bits(150, how));
    CHECK_FALSE(tensors.find("model.norm.weight")->four_bits.has_value());
  }
}

TEST_CASE("groups of nested scales end every 256 blocks") {
  const temporary_folder folder;
  hub_test_tensors tensors;
  add_four_bits(tensors, weight, {300, 64}, four_bit_scales::nested);
  write_tensors(folder.path() / "model.safetensors", tensors);
  std::vector<float> values(300 * 64);
  widen_mapped(*hub_tensors{folder.path()}.find(weight)->four_bits, values);
  CHECK(values == values_of_four_bits(values.size(), four_bit_scales::nested));
}

TEST_CASE("codes that are packed as numbers of another type, and parts of a weight in other files, change nothing") {
  const temporary_folder folder;
  hub_test_tensors tensors = with_weight();
  add_four_bits(tensors, weight, {3, 48});
  tensors[weight].type = stored_type::bf16;
  tensors[weight].shape = {36, 1};
  hub_test_tensors scales;
  scales.insert(tensors.extract("model.up.weight.absmax"));
  nlohmann::json map;
  for (const auto& [name, t] : tensors) map[name] = "model-1.safetensors";
  map["model.up.weight.absmax"] = "model-2.safetensors";
  write_tensors(folder.path() / "model-1.safetensors", tensors);
  write_tensors(folder.path() / "model-2.safetensors", scales);
  write_text(folder.path() / "model.safetensors.index.json", nlohmann::json{{"weight_map", map}}.dump());
  const hub_tensors all{folder.path()};
  std::vector<float> values(144);
  widen_mapped(all.find(weight)->four_bits.value(), values);
  CHECK(values == values_of_four_bits(144));
}

TEST_CASE("scales belong to the identity of weights, because those that are multiples of each other have equal codes") {
  for (const four_bit_scales how : {four_bit_scales::fp32, four_bit_scales::nested}) {
    const std::string identity = identity_of_four_bits(with_weight(how));
    const auto changed = [&](const char* part, std::size_t byte) {
      hub_test_tensors tensors = with_weight(how);
      tensors[fmt::format("{}{}", weight, part)].bytes[byte] ^= 1;
      return identity_of_four_bits(tensors);
    };
    CHECK(changed("", 3) != identity);
    CHECK(changed(".absmax", 1) != identity);
    if (how == four_bit_scales::nested) CHECK(changed(".nested_absmax", 1) != identity);
  }
}

TEST_CASE("a weight in 4 bits of which a tensor is missing is refused, with what is missing and what to do") {
  CHECK(refusal_of_changed([](hub_test_tensors&) {}).empty());
  for (const std::string part : {".absmax", ".quant_map"})
    CHECK_THAT(refusal_of_changed([&](hub_test_tensors& t) { t.erase(weight + part); }),
               Contains("model.up.weight: model.up.weight" + part + " is missing"));
  for (const std::string part : {".nested_absmax", ".nested_quant_map"})
    CHECK_THAT(refusal_of_changed([&](hub_test_tensors& t) { t.erase(weight + part); }, four_bit_scales::nested),
               Contains("model.up.weight: model.up.weight" + part + " is missing"));
  CHECK_THAT(refusal_of_changed([](hub_test_tensors& t) { t.erase(state); }),
             Contains("has neither model.up.weight.quant_state"));
  CHECK_THAT(
      refusal_of_changed([](hub_test_tensors& t) { t["model.up.weight.quant_state.bitsandbytes__fp4"] = t[state]; }),
      Contains("has both model.up.weight.quant_state"));
}

TEST_CASE("tensors beside a weight in 4 bits that do not fit it are refused") {
  const auto with = [](const std::string& part, const hub_test_tensor& t, four_bit_scales how = four_bit_scales::fp32) {
    return refusal_of_changed([&](hub_test_tensors& all) { all[weight + part] = t; }, how);
  };
  CHECK_THAT(with(".absmax", ramp({4}, 1)), Contains("model.up.weight.absmax: is F32 [4]; F32 [3] is needed"));
  CHECK_THAT(with(".absmax", tensor_of_text("abc")), Contains("is U8 [3]; F32 [3] is needed"));
  CHECK_THAT(with(".absmax", ramp({3}, 1), four_bit_scales::nested), Contains("is F32 [3]; U8 [3] is needed"));
  CHECK_THAT(with(".nested_absmax", ramp({2}, 1), four_bit_scales::nested), Contains("is F32 [2]; F32 [1] is needed"));
  CHECK_THAT(with(".nested_quant_map", ramp({16}, 1), four_bit_scales::nested),
             Contains("is F32 [16]; F32 [256] is needed"));
  CHECK_THAT(with(".quant_map", ramp({15}, 1)), Contains("is F32 [15]; F32 [16] is needed"));
  CHECK_THAT(with(".quant_map", ramp({16}, 0)), Contains("model.up.weight.quant_map: is not the table of nf4"));
  CHECK_THAT(with("", tensor_of_text("abc")), Contains("has 3 bytes, which is not half of the values of [3, 50]"));
  CHECK_THAT(with(".quant_state.bitsandbytes__nf4", ramp({3}, 1)), Contains("bitsandbytes__nf4: holds no JSON object"));
}

TEST_CASE("a quant_state of a weight in 4 bits that says something else is refused, with its key") {
  CHECK_THAT(refusal_of_state("\"blocksize\": 64", "\"blocksize\": 48"),
             Contains("__nf4: blocksize: 48 is none of 32, 64, "));
  CHECK_THAT(refusal_of_state("\"blocksize\": 64, ", ""), Contains("blocksize: is missing"));
  CHECK_THAT(refusal_of_state("\"blocksize\": 64", "\"blocksize\": 128"),
             Contains("absmax: is F32 [3]; F32 [2] is needed"));
  CHECK_THAT(refusal_of_state("[3, 50]", "[3, 52]"), Contains("is not half of the values of [3, 52]"));
  CHECK_THAT(refusal_of_state("[3, 50]", "[-3, 50]"), Contains("is not half of the values of [-3, 50]"));
  CHECK_THAT(refusal_of_state("[3, 50]", "null"), Contains("shape: is not a list of integers"));
  CHECK_THAT(refusal_of_state("\"nf4\"", "\"fp4\""), Contains("quant_type: \"fp4\" is not supported"));
  CHECK_THAT(refusal_of_state("\"blocksize\"", "\"packing\": 2, \"blocksize\""),
             Contains("packing: is not a key that Hydra knows"));
  CHECK_THAT(refusal_of_state("}", ""), Contains("holds no JSON object"));
  CHECK_THAT(refusal_of_state("\"nested_blocksize\": 256", "\"nested_blocksize\": 0", four_bit_scales::nested),
             Contains("nested_blocksize: 0 is none of"));
  CHECK_THAT(refusal_of_state(", \"nested_offset\": 0.125", "", four_bit_scales::nested),
             Contains("nested_offset: is missing; a number is needed"));
}

TEST_CASE("tensors with the names of parts of a weight that is not there are tensors like others") {
  const temporary_folder folder;
  write_tensors(folder.path() / "model.safetensors", {{"model.up.absmax", ramp({3}, 1)}});
  CHECK(hub_tensors{folder.path()}.find("model.up.absmax") != nullptr);
}
