#include "models/data/tensor_samples.hpp"

#include "runtime/base/fault.hpp"
#include "tests/conformance/data.hpp"
#include "tests/models/data/read_sample.hpp"
#include "tests/support/stored_tensors.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <cstring>
#include <span>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace tensor_samples_test {

template <class Value>
stored_tensor tensor(stored_type type, std::vector<std::int64_t> shape, const std::vector<Value>& values) {
  return {type, std::move(shape), std::as_bytes(std::span{values})};
}

const std::vector<float> images{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
const std::vector<std::int64_t> classes{2, -100, 0};
const std::vector<float> sizes{1.5F, 2.5F, 3.5F};
const std::vector<std::uint8_t> flags{1, 0, 1};

named_tensor image() { return {"image", tensor(stored_type::f32, {3, 2, 2}, images)}; }
named_tensor target() { return {"target", tensor(stored_type::i64, {3}, classes)}; }
named_tensor size() { return {"size", tensor(stored_type::f32, {3, 1}, sizes)}; }
named_tensor flag() { return {"flag", tensor(stored_type::boolean, {3}, flags)}; }

struct files {
  temporary_folder folder;
  tensor_files of(const std::vector<named_tensor>& train, const std::vector<named_tensor>& validation = {}) const {
    tensor_files o{.train = folder.write("train.safetensors", safetensors_text(train))};
    if (!validation.empty()) o.validation = folder.write("validation.safetensors", safetensors_text(validation));
    return o;
  }
};

std::string refusal(const tensor_files& o, const std::vector<std::string>& inputs) {
  try {
    tensor_samples{o, inputs};
    return "";
  } catch (const fault_error& e) {
    return e.what_happened().text;
  }
}

TEST_CASE("tensors that a model does not take are named") {
  const files f;
  const tensor_files o = f.of({target(), image(), size(), flag()}, {target(), image()});
  CHECK(tensor_samples{o, {"image"}}.notes() ==
        std::vector<std::string>{o.train.string() + ": tensors that are not read: \"flag\", \"size\""});
}

TEST_CASE("a model that names no inputs gets the one tensor beside the target") {
  const files f;
  const tensor_samples data{f.of({target(), image()}, {target(), image()}), {}};
  conforms(data);
  CHECK(data.samples(split::train) == 3);
  CHECK(data.samples(split::validation) == 3);
  CHECK(data.sample_input() == tensor_spec{{2, 2}, element::f32});
  CHECK(data.sample_target() == tensor_spec{{}, element::i64});
  CHECK(data.classes() == 3);
  CHECK(data.sample_parts().empty());
  const auto second = read_sample<float>(data, 1);
  CHECK(second.input == std::vector<float>{4, 5, 6, 7});
  CHECK(second.target == std::vector<std::int64_t>{-100});
  CHECK(second.counted == 0);
  CHECK(read_sample<float>(data, 2).counted == 1);
}

TEST_CASE("a model that names its inputs gets them in a row of bits, each padded to 8 bytes") {
  const files f;
  const tensor_samples data{f.of({target(), image(), size(), flag()}), {"flag", "image", "size"}};
  conforms(data);
  CHECK(data.sample_input() == tensor_spec{{4}, element::bits});
  CHECK(to_string(data.sample_parts()) == "flag BOOL[], image F32[2, 2], size F32[1]");
  const auto third = read_sample<std::uint8_t>(data, 2);
  CHECK(third.input[0] == 1);
  float values[5];
  std::memcpy(values, third.input.data() + 8, 16);
  std::memcpy(values + 4, third.input.data() + 24, 4);
  CHECK(std::vector<float>(values, values + 5) == std::vector<float>{8, 9, 10, 11, 3.5F});
}

TEST_CASE("targets of numbers count each, and without a target each sample counts once") {
  const files f;
  tensor_files o = f.of({image(), size()});
  CHECK(read_sample<float, float>(tensor_samples{o, {"image", "size"}}, 0).target == std::vector<float>{0});
  CHECK(read_sample<float, float>(tensor_samples{o, {"image", "size"}}, 0).counted == 1);
  conforms(tensor_samples{o, {"image", "size"}});
  o.target = "size";
  const tensor_samples data{o, {}};
  conforms(data);
  CHECK(data.sample_target() == tensor_spec{{1}, element::f32});
  CHECK(data.classes() == 1);
  CHECK(read_sample<float, float>(data, 1).target == std::vector<float>{2.5F});
}

TEST_CASE("files of tensors that a model cannot take are refused with file and tensor") {
  const files f;
  CHECK_THAT(
      refusal(f.of({target(), image()}), {"pixels"}),
      Contains("train.safetensors: there is no tensor \"pixels\", which the model takes; there are: target, image"));
  CHECK_THAT(refusal(f.of({target(), image(), size()}), {}), Contains("there are 2: image, size"));
  CHECK_THAT(refusal(f.of({target(), flag()}), {}),
             Contains("\"flag\" is of type BOOL; a model of one input takes F32, F16, BF16 or I64"));
  CHECK_THAT(
      refusal(f.of({image(), {"target", tensor(stored_type::i64, {3}, std::vector<std::int64_t>{1, -1, 0})}}), {}),
      Contains("tensor \"target\": -1 is not a class"));
  CHECK_THAT(refusal(f.of({image(), {"target", tensor(stored_type::i64, {1}, std::vector<std::int64_t>{1})}}), {}),
             Contains("tensor \"target\" is of 1 samples, and tensor \"image\" of 3"));
  CHECK_THAT(refusal(f.of({target(), image()}, {target(), size()}), {"image"}),
             Contains("there is no tensor \"image\""));
  CHECK_THAT(refusal(f.of({target(), image()}, {target(), {"image", tensor(stored_type::f32, {3, 1}, sizes)}}), {}),
             Contains("validation.safetensors: tensor \"image\" has another type or shape than in"));
}

TEST_CASE("the fingerprint of files of tensors follows their contents and what is read of them") {
  const files f;
  const auto print = [&](const std::vector<named_tensor>& tensors, const std::vector<std::string>& inputs) {
    return tensor_samples{f.of(tensors), inputs}.fingerprint();
  };
  const std::string one = print({target(), image(), size()}, {"image"});
  CHECK(one == print({target(), image(), size()}, {"image"}));
  CHECK(one != print({target(), image(), size()}, {"size"}));
  CHECK(one != print({target(), image()}, {"image"}));
}

}  // namespace tensor_samples_test
