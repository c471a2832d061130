#include "models/weights/adapter_folder.hpp"

#include "models/data/data_catalog.hpp"
#include "models/families/catalog.hpp"
#include "models/families/gpt2/gpt2.hpp"
#include "models/families/hub_folder.hpp"
#include "models/weights/hub_tensors.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/device/device_block.hpp"
#include "runtime/storage/durable_folder.hpp"
#include "tests/support/hub_checkpoint.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <fstream>
#include <set>
#include <span>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const data_source& text() {
  static const auto data =
      open_data({synthetic_language{.symbols = 8, .order = 1, .tokens = 200, .validation_tokens = 0}}, 6);
  return *data;
}

/// A tiny GPT-2 and a stored adapter of it, as PEFT writes it.
struct stored_adapter {
  stored_adapter() {
    write_checkpoint(base(), tiny_gpt2_config(), tiny_gpt2_tensors());
    write(config(), tensors());
  }

  fs::path base() const { return folder.path() / "base"; }
  fs::path adapter() const { return folder.path() / "adapter"; }

  json config() const {
    return {{"peft_type", "LORA"},
            {"r", 2},
            {"lora_alpha", 6},
            {"lora_dropout", 0.25},
            {"use_rslora", false},
            {"bias", "none"},
            {"use_dora", false},
            {"rank_pattern", json::object()},
            {"modules_to_save", json::array({"ln_f"})},
            {"layers_to_transform", nullptr},
            {"fan_in_fan_out", true},
            {"target_modules", json::array({"c_attn"})},
            {"base_model_name_or_path", base().string()}};
  }

  static hub_test_tensors tensors() {
    const std::string start = "base_model.model.transformer.";
    return {{start + "h.0.attn.c_attn.lora_A.weight", ramp({2, 4}, 20)},
            {start + "h.0.attn.c_attn.lora_B.weight", ramp({12, 2}, 21)},
            {start + "ln_f.weight", ramp({4}, 22)},
            {start + "ln_f.bias", ramp({4}, 23)}};
  }

  void write(const json& config, const hub_test_tensors& tensors) const {
    fs::create_directories(adapter());
    write_text(adapter() / "adapter_config.json", config.dump());
    write_tensors(adapter() / "adapter_model.safetensors", tensors);
  }

  /// The adapter of a chain, written into a folder.
  fs::path written(const chain& adapted) const {
    const hub_tensors stored{adapter(), "adapter_model"};
    const fs::path copy = folder.path() / "copy";
    durable_folder into{posix_file_system(), copy};
    write_adapter_files(
        into, adapted, [&](const parameter_spec& p) { return stored.find(p.name)->tensor; }, base());
    into.commit();
    return copy;
  }

  /// A base with a head of its own, and an adapter that adds to it, too: PEFT stores the head's weight beside that.
  void adapt_own_head(float first) const {
    json base_config = tiny_gpt2_config(), own = config();
    base_config["tie_word_embeddings"] = false;
    auto base_tensors = tiny_gpt2_tensors();
    base_tensors["lm_head.weight"] = ramp({8, 4}, 30);
    write_checkpoint(base(), base_config, base_tensors);
    own["target_modules"] = {"c_attn", "lm_head"};
    own["base_model_name_or_path"] = nullptr;
    auto more = tensors();
    more["base_model.model.lm_head.lora_A.weight"] = ramp({2, 4}, 40);
    more["base_model.model.lm_head.lora_B.weight"] = ramp({8, 2}, 41);
    more["base_model.model.lm_head.base_layer.weight"] = ramp({8, 4}, first);
    write(own, more);
  }

  chain read() const { return adapter_folder{adapter()}.adapt(describe_from(base(), {}).build(text())); }

  std::string refusal() const {
    try {
      read();
    } catch (const fault_error& e) {
      CHECK(e.what_happened().code == fault_code::bad_input);
      return e.what_happened().text;
    }
    return "accepted";
  }

  std::string refusal_with(const std::string& key, const json& value) const {
    json changed = config();
    changed[key] = value;
    write(changed, tensors());
    return refusal();
  }

  temporary_folder folder;
};

std::vector<float> values_of(const chain& c, const std::string& name) {
  for (std::size_t i = 0; i < c.size(); ++i)
    for (const parameter_spec& p : c.parameters(i))
      if (p.name == name) {
        std::vector<float> values(static_cast<std::size_t>(p.elements()));
        REQUIRE(c.weights()->read(p, values));
        return values;
      }
  FAIL("no " << name);
  return {};
}

}  // namespace

TEST_CASE("a stored adapter decides options and initial values") {
  const stored_adapter stored;
  const chain c = stored.read();
  c.validate();
  REQUIRE(adapter_of(c));
  CHECK(*adapter_of(c) ==
        lora_options{.rank = 2, .alpha = 6, .dropout = 0.25, .targets = {"c_attn"}, .also_train = {"ln_f"}});
  CHECK(values_of(c, "h.0.attn.c_attn.lora_A.weight").front() == 20);
  CHECK(values_of(c, "h.0.attn.c_attn.lora_B.weight").front() == 21);
  CHECK(values_of(c, "ln_f.weight").front() == 22);
  CHECK(values_of(c, "h.0.attn.c_attn.weight") ==
        values_of(describe_from(stored.base(), {}).build(text()), "h.0.attn.c_attn.weight"));
}

TEST_CASE("what comes from the base has the base's origin, whatever adapter is added") {
  const stored_adapter stored;
  const chain base = describe_from(stored.base(), {}).build(text()), c = stored.read();
  CHECK(c.weights()->origin("h.0.ln_1.weight") == base.weights()->origin("h.0.ln_1.weight"));
  CHECK(c.weights()->origin("ln_f.weight") != base.weights()->origin("ln_f.weight"));
  CHECK(c.weights()->origin("nothing").empty());
  CHECK(c.weights()->identity() != base.weights()->identity());
}

TEST_CASE("an adapter that is written is read again") {
  const stored_adapter stored;
  const chain c = stored.read();
  const hub_tensors tensors{stored.adapter(), "adapter_model"};
  const fs::path copy = stored.folder.path() / "copy";
  durable_folder into{posix_file_system(), copy};
  write_adapter_files(
      into, c, [&](const parameter_spec& p) { return tensors.find(p.name)->tensor; }, stored.base());
  into.commit();
  const chain again = adapter_folder{copy}.adapt(describe_from(stored.base(), {}).build(text()));
  CHECK(*adapter_of(again) == *adapter_of(c));
  const auto names = adapted_modules(c);
  CHECK(names == std::vector<std::string>{"transformer.h.0.attn.c_attn"});
  for (const char* const name :
       {"h.0.attn.c_attn.lora_A.weight", "h.0.attn.c_attn.lora_B.weight", "ln_f.weight", "ln_f.bias"})
    CHECK(values_of(again, name) == values_of(c, name));
  const json config = json::parse(std::ifstream{copy / "adapter_config.json"});
  CHECK(config["fan_in_fan_out"] == true);
  CHECK(config["task_type"] == "CAUSAL_LM");
  CHECK(config["base_model_name_or_path"] == stored.base().string());
}

TEST_CASE("an adapter of another base is refused, where it is known") {
  const stored_adapter stored;
  auto other = tiny_gpt2_tensors();
  other.at("transformer.wpe.weight") = ramp({6, 4}, 99);
  const fs::path base = stored.folder.path() / "other";
  write_checkpoint(base, tiny_gpt2_config(), other);
  const adapter_folder adapter{stored.adapter()};
  CHECK_THROWS_WITH(adapter.adapt(describe_from(base, {}).build(text())),
                    Contains("adapter of another base") && Contains("as those of a copy in 4 bits do") &&
                        Contains("chain = { from = \"" + stored.base().string() + "\" }, and base = \"nf4\""));

  // What Hydra writes names the base by its contents, too.
  const hub_tensors tensors{stored.adapter(), "adapter_model"};
  const fs::path copy = stored.folder.path() / "copy";
  durable_folder into{posix_file_system(), copy};
  write_adapter_files(
      into, stored.read(), [&](const parameter_spec& p) { return tensors.find(p.name)->tensor; }, stored.base());
  into.commit();
  const fs::path moved = stored.folder.path() / "moved";
  fs::rename(stored.base(), moved);
  const adapter_folder of_moved{copy};
  CHECK_NOTHROW(of_moved.adapt(describe_from(moved, {}).build(text())));
  CHECK_THROWS_WITH(of_moved.adapt(describe_from(base, {}).build(text())), Contains("adapter of another base"));
  CHECK_NOTHROW(
      adapter.adapt(describe_from(base, {}).build(text())));  // PEFT's names a folder that is gone: nothing is known
}

TEST_CASE("a stored adapter that Hydra cannot train is refused with file and key") {
  const stored_adapter stored;
  CHECK_THAT(stored.refusal_with("peft_type", "IA3"),
             Contains("adapter_config.json: peft_type: \"IA3\" is not supported"));
  CHECK_THAT(stored.refusal_with("use_dora", true),
             Contains("lacks tensor") && Contains("c_attn.lora_magnitude_vector"));
  CHECK_THAT(stored.refusal_with("lora_bias", true), Contains("lora_bias: true is not supported"));
  CHECK_THAT(stored.refusal_with("bias", "some"), Contains("bias: \"some\" is none of \"none\", \"lora_only\" and"));
  CHECK_THAT(stored.refusal_with("bias", "lora_only"), Contains("lacks tensor transformer.h.0.attn.c_attn.bias"));
  CHECK_THAT(stored.refusal_with("init_lora_weights", "pissa"),
             Contains("init_lora_weights") && Contains("changed base"));
  CHECK(stored.refusal_with("init_lora_weights", true) == "accepted");
  CHECK_THAT(stored.refusal_with("alora_invocation_tokens", {1}), Contains("alora_invocation_tokens"));
  CHECK_THAT(stored.refusal_with("lora_alpha", 0), Contains("lora_alpha"));
  CHECK(stored.refusal_with("modules_to_save", {"ln_f", "classifier", "score"}) == "accepted");
  CHECK_THAT(stored.refusal_with("rank_pattern", {{"c_attn", 8}}),
             Contains("lora_A.weight: is F32 [2, 4]") &&
                 Contains("[8, 4] (rank_pattern of adapter_config.json gives") && Contains("rank 8"));
  CHECK_THAT(stored.refusal_with("layers_to_transform", {1}), Contains("target_modules: names no module"));
  CHECK_THAT(stored.refusal_with("target_modules", 1), Contains("target_modules: is not a list"));
  CHECK_THAT(stored.refusal_with("trainable_token_indices", {1}),
             Contains("trainable_token_indices: the adapter has no rows of the embedding"));
  CHECK_THAT(stored.refusal_with("r", 3), Contains("lora_A.weight") && Contains("F32 [2, 4]") &&
                                               Contains("[3, 4] (r, as no entry of rank_pattern matches it, of"));
  CHECK_THAT(stored.refusal_with("target_modules", {"c_fc"}),
             Contains("lacks tensor transformer.h.0.mlp.c_fc.lora_A.weight") &&
                 Contains("with tensors such as base_model.model.transformer.h.0.attn.c_attn.lora_A.weight"));
  auto more = stored_adapter::tensors();
  more["base_model.model.transformer.h.0.attn.c_attn.lora_magnitude_vector"] = ramp({12}, 1);
  stored.write(stored.config(), more);
  CHECK_THAT(stored.refusal(), Contains("c_attn.lora_magnitude_vector belongs to no module"));
  fs::remove(stored.adapter() / "adapter_model.safetensors");
  CHECK_THAT(stored.refusal(), Contains("has neither adapter_model.safetensors nor"));
  fs::remove_all(stored.adapter());
  CHECK_THAT(stored.refusal(), Contains("is not a folder"));
}

TEST_CASE("what an adapter's files say is on one line and short in messages") {
  const stored_adapter stored;
  const std::string forged = "x\nhydra: all is well" + std::string(1'000'000, 'y');
  auto more = stored_adapter::tensors();
  more[forged] = ramp({12}, 1);
  stored.write(stored.config(), more);
  std::vector<std::string> texts{stored.refusal()};
  texts.push_back(stored.refusal_with("trainable_token_indices", {{forged, json::array({1})}}));
  json config = stored.config();
  config["base_model_name_or_path"] = forged;
  stored.write(config, stored_adapter::tensors());
  texts.push_back(stored.read().notes().front());
  for (const std::string& text : texts) {
    CHECK_THAT(text, Contains(R"(x\nhydra: all is well)") && !Contains("\n"));
    CHECK(text.size() < 2000);
  }
}

TEST_CASE("the tensors of an adapter may have its name, as in a state_dict()") {
  const stored_adapter stored;
  constexpr std::array names{"h.0.attn.c_attn.lora_A.weight", "h.0.attn.c_attn.lora_B.weight", "ln_f.bias"};
  std::vector<std::vector<float>> plain;  // before the file is written anew, because it is mapped
  const chain without = stored.read();
  for (const char* const name : names) plain.push_back(values_of(without, name));
  hub_test_tensors named;
  for (const auto& [name, t] : stored_adapter::tensors()) {
    std::string longer = name;
    for (const std::string part : {".lora_A.", ".lora_B.", ".ln_f."})
      if (const auto at = longer.find(part); at != std::string::npos)
        longer.insert(at + part.size(), part == ".ln_f." ? "modules_to_save.default." : "default.");
    named[longer] = t;
  }
  stored.write(stored.config(), named);
  const chain c = stored.read();
  for (std::size_t i = 0; i < names.size(); ++i) CHECK(values_of(c, names[i]) == plain[i]);
}

TEST_CASE("keys without a known meaning are named, those that are switched off or change nothing are not") {
  const stored_adapter stored;
  CHECK(stored.read().notes().empty());
  json config = stored.config();
  config.update({{"peft_version", "0.21.2"}, {"auto_mapping", nullptr}, {"qalora_group_size", 16}, {"use_new", false},
                 {"new_lists", json::object()}, {"task_type", "CAUSAL_LM"}, {"use_newer", true}});
  stored.write(config, stored_adapter::tensors());
  const auto notes = stored.read().notes();
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes.front(), Contains("adapter_config.json: Hydra does not use use_newer = true"));
}

TEST_CASE("a task of other models than the one that is adapted is noted, a commit of the base on the hub is not") {
  const stored_adapter stored;
  const auto notes_with = [&](const json& task) {
    json config = stored.config();
    config.update({{"task_type", task}, {"revision", "main"}});
    stored.write(config, stored_adapter::tensors());
    return stored.read().notes();
  };
  CHECK(notes_with(nullptr).empty());
  for (const char* const task : {"CAUSAL_LM", "FEATURE_EXTRACTION"}) CHECK(notes_with(task).empty());
  REQUIRE(notes_with("SEQ_CLS").size() == 1);
  CHECK_THAT(notes_with("SEQ_CLS").front(),
             Contains("adapter_config.json: task_type = \"SEQ_CLS\" is not used: it is a task of other models than the "
                      "GPT2LMHeadModel"));
  CHECK(notes_with("TOKEN_CLS").size() == 1);
}

TEST_CASE("a base that cannot be compared with the one in use is noted, and so are patterns that match no module") {
  const stored_adapter stored;
  json config = stored.config();
  config.update({{"base_model_name_or_path", "gpt2"}, {"rank_pattern", {{"h.1.attn.c_attn", 8}, {"c_attn", 2}}},
                 {"alpha_pattern", {{"c_fc", 1.5}}}});
  stored.write(config, stored_adapter::tensors());
  const auto notes = stored.read().notes();
  REQUIRE(notes.size() == 3);
  CHECK_THAT(notes[0],
             Contains("adapter_config.json: base_model_name_or_path: \"gpt2\" is not a checkpoint on this machine"));
  CHECK_THAT(notes[1],
             Contains("rank_pattern: \"h.1.attn.c_attn\" matches no adapted module, so that its 8 is not used"));
  CHECK_THAT(notes[2], Contains("alpha_pattern: \"c_fc\" matches no adapted module, so that its 1.5 is not used"));
}

TEST_CASE("a tied weight that is stored twice may be of two types, if the values are equal") {
  const stored_adapter stored;
  auto tensors = stored_adapter::tensors();
  hub_test_tensor wide{stored_type::f32, {8, 4}, {}}, narrow{stored_type::bf16, {8, 4}, {}};
  for (std::size_t i = 0; i < 32; ++i) {
    const std::string upper{'\0', static_cast<char>(i % 2 == 0 ? 0x40 : 0x41)};  // 2 and 8
    narrow.bytes += upper;
    wide.bytes += std::string{'\0', '\0'} + upper;
  }
  tensors["base_model.model.transformer.wte.weight"] = wide;
  tensors["base_model.model.lm_head.weight"] = narrow;
  stored.write(stored.config(), tensors);
  CHECK(values_of(stored.read(), "wte.weight")[1] == 8);
  tensors["base_model.model.lm_head.weight"].bytes.back() = 0x40;
  stored.write(stored.config(), tensors);
  CHECK_THAT(stored.refusal(), Contains("differ, but are the same parameter of the model (tied)"));
}

TEST_CASE("the magnitudes of an adapter have the names that PEFT gives them") {
  const stored_adapter stored;
  const chain c =
      adapt(describe_from(stored.base(), {}).build(text()), {.rank = 1, .magnitudes = true, .targets = {"c_attn"}});
  const std::vector<float> zeros(64);
  const fs::path written = stored.folder.path() / "written";
  durable_folder into{posix_file_system(), written};
  write_adapter_files(
      into, c,
      [&](const parameter_spec& p) {
        const auto count = static_cast<std::size_t>(p.elements());
        return stored_tensor{stored_type::f32, p.shape, std::as_bytes(std::span{zeros}.first(count))};
      },
      stored.base());
  into.commit();
  std::vector<std::string> names;
  const hub_tensors files{written, "adapter_model"};
  for (const auto& [canonical, t] : files.all()) names.push_back(t.name);
  CHECK_THAT(names,
             Catch::VectorContains(std::string{"base_model.model.transformer.h.0.attn.c_attn.lora_magnitude_vector"}));
}

TEST_CASE("biases that PEFT has trained take the place of the base's, are trained further, and are stored again") {
  const stored_adapter stored;
  const std::string of_map = "base_model.model.transformer.h.0.attn.c_attn.base_layer.bias";
  json config = stored.config();
  config["modules_to_save"] = nullptr;
  auto tensors = stored_adapter::tensors();
  std::erase_if(tensors, [](const auto& each) { return each.first.find("ln_f") != std::string::npos; });
  tensors[of_map] = ramp({12}, 70);
  config["bias"] = "lora_only";
  stored.write(config, tensors);
  const chain adapted = stored.read();
  adapted.validate();
  CHECK(adapted.notes().empty());
  CHECK(adapted.trained_parameters().size() == 2 + 1);
  CHECK(values_of(adapted, "h.0.attn.c_attn.bias").front() == 70);
  const fs::path copy = stored.written(adapted);
  CHECK(json::parse(std::ifstream{copy / "adapter_config.json"})["bias"] == "lora_only");
  CHECK(hub_tensors{copy, "adapter_model"}.find(of_map)->name == of_map);
  fs::remove_all(copy);

  config["bias"] = "all";
  for (const auto& [name, t] : tiny_gpt2_tensors())
    if (name.ends_with(".bias") && !name.ends_with("c_attn.bias"))
      tensors["base_model.model." + name] = ramp(t.shape, 71);
  stored.write(config, tensors);
  const chain all = stored.read();
  CHECK(all.trained_parameters().size() == 2 + 7);
  CHECK(values_of(all, "h.0.mlp.c_fc.bias").front() == 71);
  CHECK(json::parse(std::ifstream{stored.written(all) / "adapter_config.json"})["bias"] == "all");
}

TEST_CASE("modules that PEFT stores by two names, and as they were, are read once") {
  const stored_adapter stored;
  const std::string start = "base_model.model.transformer.ln_f.";
  auto tensors = stored_adapter::tensors();
  tensors[start + "modules_to_save.weight"] = tensors.at(start + "weight");
  tensors[start + "original_module.weight"] = ramp({4}, 1);
  stored.write(stored.config(), tensors);
  CHECK(values_of(stored.read(), "ln_f.weight").front() == 22);
  tensors[start + "modules_to_save.weight"] = ramp({4}, 1);
  stored.write(stored.config(), tensors);
  CHECK_THAT(stored.refusal(), Contains("are the same parameter"));
}

TEST_CASE("rows of tokens that PEFT has trained take the place of the embedding's") {
  const stored_adapter stored;
  auto tensors = stored_adapter::tensors();
  const std::string rows = "base_model.model.transformer.wte.token_adapter.trainable_tokens_delta";
  tensors[rows] = ramp({2, 4}, 70);
  const auto written = [&](const json& tokens) {
    json config = stored.config();
    config["trainable_token_indices"] = tokens;
    stored.write(config, tensors);
  };
  const std::vector<float> before = values_of(describe_from(stored.base(), {}).build(text()), "wte.weight");
  for (const json& tokens : {json{5, 1}, json{{"wte", {5, 1}}}}) {
    written(tokens);
    const chain c = stored.read();
    const std::vector<float> values = values_of(c, "wte.weight");
    CHECK(values[5 * 4] == 70);
    CHECK(values[1 * 4 + 3] == 70 + 7.0f / 1024);
    CHECK(std::equal(values.begin() + 2 * 4, values.begin() + 5 * 4, before.begin() + 2 * 4));
    CHECK(c.weights()->differs_from_base("wte.weight"));
    REQUIRE(c.notes().size() == 1);
    CHECK_THAT(c.notes()[0], Contains("is not trained") && Contains(rows));
  }
  written({5, 8});
  CHECK_THAT(stored.refusal(), Contains("trainable_token_indices: names token 8; transformer.wte has 8 tokens"));
  written({5, -1});
  CHECK_THAT(stored.refusal(), Contains("names token -1"));
  written({5});
  CHECK_THAT(stored.refusal(), Contains("trainable_tokens_delta: is F32 [2, 4]") && Contains("[1, 4]"));
  written({{"wte", {5, 1}}, {"lm_head", {5, 1}}});
  CHECK(stored.refusal() == "accepted");  // the head is tied
  written({{"wte", {5, 1}}, {"lm_head", {5}}});
  CHECK_THAT(stored.refusal(), Contains("the adapter has no rows of lm_head that Hydra knows"));
  written({{"wpe", {5, 1}}});
  CHECK_THAT(stored.refusal(), Contains("the adapter has no rows of wpe that Hydra knows"));
  written(nullptr);
  CHECK_THAT(stored.refusal(), Contains(rows + " belongs to no module"));

  const std::string of_head = "base_model.model.lm_head.token_adapter.";  // as PEFT stores a vocabulary that has grown
  tensors[of_head + "trainable_tokens_delta"] = ramp({2, 4}, 70);
  tensors[of_head + "base_layer.weight"] = ramp({8, 4}, 60);
  tensors["base_model.model.transformer.wte.token_adapter.base_layer.weight"] = ramp({8, 4}, 60);
  written({5, 1});
  const std::vector<float> values = values_of(stored.read(), "wte.weight");
  CHECK(values[0] == 60);
  CHECK(values[5 * 4] == 70);
  tensors[of_head + "trainable_tokens_delta"] = ramp({2, 4}, 71);
  written({5, 1});
  CHECK_THAT(stored.refusal(),
             Contains(of_head + "trainable_tokens_delta: the embedding") && Contains("has not the same rows"));
}

TEST_CASE("what LoRA adds to an embedding is added to its rows") {
  const stored_adapter stored;
  stored.adapt_own_head(30);
  const std::vector<float> before = values_of(stored.read(), "wte.weight");
  json config = stored.config();
  config["base_model_name_or_path"] = nullptr;
  config["target_modules"] = {"c_attn", "wte"};
  config["rank_pattern"] = {{"wte", 1}};
  auto tensors = stored_adapter::tensors();
  tensors["base_model.model.transformer.wte.lora_embedding_A"] = ramp({1, 8}, 2);
  tensors["base_model.model.transformer.wte.lora_embedding_B"] = ramp({4, 1}, 3);
  stored.write(config, tensors);
  const chain c = stored.read();
  const std::vector<float> values = values_of(c, "wte.weight");
  const float a = 2 + 5.0f / 1024, b = 3 + 2.0f / 1024;  // of token 5 and column 2, scaled by lora_alpha 6 / rank 1
  CHECK(values[5 * 4 + 2] == before[5 * 4 + 2] + b * a * 6);
  REQUIRE(c.notes().size() == 1);
  CHECK_THAT(c.notes()[0], Contains("wte.lora_embedding_A") && Contains("is not trained"));
  CHECK(adapted_modules(c) == std::vector<std::string>{"transformer.h.0.attn.c_attn"});
  config["rank_pattern"] = json::object();
  stored.write(config, tensors);
  CHECK_THAT(stored.refusal(), Contains("lora_embedding_A: is F32 [1, 8]") && Contains("[2, 8] is needed"));
  config["r"] = 1;
  config["target_modules"] = {"wte"};
  auto alone = tensors;
  std::erase_if(alone, [](const auto& each) { return each.first.find("c_attn") != std::string::npos; });
  stored.write(config, alone);
  CHECK_THAT(stored.refusal(), Contains("names transformer.wte and no linear map") && Contains("merge_and_unload"));
  config["target_modules"] = {"c_attn", "wte"};
  config["use_dora"] = true;
  stored.write(config, tensors);
  CHECK_THAT(stored.refusal(), Contains("use_dora: true is not supported for transformer.wte"));
  config["use_dora"] = false;
  auto grown = tensors;
  grown["base_model.model.transformer.wte.lora_embedding_A"] = ramp({1, 10}, 2);
  stored.write(config, grown);
  CHECK_THAT(stored.refusal(),
             Contains("lora_embedding_A: is [1, 10]") && Contains("2 tokens more") && Contains("tokens = ["));
  config["r"] = 2;
  config["target_modules"] = {"c_attn"};
  stored.write(config, tensors);
  CHECK_THAT(stored.refusal(), Contains("lora_embedding_A belongs to no module"));
  config["target_modules"] = {"c_attn", "wte"};
  tensors.erase("base_model.model.transformer.wte.lora_embedding_B");
  config["rank_pattern"] = {{"wte", 1}};
  stored.write(config, tensors);
  CHECK_THAT(stored.refusal(), Contains("lacks tensor transformer.wte.lora_embedding_B"));
  write_checkpoint(stored.base(), tiny_gpt2_config(), tiny_gpt2_tensors());
  CHECK_THAT(stored.refusal(),
             Contains("target_modules names transformer.wte, which shares its weight with lm_head (tied)"));
}

TEST_CASE("values that an adapter stores beside what it trains take the place of the base's, and are stored again") {
  const stored_adapter stored;
  json config = stored.config();
  config["modules_to_save"] = nullptr;
  stored.write(config, stored_adapter::tensors());
  const chain c = stored.read();
  CHECK(values_of(c, "ln_f.weight").front() == 22);
  REQUIRE(c.notes().size() == 1);
  CHECK_THAT(c.notes()[0], Contains("in the place of the base's values is not trained") && Contains("ln_f.weight, ") &&
                               Contains("ln_f.bias"));
  const hub_tensors tensors{stored.adapter(), "adapter_model"};
  const fs::path copy = stored.folder.path() / "copy";
  durable_folder into{posix_file_system(), copy};
  write_adapter_files(
      into, c, [&](const parameter_spec& p) { return tensors.find(p.name)->tensor; }, stored.base());
  into.commit();
  CHECK(hub_tensors{copy, "adapter_model"}.all().size() == 4);
}

TEST_CASE("an adapter of a module with a tied weight has two of it, and so has the merged model") {
  const stored_adapter stored;
  auto tensors = stored_adapter::tensors();
  tensors["base_model.model.lm_head.weight"] = ramp({8, 4}, 50);
  json config = stored.config();
  config["modules_to_save"] = {"ln_f", "lm_head"};
  stored.write(config, tensors);
  const chain base = describe_from(stored.base(), {}).build(text()), c = stored.read();
  c.validate();
  CHECK(values_of(c, "lm_head.weight").front() == 50);
  CHECK(values_of(c, "wte.weight") == values_of(base, "wte.weight"));
  REQUIRE(c.notes().size() == 1);
  CHECK_THAT(c.notes()[0], Contains("transformer.wte and lm_head have one weight in the checkpoint (tied)"));
  CHECK(json::parse(without_adapter(c).hub().config)["tie_word_embeddings"] == false);
  CHECK(c.parameter_count() == base.parameter_count() + 32 + 2 * 4 + 12 * 2);
  config["ensure_weight_tying"] = true;
  stored.write(config, tensors);
  CHECK_THAT(stored.refusal(), Contains("ensure_weight_tying: true is not supported"));
}

TEST_CASE("an embedding that is trained alone leaves the tied head what it was") {
  const stored_adapter stored;
  const chain base = describe_from(stored.base(), {}).build(text());
  const chain c = adapt(base, {.rank = 1, .targets = {"c_attn"}, .also_train = {"wte"}});
  c.validate();
  for (const std::size_t layer : {std::size_t{0}, c.size() - 1})
    for (const parameter_spec& p : c.parameters(layer)) {
      CHECK(p.tied_to.empty());
      CHECK(p.frozen == (p.name != "wte.weight"));
    }
  CHECK(values_of(c, "lm_head.weight") == values_of(base, "wte.weight"));
}

TEST_CASE("a head that was tied to an embedding with rows of new tokens has these rows, too, not the base's") {
  const stored_adapter stored;
  const auto ten = open_data({synthetic_language{.symbols = 10, .order = 1, .tokens = 200, .validation_tokens = 0}}, 6);
  const chain grown = describe_from(stored.base(), {.tokens = {"<x>", "<y>"}}).build(*ten);
  const chain c = adapt(grown, {.rank = 1, .targets = {"c_attn"}, .also_train = {"wte"}});
  CHECK(c.weights()->differs_from_base("lm_head.weight"));
  CHECK(c.weights()->differs_from_base("wte.weight"));
  CHECK_FALSE(c.weights()->differs_from_base("wpe.weight"));
}

TEST_CASE("an adapter that was trained with more tokens than the model has is refused with what to do") {
  const stored_adapter stored;
  auto tensors = stored_adapter::tensors();
  tensors["base_model.model.transformer.wte.weight"] = ramp({10, 4}, 60);
  stored.write(stored.config(), tensors);
  CHECK_THAT(stored.refusal(), Contains("wte.weight: is [10, 4]; the model has [8, 4]") &&
                                   Contains("with 2 tokens more") && Contains("tokens = [\"...\"]"));
}

TEST_CASE("an adapter needs a base: none is read or written for random weights") {
  const stored_adapter stored;
  const chain random = gpt2({.layers = 1, .width = 4, .heads = 2, .context = 6}).build(text());
  CHECK_THROWS_WITH(adapter_folder{stored.adapter()}.adapt(random),
                    Contains("starts from random values") && Contains(stored.base().string()));
  durable_folder into{posix_file_system(), stored.folder.path() / "written"};
  const auto none = [](const parameter_spec&) { return stored_tensor{}; };
  CHECK_THROWS_WITH(write_adapter_files(into, adapt(random, {.rank = 1}), none, {}), Contains("--merge"));
}

TEST_CASE("frozen parameters that the checkpoint lacks are refused, all of them at once") {
  const stored_adapter stored;
  const auto d = with_adapter(describe_from(stored.base(), {}), lora_options{.rank = 1});
  CHECK_NOTHROW(d.build(text()).validate());
  struct partial_weights final : weight_source {
    bool read(const parameter_spec&, std::span<float>) const override { return false; }
    std::string identity() const override { return "part"; }
    std::string origin(const std::string& p) const override { return lacking.contains(p) ? "" : "part"; }
    std::set<std::string> lacking{"ln_f.weight"};
  };
  chain c = d.build(text());
  c.begin_with(std::make_shared<partial_weights>());
  CHECK_THROWS_WITH(c.validate(),
                    Contains("\"transformer.ln_f.weight\" is frozen, but the checkpoint does not have it"));
  const auto less = std::make_shared<partial_weights>();
  less->lacking = {"ln_f.weight", "ln_f.bias"};
  c.begin_with(less);
  CHECK_THROWS_WITH(c.validate(), Contains("\"transformer.ln_f.weight\", \"transformer.ln_f.bias\" are frozen, but the "
                                           "checkpoint does not have them, so that they would stay random"));
}

TEST_CASE(
    "the weight of a head that is adapted may be stored beside the adapter, and is the base's or takes its place") {
  const stored_adapter stored;
  const std::string name = "base_model.model.lm_head.base_layer.weight";
  stored.adapt_own_head(30);
  const chain same = stored.read();
  same.validate();
  CHECK(same.notes().empty());
  CHECK(adapted_modules(same) == std::vector<std::string>{"transformer.h.0.attn.c_attn", "lm_head"});
  CHECK(values_of(same, "lm_head.weight").front() == 30);
  const fs::path copy = stored.written(same);
  CHECK_FALSE(hub_tensors{copy, "adapter_model"}.find(name));

  fs::remove_all(copy);
  stored.adapt_own_head(31);
  const chain other = stored.read();
  REQUIRE(other.notes().size() == 1);
  CHECK_THAT(other.notes()[0], Contains("in the place of the base's values is not trained") && Contains(name));
  CHECK(values_of(other, "lm_head.weight").front() == 31);
  const hub_tensors again{stored.written(other), "adapter_model"};
  REQUIRE(again.find(name));
  CHECK(again.find(name)->name == name);
}

TEST_CASE("targets and numbers that no adapter of Hydra can have are refused with file and key") {
  const stored_adapter stored;
  for (const std::string module : {"lm_head", "wte"})
    CHECK_THAT(stored.refusal_with("target_modules", {"c_attn", module}),
               Contains("adapter_config.json: target_modules: names ") && Contains(module) &&
                   Contains("not a linear map with a weight of its own"));
  CHECK_THAT(stored.refusal_with("r", 0), Contains("adapter_config.json: r: 0 is not a rank from 1 to 65536"));
  CHECK_THAT(stored.refusal_with("r", 1e15), Contains("adapter_config.json: r: "));
  CHECK_THAT(stored.refusal_with("lora_dropout", 1), Contains("adapter_config.json: lora_dropout: 1 is not"));
}

TEST_CASE("only an embedding or a head with more rows has those of new tokens") {
  const stored_adapter stored;
  auto tensors = stored_adapter::tensors();
  tensors["base_model.model.transformer.ln_f.weight"] = ramp({6}, 22);
  stored.write(stored.config(), tensors);
  CHECK_THAT(stored.refusal(), Contains("ln_f.weight: is F32 [6]") && !Contains("tokens"));
}
