#include "models/families/hub_folder.hpp"

#include "models/data/data_catalog.hpp"
#include "models/parameter_layout.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/storage/durable_folder.hpp"
#include "runtime/storage/mapped_file.hpp"
#include "tests/support/hub_checkpoint.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

namespace fs = std::filesystem;

std::shared_ptr<const data_source> text() {
  return open_data({synthetic_language{.symbols = 8, .order = 1, .tokens = 200, .validation_tokens = 0}}, 6);
}

chain built(const fs::path& folder, const from_options& options = {}) {
  return describe_from(folder, options).build(*text());
}

/// The message with which a checkpoint is refused; empty if it is accepted.
std::string refusal_of(const nlohmann::json& config, const hub_test_tensors& tensors, const from_options& options = {}) {
  const temporary_folder folder;
  write_checkpoint(folder.path(), config, tensors);
  try {
    built(folder.path(), options);
    return {};
  } catch (const fault_error& e) {
    CHECK(e.what_happened().code == fault_code::bad_input);
    CHECK_THAT(e.what(), Contains(folder.path().string()));
    return e.what();
  }
}

std::string refusal_with(const char* key, const nlohmann::json& value) {
  nlohmann::json config = tiny_gpt2_config();
  config[key] = value;
  return refusal_of(config, tiny_gpt2_tensors());
}

/// The initial values of a chain.
std::vector<float> values_of(const chain& model) {
  const parameter_layout layout{model, 0, model.size()};
  std::vector<float> values(layout.elements());
  layout.initialise(values, model, 1);
  return values;
}

std::vector<float> parameter(const chain& model, const std::string& name) {
  const parameter_layout layout{model, 0, model.size()};
  const std::vector<float> values = values_of(model);
  for (const placed_parameter& p : layout.parameters())
    if (p.name == name)
      return {values.begin() + static_cast<std::ptrdiff_t>(p.offset),
              values.begin() + static_cast<std::ptrdiff_t>(p.offset + p.elements)};
  FAIL(name);
  return {};
}

hub_test_tensors without_prefix(const hub_test_tensors& tensors) {
  hub_test_tensors renamed;
  for (const auto& [name, t] : tensors) renamed[name.substr(std::strlen("transformer."))] = t;
  return renamed;
}

}  // namespace

TEST_CASE("a checkpoint's chain starts with the checkpoint's values, tied copies with their owner's") {
  const temporary_folder folder;
  const hub_test_tensors tensors = tiny_gpt2_tensors();
  write_checkpoint(folder.path(), tiny_gpt2_config(), tensors);
  const chain model = built(folder.path());
  for (const char* const name : {"wte.weight", "h.0.attn.c_attn.weight", "ln_f.bias"}) {
    const std::string& bytes = tensors.at(std::string{"transformer."} + name).bytes;
    const std::vector<float> values = parameter(model, name);
    CHECK(std::string(reinterpret_cast<const char*>(values.data()), 4 * values.size()) == bytes);
  }
  CHECK(parameter(model, "lm_head.weight") == parameter(model, "wte.weight"));
}

TEST_CASE("names without the prefix, a tied head that is stored too, and buffers change nothing") {
  const temporary_folder plain, other;
  write_checkpoint(plain.path(), tiny_gpt2_config(), tiny_gpt2_tensors());
  hub_test_tensors tensors = without_prefix(tiny_gpt2_tensors());
  tensors["lm_head.weight"] = tensors.at("wte.weight");
  tensors["h.0.attn.bias"] = {stored_type::boolean, {1, 1, 6, 6}, std::string(36, '\1')};
  tensors["h.0.attn.masked_bias"] = ramp({}, -1e4f);
  write_checkpoint(other.path(), tiny_gpt2_config(), tensors);
  CHECK(values_of(built(plain.path())) == values_of(built(other.path())));
}

TEST_CASE("an owner that is stored only under its tied copy's name is found there") {
  const temporary_folder plain, other;
  hub_test_tensors tensors = tiny_gpt2_tensors();
  write_checkpoint(plain.path(), tiny_gpt2_config(), tensors);
  tensors["lm_head.weight"] = tensors.at("transformer.wte.weight");
  tensors.erase("transformer.wte.weight");
  write_checkpoint(other.path(), tiny_gpt2_config(), tensors);
  CHECK(values_of(built(plain.path())) == values_of(built(other.path())));
}

TEST_CASE("weights that do not match the model are refused, with file and tensor") {
  const auto bent = [](const auto& change) {
    hub_test_tensors tensors = tiny_gpt2_tensors();
    change(tensors);
    return refusal_of(tiny_gpt2_config(), tensors);
  };
  CHECK(bent([](hub_test_tensors&) {}).empty());
  CHECK_THAT(bent([](auto& t) { t.erase("transformer.h.0.ln_1.bias"); }),
             Contains("lacks 1 of 16 tensors: transformer.h.0.ln_1.bias"));
  CHECK_THAT(bent([](auto& t) { std::erase_if(t, [](const auto& e) { return e.first.find(".h.") != std::string::npos; }); }),
             Contains("lacks 12 of 16 tensors: ") && Contains(" and 7 more"));
  CHECK_THAT(bent([](auto& t) { t["transformer.h.1.ln_1.bias"] = ramp({4}, 0); }),
             Contains("model.safetensors: has tensors that are no parameters") && Contains("transformer.h.1.ln_1.bias"));
  CHECK_THAT(bent([](auto& t) { t["transformer.ln_f.bias"] = ramp({5}, 0); }),
             Contains("model.safetensors: tensor transformer.ln_f.bias: is [5]; ") && Contains("has [4]"));
  CHECK_THAT(bent([](auto& t) { t["transformer.h.0.mlp.c_fc.weight"] = ramp({16, 4}, 0); }), Contains("is [16, 4]; "));
  CHECK_THAT(bent([](auto& t) { t["transformer.ln_f.bias"] = {stored_type::f64, {4}, std::string(32, '\0')}; }),
             Contains("tensor transformer.ln_f.bias: is of type F64"));
}

TEST_CASE("values that are not finite are refused when they are read, with file, tensor and their number") {
  for (const float wrong : {std::nanf(""), INFINITY, -INFINITY}) {
    const temporary_folder folder;
    hub_test_tensors tensors = tiny_gpt2_tensors();
    std::memcpy(tensors["transformer.h.0.mlp.c_fc.weight"].bytes.data() + 8, &wrong, sizeof wrong);
    write_checkpoint(folder.path(), tiny_gpt2_config(), tensors);
    CHECK_THROWS_WITH(
        values_of(built(folder.path())),
        Contains("model.safetensors: tensor transformer.h.0.mlp.c_fc.weight: 1 of 64 values are not finite"));
  }
}

TEST_CASE("weights that differ from the SHA256SUMS next to them are refused when they are read, with the file") {
  const temporary_folder folder;
  const fs::path original = folder.path() / "original", stored = folder.path() / "stored";
  write_checkpoint(original, tiny_gpt2_config(), tiny_gpt2_tensors());
  durable_folder into{posix_file_system(), stored};
  for (const char* name : {"config.json", "model.safetensors"})
    into.write(name, [&](byte_sink& out) { out.add(mapped_file{original / name}.bytes()); });
  into.commit();
  write_text(stored / "README.md", "added later");
  CHECK(values_of(built(stored)) == values_of(built(original)));
  hub_test_tensors others = tiny_gpt2_tensors();
  others["transformer.ln_f.bias"] = ramp({4}, 7);
  write_tensors(stored / "model.safetensors", others);
  CHECK_THROWS_WITH(values_of(built(stored)),
                    Contains("stored is damaged: model.safetensors has the SHA-256") && Contains("remove SHA256SUMS"));
  fs::remove(stored / "SHA256SUMS");
  CHECK_NOTHROW(values_of(built(stored)));
}

TEST_CASE("a configuration that Hydra does not support is refused with file and key") {
  CHECK_THAT(refusal_with("architectures", {"GPT2LMHeadModle"}),
             Contains("config.json: architectures: ") && Contains("did you mean \"GPT2LMHeadModel\"?"));
  CHECK_THAT(refusal_with("architectures", nullptr), Contains("config.json: architectures: is no list"));
  CHECK_THAT(refusal_with("architectures", {1}), Contains("config.json: architectures: is no list"));
  CHECK_THAT(refusal_with("n_layer", "two"), Contains("config.json: n_layer: \"two\" is no integer"));
  CHECK_THAT(refusal_with("activation_function", "relu"), Contains("config.json: activation_function: "));
}

TEST_CASE("more layers than the folder has tensors are refused before the chain is built") {
  CHECK_THAT(refusal_with("n_layer", 1'000'000'000'000), Contains("config.json: n_layer: 1000000000000 layers") &&
                                                             Contains("has 16 tensors"));
  CHECK_THAT(refusal_with("depths", {1, 17}), Contains("config.json: depths: 17 layers"));
}

TEST_CASE("a folder that does not exist, or has no config.json, is refused") {
  const temporary_folder folder;
  CHECK_THROWS_WITH(describe_from(folder.path() / "missing", {}), Contains("missing is no folder"));
  CHECK_THROWS_WITH(describe_from(folder.path(), {}), Contains("config.json: no such file"));
  write_text(folder.path() / "config.json", "[]");
  CHECK_THROWS_WITH(describe_from(folder.path(), {}), Contains("config.json holds no JSON object"));
}

TEST_CASE("a shorter context than the checkpoint's is accepted, a longer one refused") {
  const temporary_folder folder;
  write_checkpoint(folder.path(), tiny_gpt2_config(), tiny_gpt2_tensors());
  CHECK(from_checkpoint(folder.path()).context == 6);
  CHECK(from_checkpoint(folder.path()).wants().checkpoint == folder.path());
  CHECK(from_checkpoint(folder.path(), {.context = 3}).context == 3);
  CHECK_THROWS_WITH(describe_from(folder.path(), {.context = 7}), Contains("config.json: n_positions: ") || Contains("7"));
}

TEST_CASE("a model that also reads images is refused with what to do") {
  nlohmann::json config = tiny_gpt2_config();
  config["architectures"] = {"Gemma3ForConditionalGeneration"};
  config["text_config"] = tiny_gpt2_config();
  CHECK_THAT(refusal_of(config, tiny_gpt2_tensors()),
             Contains("\"Gemma3ForConditionalGeneration\" also reads what is no text") && Contains("saved alone"));
}
