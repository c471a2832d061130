#include "models/weights/hub_tensors.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/device/device_block.hpp"
#include "tests/support/hub_checkpoint.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace hub_tensors_test {

namespace fs = std::filesystem;

/// The message with which a folder is refused; empty if it is accepted.
std::string refusal_of(const fs::path& folder) {
  try {
    hub_tensors{folder};
    return {};
  } catch (const fault_error& e) {
    CHECK(e.what_happened().code == fault_code::bad_input);
    return e.what();
  }
}

std::string text_of_file(const fs::path& file) {
  std::ifstream in{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

void write_index(const fs::path& folder, const nlohmann::json& map) {
  write_text(folder / "model.safetensors.index.json", nlohmann::json{{"metadata", {}}, {"weight_map", map}}.dump());
}

/// "a" in one part and "b" in another.
void write_parts(const fs::path& folder) {
  write_tensors(folder / "model-1.safetensors", {{"a", ramp({2}, 1)}});
  write_tensors(folder / "model-2.safetensors", {{"b", ramp({3}, 2)}});
  write_index(folder, {{"a", "model-1.safetensors"}, {"b", "model-2.safetensors"}});
}

TEST_CASE("names with and without the base model's prefix, and old names of norms, are equivalent") {
  CHECK(canonical_name("transformer.h.0.ln_1.weight") == "h.0.ln_1.weight");
  CHECK(canonical_name("h.0.ln_1.weight") == "h.0.ln_1.weight");
  CHECK(canonical_name("model.layers.0.mlp.up_proj.weight") == "layers.0.mlp.up_proj.weight");
  CHECK(canonical_name("bert.embeddings.LayerNorm.gamma") == "embeddings.LayerNorm.weight");
  CHECK(canonical_name("bert.embeddings.LayerNorm.beta") == "embeddings.LayerNorm.bias");
  CHECK(canonical_name("classifier.1.weight") == "classifier.1.weight");
  CHECK(canonical_name("base_model.model.lm_head.base_layer.weight") == "lm_head.weight");
  CHECK(canonical_name("base_model.model.up_proj.lora_magnitude_vector.default.weight") ==
        "up_proj.lora_magnitude_vector");
}

TEST_CASE("a checkpoint in parts equals the one in a single file") {
  const temporary_folder one, parts;
  write_tensors(one.path() / "model.safetensors", {{"a", ramp({2}, 1)}, {"b", ramp({3}, 2)}});
  write_parts(parts.path());
  const hub_tensors whole{one.path()}, in_parts{parts.path()};
  REQUIRE(in_parts.find("b") != nullptr);
  CHECK(in_parts.find("b")->file.filename() == "model-2.safetensors");
  CHECK(std::ranges::equal(in_parts.find("b")->tensor.data, whole.find("b")->tensor.data));
  CHECK(in_parts.find("c") == nullptr);
  CHECK(in_parts.identity() == whole.identity());
}

TEST_CASE("weights of the same shapes with other values have another identity") {
  const temporary_folder a, b;
  write_tensors(a.path() / "model.safetensors", {{"a", ramp({2000}, 1)}});
  write_tensors(b.path() / "model.safetensors", {{"a", ramp({2000}, 2)}});
  CHECK(hub_tensors{a.path()}.identity() != hub_tensors{b.path()}.identity());
}

TEST_CASE("an index that contradicts its parts is refused with the file and the tensor") {
  const temporary_folder folder;
  write_parts(folder.path());
  CHECK(refusal_of(folder.path()).empty());
  write_index(folder.path(), {{"a", "model-1.safetensors"}, {"b", "model-3.safetensors"}});
  CHECK_THAT(refusal_of(folder.path()),
             Contains("index.json: 1 of the 2 files that it names are missing in this folder: model-3.safetensors; "));
  write_index(folder.path(), {{"a", "model-1.safetensors"}, {"b", "model-1.safetensors"}});
  CHECK_THAT(refusal_of(folder.path()), Contains("model-1.safetensors: has no tensor b"));
  write_index(folder.path(), {{"b", "model-2.safetensors"}, {"a", "../model-1.safetensors"}});
  CHECK_THAT(refusal_of(folder.path()), Contains("weight_map: a: \"../model-1.safetensors\" is not a name of a file"));
  write_index(folder.path(), {{"b", "model-2.safetensors"}, {"a", 1}});
  CHECK_THAT(refusal_of(folder.path()), Contains("weight_map: a: 1 is not a name of a file"));
  write_tensors(folder.path() / "model-1.safetensors", {{"a", ramp({2}, 1)}, {"c", ramp({2}, 1)}});
  write_index(folder.path(), {{"a", "model-1.safetensors"}, {"b", "model-2.safetensors"}});
  CHECK_THAT(refusal_of(folder.path()), Contains("model-1.safetensors: tensor c is not in "));
  write_text(folder.path() / "model.safetensors.index.json", "{}");
  CHECK_THAT(refusal_of(folder.path()), Contains("weight_map: is missing"));
  write_text(folder.path() / "model.safetensors.index.json", "{");
  CHECK_THAT(refusal_of(folder.path()), Contains("index.json holds no JSON object"));
}

TEST_CASE("names in messages about a checkpoint are on one line and short, whatever its files say") {
  const temporary_folder folder;
  write_parts(folder.path());
  const std::string forged = "x\nhydra: all is well" + std::string(1'000'000, 'y');
  write_index(folder.path(),
              {{"a", "model-1.safetensors"}, {"b", "model-2.safetensors"}, {forged, "model-1.safetensors"}});
  const std::string missing = refusal_of(folder.path());
  write_tensors(folder.path() / "model-1.safetensors", {{"a", ramp({2}, 1)}, {forged, ramp({2}, 1)}});
  write_index(folder.path(), {{"a", "model-1.safetensors"}, {"b", "model-2.safetensors"}});
  const std::string unlisted = refusal_of(folder.path());
  write_tensors(folder.path() / "model.safetensors", {{forged, ramp({2}, 1)}, {"vit." + forged, ramp({2}, 1)}});
  const std::string twice = refusal_of(folder.path());
  write_tensors(folder.path() / "model.safetensors",
                {{forged, ramp({2}, 1)}, {forged + ".absmax", ramp({2}, 1)}});
  for (const std::string& text : {missing, unlisted, twice, refusal_of(folder.path())}) {
    CHECK_THAT(text, Contains(R"(x\nhydra: all is well)") && !Contains("\n"));
    CHECK(text.size() < 2000);
  }
}

TEST_CASE("what wrappers of PyTorch put in front of all names is left out, and makes no other checkpoint of it") {
  const hub_test_tensors plain{{"model.norm.weight", ramp({2}, 1)}, {"lm_head.weight", ramp({3}, 2)}};
  const temporary_folder folder;
  write_tensors(folder.path() / "model.safetensors", plain);
  const std::string identity = hub_tensors{folder.path()}.identity();
  for (const std::string prefix : {"_orig_mod.", "module.", "model.", "module._orig_mod."}) {
    hub_test_tensors wrapped;
    for (const auto& [name, t] : plain) wrapped[prefix + name] = t;
    write_tensors(folder.path() / "model.safetensors", wrapped);
    const hub_tensors tensors{folder.path()};
    REQUIRE(tensors.find("lm_head.weight") != nullptr);
    CHECK(tensors.find("lm_head.weight")->name == prefix + "lm_head.weight");
    CHECK(tensors.find("model.norm.weight") != nullptr);
    CHECK(tensors.identity() == identity);
  }
  write_tensors(folder.path() / "model.safetensors", {{"module.a", ramp({2}, 1)}, {"b", ramp({3}, 2)}});
  CHECK(hub_tensors{folder.path()}.find("a") == nullptr);
}

TEST_CASE("a folder without safetensors, and a tensor that is stored twice, are refused") {
  const temporary_folder folder;
  CHECK_THAT(refusal_of(folder.path()), Contains("has neither model.safetensors nor model.safetensors.index.json; "));
  write_text(folder.path() / "pytorch_model.bin", "PK");
  write_text(folder.path() / "model-00001-of-00002.safetensors", "");
  CHECK_THAT(refusal_of(folder.path()),
             Contains("index.json, only model-00001-of-00002.safetensors, pytorch_model.bin; parts "));
  write_tensors(folder.path() / "model.safetensors",
                {{"wte.weight", ramp({2}, 1)}, {"transformer.wte.weight", ramp({2}, 1)}});
  CHECK_THAT(refusal_of(folder.path()), Contains("transformer.wte.weight and wte.weight are the same parameter"));
}

TEST_CASE("a file that ends anywhere before its end is refused with its name") {
  const temporary_folder folder;
  const fs::path file = folder.path() / "model.safetensors";
  write_tensors(file, {{"a", ramp({2}, 1)}, {"b", ramp({3}, 2)}});
  const std::string whole = text_of_file(file);
  for (std::size_t n = 0; n < whole.size(); ++n) {
    write_text(file, whole.substr(0, n));
    CHECK_THAT(refusal_of(folder.path()), Contains(file.string()));
  }
}

TEST_CASE("weights that differ only outside their middle have another identity") {
  const temporary_folder a, b;
  hub_test_tensor changed = ramp({4096}, 1);
  for (std::size_t i = 4 * 3000; i < 4 * 4000; ++i) changed.bytes[i] = '\1';
  write_tensors(a.path() / "model.safetensors", {{"a", ramp({4096}, 1)}});
  write_tensors(b.path() / "model.safetensors", {{"a", changed}});
  CHECK(hub_tensors{a.path()}.identity() != hub_tensors{b.path()}.identity());
}

}  // namespace hub_tensors_test
