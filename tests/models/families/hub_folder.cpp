#include "models/families/hub_folder.hpp"

#include "models/data/data_catalog.hpp"
#include "models/families/llama/llama.hpp"
#include "models/families/phi3/phi3.hpp"
#include "models/parameter_layout.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/storage/durable_folder.hpp"
#include "runtime/storage/mapped_file.hpp"
#include "tests/support/four_bit_tensors.hpp"
#include "tests/support/masked_samples.hpp"
#include "tests/support/hub_checkpoint.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;

namespace {

namespace fs = std::filesystem;

std::shared_ptr<const data_source> text() {
  return open_data({synthetic_language{.symbols = 8, .order = 1, .tokens = 200, .validation_tokens = 0}}, 6);
}

chain built(const fs::path& folder, const from_options& options = {}) {
  return describe_from(folder, options).build(*text());
}

/// The message with which a checkpoint is refused; empty if it is accepted.
std::string refusal_of(const nlohmann::json& config, const hub_test_tensors& tensors,
                       const from_options& options = {}) {
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

/// Ids below a number: windows of 6.
class few_ids final : public data_source {
 public:
  explicit few_ids(std::int64_t classes) : classes_{classes} {}
  std::size_t samples(split) const override { return 0; }
  tensor_spec sample_input() const override { return {{6}, element::i64}; }
  tensor_spec sample_target() const override { return sample_input(); }
  std::int64_t classes() const override { return classes_; }
  std::size_t read(split, std::size_t, std::span<std::byte>, std::span<std::byte>) const override { return 0; }
  std::string describe() const override { return "few ids"; }

 private:
  std::int64_t classes_;
};

/// Every parameter that is not tied.
hub_test_tensors tensors_of(const chain& model) {
  hub_test_tensors tensors;
  for (std::size_t i = 0; i < model.size(); ++i)
    for (const parameter_spec& p : model.parameters(i))
      if (p.tied_to.empty()) tensors[model.stored_name(p.name)] = ramp(p.shape, 1);
  return tensors;
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
  CHECK_THAT(
      bent([](auto& t) { std::erase_if(t, [](const auto& e) { return e.first.find(".h.") != std::string::npos; }); }),
      Contains("lacks 12 of 16 tensors: ") && Contains(" and 7 more"));
  CHECK_THAT(
      bent([](auto& t) { t["transformer.h.1.ln_1.bias"] = ramp({4}, 0); }),
      Contains("model.safetensors: has tensors that are not parameters") && Contains("transformer.h.1.ln_1.bias"));
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
                    Contains("stored is damaged: model.safetensors has the SHA-256") && Contains("remove SHA256SUMS") &&
                        Contains("when weights are read, which hydra plan does not"));
  fs::remove(stored / "SHA256SUMS");
  CHECK_NOTHROW(values_of(built(stored)));
}

TEST_CASE("a configuration that Hydra does not support is refused with file and key") {
  CHECK_THAT(refusal_with("architectures", {"MixtralForCausalLM"}),
             Contains("config.json: architectures: ") && Contains("(known: BertForMaskedLM, ") &&
                 !Contains("did you mean"));
  CHECK_THAT(refusal_with("architectures", nullptr), Contains("config.json: architectures: is not a list"));
  CHECK_THAT(refusal_with("architectures", {1}), Contains("config.json: architectures: is not a list"));
  CHECK_THAT(refusal_with("n_layer", "two"), Contains("config.json: n_layer: \"two\" is not an integer"));
  CHECK_THAT(refusal_with("activation_function", "relu"), Contains("config.json: activation_function: "));
}

TEST_CASE("a type of another model than the architecture's is refused: transformers goes by it") {
  CHECK_THAT(refusal_with("model_type", "mistral"),
             Contains("config.json: model_type: \"mistral\" is the model that") &&
                 Contains("GPT2LMHeadModel, whose type is \"gpt2\""));
  CHECK_THAT(refusal_with("model_type", 1), Contains("config.json: model_type: 1 is not text"));
  CHECK(refusal_with("model_type", nullptr).empty());
}

TEST_CASE("the export of a config.json without a type has that of its architecture") {
  const temporary_folder folder;
  for (const bool null : {false, true}) {
    nlohmann::json config = tiny_gpt2_config();
    config.erase("model_type");
    if (null) config["model_type"] = nullptr;
    write_checkpoint(folder.path(), config, tiny_gpt2_tensors());
    CHECK(nlohmann::json::parse(built(folder.path()).hub().config).at("model_type") == "gpt2");
    CHECK(built(folder.path()).notes().empty());
  }
}

TEST_CASE("more layers than the folder has tensors are refused before the chain is built") {
  CHECK_THAT(refusal_with("n_layer", 1'000'000'000'000), Contains("config.json: n_layer: 1000000000000 layers") &&
                                                             Contains("has 16 tensors"));
  CHECK_THAT(refusal_with("depths", {1, 17}), Contains("config.json: depths: 17 layers"));
}

TEST_CASE("a folder that does not exist, or has no config.json, is refused") {
  const temporary_folder folder;
  CHECK_THROWS_WITH(describe_from(folder.path() / "missing", {}), Contains("missing is not a folder"));
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
  CHECK_THROWS_WITH(describe_from(folder.path(), {.context = 7}),
                    Contains("config.json: n_positions: ") || Contains("7"));
}

TEST_CASE("samples that are longer than the tokenizer's texts were are a note") {
  const temporary_folder folder;
  write_checkpoint(folder.path(), tiny_gpt2_config(), tiny_gpt2_tensors());
  const auto notes_with = [&](const std::string& longest, std::int64_t context) {
    write_text(folder.path() / "tokenizer_config.json", "{\"model_max_length\": " + longest + "}");
    const auto data = open_data({synthetic_language{.symbols = 8, .tokens = 200, .validation_tokens = 0}}, context);
    return describe_from(folder.path(), {.context = context}).build(*data).notes();
  };
  CHECK(notes_with("1000000000000000019884624838656", 6).empty());
  CHECK(notes_with("5", 5).empty());
  const std::vector<std::string> notes = notes_with("5", 6);
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0], Contains("tokenizer_config.json: model_max_length = 5 is not used: the context is 6 tokens"));
}

TEST_CASE("a generation_config.json is read before a training, which would be exported with it") {
  const temporary_folder folder;
  write_checkpoint(folder.path(), tiny_gpt2_config(), tiny_gpt2_tensors());
  const auto notes_with = [&](const std::string& text) {
    write_text(folder.path() / "generation_config.json", text);
    return built(folder.path()).notes();
  };
  CHECK(notes_with(R"({"eos_token_id": 3, "top_k": "no matter"})").empty());
  CHECK(notes_with(R"({"eos_token_id": [3, 4]})").empty());
  CHECK(notes_with(R"({"eos_token_id": null})").empty());
  const auto wrong = notes_with(R"({"eos_token_id": [3, "</s>"]})");
  REQUIRE(wrong.size() == 1);
  CHECK_THAT(wrong[0], Contains("generation_config.json: eos_token_id = [3,\"</s>\"]: an export leaves out"));
  CHECK_THROWS_WITH(notes_with("{\"eos_token_id\": 3"), Contains("generation_config.json"));
}

TEST_CASE("a model that also reads images is refused with what to do") {
  nlohmann::json config = tiny_gpt2_config();
  config["architectures"] = {"Gemma3ForConditionalGeneration"};
  config["text_config"] = tiny_gpt2_config();
  CHECK_THAT(refusal_of(config, tiny_gpt2_tensors()),
             Contains("\"Gemma3ForConditionalGeneration\" also reads what is not text") && Contains("saved alone"));
}

TEST_CASE("a head that config.json ties and the file has with other values is one of its own, as in transformers") {
  const temporary_folder folder;
  hub_test_tensors tensors = tiny_gpt2_tensors();
  tensors["lm_head.weight"] = ramp({8, 4}, 3);
  write_checkpoint(folder.path(), tiny_gpt2_config(), tensors);
  const chain model = built(folder.path());
  CHECK(parameter(model, "lm_head.weight").front() == 3.0f);
  CHECK(parameter(model, "wte.weight").front() == 1.0f);
  CHECK(nlohmann::json::parse(model.hub().config).at("tie_word_embeddings") == false);
  REQUIRE(model.notes().size() == 1);
  CHECK_THAT(model.notes().front(), Contains("config.json ties tensors that have different values, lm_head.weight and "
                                             "transformer.wte.weight: both are trained"));
  tensors["lm_head.weight"] = tensors.at("transformer.wte.weight");
  write_checkpoint(folder.path(), tiny_gpt2_config(), tensors);
  CHECK(built(folder.path()).notes().empty());
  CHECK_FALSE(nlohmann::json::parse(built(folder.path()).hub().config).contains("tie_word_embeddings"));
}

TEST_CASE("a decoder or a bias of its own, which Hydra's BERT does not have, is refused by name") {
  const temporary_folder folder;
  const masked_samples data{{}};
  const nlohmann::json config{{"architectures", {"BertForMaskedLM"}}, {"hidden_size", 4}, {"num_hidden_layers", 1},
                              {"num_attention_heads", 2}, {"intermediate_size", 8}, {"max_position_embeddings", 6},
                              {"vocab_size", 11}};
  const chain plain = architectures().front().read(model_config{"config.json", config}, {}).build(data);
  const hub_test_tensors tensors = tensors_of(plain);
  const auto read_with = [&](const char* name, const hub_test_tensor& t, const from_options& options = {}) {
    hub_test_tensors more = tensors;
    more[name] = t;
    write_checkpoint(folder.path(), config, more);
    return describe_from(folder.path(), options).build(data);
  };
  const char *const weight = "cls.predictions.decoder.weight", *const bias = "cls.predictions.decoder.bias";
  CHECK(read_with(weight, ramp({11, 4}, 1)).notes().empty());
  CHECK(read_with(bias, ramp({11}, 1)).notes().empty());
  CHECK_THROWS_WITH(read_with(weight, ramp({11, 4}, 2)),
                    Contains("values, cls.predictions.decoder.weight and bert.embeddings.word_embeddings.weight: ") &&
                        Contains("config.json: tie_word_embeddings: false"));
  CHECK_THROWS_WITH(read_with(bias, ramp({11}, 2)), Contains("cls.predictions.decoder.bias and cls.predictions.bias"));
  const chain fresh = read_with(weight, ramp({11, 4}, 2), {.head = "masked-lm"});
  REQUIRE(fresh.notes().size() == 1);
  CHECK_THAT(fresh.notes().front(), Contains("has no such head or a new one: cls.predictions.decoder.weight"));
}

TEST_CASE("a new head begins by Hydra's rule, which a note says where config.json has another deviation") {
  const temporary_folder folder;
  const masked_samples data{{.classes = 3}};
  nlohmann::json config{{"architectures", {"BertForMaskedLM"}}, {"hidden_size", 4}, {"num_hidden_layers", 1},
                        {"num_attention_heads", 2}, {"intermediate_size", 8}, {"max_position_embeddings", 6},
                        {"vocab_size", 11}};
  const from_options options{.head = "classification"};
  hub_test_tensors tensors =
      tensors_of(architectures().front().read(model_config{"config.json", config}, options).build(data));
  std::erase_if(tensors, [](const auto& t) { return t.first.starts_with("classifier."); });
  const auto notes_with = [&](double deviation) {
    config["initializer_range"] = deviation;
    write_checkpoint(folder.path(), config, tensors);
    return describe_from(folder.path(), options).build(data).notes();
  };
  CHECK(notes_with(0.02).empty());
  CHECK(notes_with(0.5) == std::vector{(folder.path() / "config.json").string() +
                                       ": initializer_range = 0.5 is not used: the new head begins with 0.02"});
  nlohmann::json complete = tiny_gpt2_config();
  complete["initializer_range"] = 0.5;
  write_checkpoint(folder.path(), complete, tiny_gpt2_tensors());
  CHECK(built(folder.path()).notes().empty());
}

TEST_CASE("a quantised checkpoint is refused as what it is, a stale quantization_config is not") {
  nlohmann::json config = tiny_gpt2_config();
  config["quantization_config"] = {{"quant_method", "bitsandbytes"}, {"load_in_4bit", true}};
  CHECK(refusal_of(config, tiny_gpt2_tensors()).empty());
  const auto stored_as = [&](const std::string& suffix, stored_type type) {
    hub_test_tensors tensors = tiny_gpt2_tensors();
    tensors.erase("transformer.h.0.mlp.c_fc.weight");
    tensors["transformer.h.0.mlp.c_fc." + suffix] = {type, {8}, std::string(8 * width_of(type), '\0')};
    return refusal_of(config, tensors);
  };
  CHECK_THAT(
      stored_as("weight", stored_type::u8),
      Contains("quantised already (quant_method = \"bitsandbytes\"): tensor transformer.h.0.mlp.c_fc.weight is U8 "
               "[8]") &&
          Contains("16 or 32 bits") && Contains("base = \"nf4\""));
  CHECK_THAT(stored_as("weight", stored_type::f8_e4m3), Contains("quantised already"));
  CHECK_THAT(stored_as("qweight", stored_type::i32), Contains("quantised already"));
  CHECK_THAT(stored_as("weight", stored_type::f64), Contains("is [8]; ") && !Contains("quantised"));
}

TEST_CASE("weights of bitsandbytes in 4 bits are read, those of GPT-2's maps transposed, and a note says it") {
  const temporary_folder folder;
  nlohmann::json config = tiny_gpt2_config();
  config["quantization_config"] = {{"quant_method", "bitsandbytes"}, {"load_in_4bit", true}};
  hub_test_tensors tensors = tiny_gpt2_tensors();
  const char* const name = "transformer.h.0.mlp.c_fc.weight";
  add_four_bits(tensors, name, {16, 4});
  write_checkpoint(folder.path(), config, tensors);
  const chain model = built(folder.path());
  const std::vector<float> stored = values_of_four_bits(64), read = parameter(model, "h.0.mlp.c_fc.weight");
  for (std::size_t i = 0; i < 64; ++i) CHECK(read[i % 4 * 16 + i / 4] == stored[i]);
  REQUIRE(model.notes().size() == 1);
  CHECK_THAT(model.notes().front(),
             Contains(": 1 weight in 4 bits (nf4 of bitsandbytes), read as the values that the codes stand for") &&
                 EndsWith("; base = \"nf4\" stores what is frozen in 4 bits again"));
  CHECK_FALSE(nlohmann::json::parse(model.hub().config).contains("quantization_config"));
  add_four_bits(tensors, name, {4, 16});
  CHECK_THAT(refusal_of(config, tensors),
             Contains(name) && Contains("is [4, 16]; the model that config.json describes has [16, 4]"));
  tensors.erase(std::string{name} + ".absmax");
  CHECK_THAT(refusal_of(config, tensors), Contains("absmax is missing"));
}

TEST_CASE("a note says which weights in 4 bits base = \"nf4\" would round again: those in blocks of another size") {
  const temporary_folder folder;
  hub_test_tensors tensors = tiny_gpt2_tensors();
  const std::string name = "transformer.h.0.mlp.c_fc.weight", blocks = "\"blocksize\": 64";
  add_four_bits(tensors, name, {16, 4});
  hub_test_tensor& state = tensors.at(name + ".quant_state.bitsandbytes__nf4");
  std::string text = state.bytes;
  REQUIRE(text.find(blocks) != std::string::npos);
  state = tensor_of_text(text.replace(text.find(blocks), blocks.size(), "\"blocksize\": 128"));
  write_checkpoint(folder.path(), tiny_gpt2_config(), tensors);
  const std::vector<std::string> notes = built(folder.path()).notes();
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0], EndsWith("again, and rounds what was not nf4 in blocks of 64"));
}

TEST_CASE(
    "folders that are taken for that of a model are named as what they are, and files that are not read in notes") {
  const temporary_folder folder;
  fs::create_directory(folder.path() / "snapshots");
  CHECK_THROWS_WITH(describe_from(folder.path(), {}), Contains("is a folder of Hugging Face's cache"));
  write_text(folder.path() / "adapter_config.json", "{}");
  CHECK_THROWS_WITH(describe_from(folder.path(), {}), Contains("is the folder of an adapter: write chain = { from = "));
  write_checkpoint(folder.path(), tiny_gpt2_config(), tiny_gpt2_tensors());
  write_text(folder.path() / "model.safetensors.index.json", "{}");
  for (const char* const name :
       {"tekken.json", "modules.json", "trainer_state.json", "vocab.json", "README.md", "a.bin", "configuration.json",
        "predict_results.json", "unigram.json", "generation_config_for_text_generation.json",
        "generation_config_for_conversational.json"})
    write_text(folder.path() / name, "{}");
  const std::vector<std::string> notes = built(folder.path()).notes();
  REQUIRE(notes.size() == 3);
  CHECK_THAT(notes[0], Contains("index.json: the parts that it names are not read"));
  CHECK_THAT(notes[1], Contains("adapter_config.json: the adapter is not used"));
  CHECK_THAT(notes[2], EndsWith(": Hydra does not read modules.json, tekken.json"));
}

TEST_CASE("weights of another save and further chat templates beside what is read are named in notes") {
  const temporary_folder folder;
  write_checkpoint(folder.path(), tiny_gpt2_config(), tiny_gpt2_tensors());
  const char* const part = "model-00001-of-00001.safetensors";
  write_tensors(folder.path() / part, tiny_gpt2_tensors());
  fs::create_directory(folder.path() / "additional_chat_templates");
  const std::vector<std::string> notes = built(folder.path()).notes();
  REQUIRE(notes.size() == 2);
  CHECK_THAT(notes[0], EndsWith(std::string{"model.safetensors: has the weights that are read, not "} + part));
  CHECK_THAT(notes[1], EndsWith(": Hydra does not read additional_chat_templates"));
  nlohmann::json map;
  for (const auto& [name, t] : tiny_gpt2_tensors()) map[name] = part;
  write_text(folder.path() / "model.safetensors.index.json", nlohmann::json{{"weight_map", map}}.dump());
  CHECK_THAT(built(folder.path()).notes().front(), Contains("index.json: the parts that it names are not read"));
  fs::rename(folder.path() / "model.safetensors", folder.path() / "model-00002-of-00002.safetensors");
  CHECK_THAT(built(folder.path()).notes().front(),
             EndsWith("index.json: names the weights that are read, not model-00002-of-00002.safetensors"));
}

TEST_CASE("padding that is counted from the end of the vocabulary stays the token that it was when tokens are added") {
  const chain stored = llama({.layers = 1, .width = 8, .heads = 2, .hidden = 12, .context = 6}).build(few_ids{8});
  nlohmann::json config = nlohmann::json::parse(stored.hub().config);
  config["pad_token_id"] = -1;
  const temporary_folder folder;
  write_checkpoint(folder.path(), config, tensors_of(stored));
  const auto embedding_of = [&](const from_options& options, std::int64_t ids) {
    return describe_from(folder.path(), options).build(few_ids{ids}).at(0).body->signature();
  };
  CHECK_THAT(embedding_of({}, 8), Contains(" padding=7"));
  CHECK_THAT(embedding_of({.tokens = {"<x>", "<y>"}}, 10), Contains("vocabulary=10 ") && Contains(" padding=7"));
}

TEST_CASE("a new token is not the padding that Phi-3 has where config.json names none") {
  const chain stored =
      phi3({.layers = 1, .width = 2, .heads = 1, .hidden = 2, .context = 6}).build(few_ids{32000});
  nlohmann::json config = nlohmann::json::parse(stored.hub().config);
  config.erase("pad_token_id");
  const temporary_folder folder;
  write_checkpoint(folder.path(), config, tensors_of(stored));
  const chain grown = describe_from(folder.path(), {.tokens = {"<x>"}}).build(few_ids{32001});
  CHECK_THAT(grown.at(0).body->signature(), Contains("vocabulary=32001 ") && !Contains("padding"));
  CHECK(nlohmann::json::parse(grown.hub().config).at("pad_token_id").is_null());
}

TEST_CASE("a vocabulary gets rows for the tokens that are named, and not for others of a tokenizer") {
  const temporary_folder folder;
  write_checkpoint(folder.path(), tiny_gpt2_config(), tiny_gpt2_tensors());
  const auto rows_for = [&](std::vector<std::string> tokens, std::int64_t ids) {
    return describe_from(folder.path(), {.tokens = std::move(tokens)})
        .build(few_ids{ids})
        .outputs(1)
        .back()
        .shape.back();
  };
  CHECK(rows_for({"<x>", "<y>"}, 8) == 8);
  CHECK(rows_for({"<x>", "<y>"}, 9) == 9);
  CHECK(rows_for({"<x>", "<y>"}, 10) == 10);
  CHECK_THROWS_WITH(rows_for({"<x>", "<y>"}, 11), Contains("few ids has token ids up to 10") && Contains("tokens = ["));
  CHECK_THROWS_WITH(rows_for({"<x>", "<x>"}, 10), Contains("vocabulary is 9"));
}

TEST_CASE("tokens are refused by what is wrong: an empty one, or a model without a vocabulary") {
  const temporary_folder folder;
  write_checkpoint(folder.path(), tiny_gpt2_config(), tiny_gpt2_tensors());
  CHECK_THROWS_WITH(describe_from(folder.path(), {.tokens = {"<x>", ""}}), Contains("\"tokens\" has an empty one"));
  const nlohmann::json images{{"architectures", {"ViTForImageClassification"}}, {"hidden_size", 4}, {"image_size", 4},
                              {"patch_size", 2}, {"num_hidden_layers", 1}, {"num_attention_heads", 2},
                              {"intermediate_size", 8}};
  write_checkpoint(folder.path(), images, tiny_gpt2_tensors());
  CHECK_THROWS_WITH(describe_from(folder.path(), {.tokens = {"<x>"}}),
                    Contains("config.json: vocab_size: is missing: this model has no vocabulary"));
}
