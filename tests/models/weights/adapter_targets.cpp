#include "models/weights/adapter_targets.hpp"

#include "models/data/data_catalog.hpp"
#include "models/families/cnn/cnn.hpp"
#include "models/families/llama/llama.hpp"
#include "runtime/base/fault.hpp"
#include "tests/support/hub_checkpoint.hpp"
#include "tests/support/temporary_folder.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace hydra;
using namespace hydra::test;
using Catch::Matchers::Contains;

namespace {

using name_list = std::vector<std::string>;

/// Twelve layers, so that one number begins with another.
const chain& twelve_layers() {
  static const chain made = [] {
    const auto data =
        open_data({synthetic_language{.symbols = 8, .order = 1, .tokens = 200, .validation_tokens = 0}}, 6);
    return llama({.layers = 12, .width = 4, .heads = 2, .hidden = 4, .context = 6}).build(*data);
  }();
  return made;
}

/// `keys` of an adapter_config.json, as text, because their order counts.
lora_options read_targets(const std::string& keys, const chain& model = twelve_layers()) {
  const temporary_folder folder;
  write_text(folder.path() / "adapter_config.json", "{" + keys + "}");
  return adapter_targets{model_config::read(folder.path() / "adapter_config.json")}.in(model, {.rank = 4, .alpha = 8},
                                                                                       {});
}

std::string refusal_of_targets(const std::string& keys, const chain& model = twelve_layers()) {
  try {
    read_targets(keys, model);
  } catch (const fault_error& e) {
    CHECK(e.what_happened().code == fault_code::bad_input);
    return e.what_happened().text;
  }
  return "accepted";
}

name_list in_layer(int layer, const name_list& modules) {
  name_list all;
  for (const std::string& m : modules) all.push_back("model.layers." + std::to_string(layer) + "." + m);
  return all;
}

}  // namespace

// The expected modules are those to which peft 0.21 adds an adapter.

TEST_CASE("a list of modules stays as it is where it alone decides") {
  CHECK(read_targets(R"("target_modules": ["q_proj", "1.mlp.up_proj"])").targets ==
        name_list{"q_proj", "1.mlp.up_proj"});
  CHECK(read_targets(R"("target_modules": "all-linear")").targets == name_list{lora_options::all_linear});
  CHECK(read_targets(R"("target_modules": ["q_proj", "c_attn"])").targets == name_list{"q_proj"});
}

TEST_CASE("a text is a regular expression that the whole name of a module matches") {
  CHECK(read_targets(R"("target_modules": ".*\\.1\\..*(q|v)_proj")").targets ==
        in_layer(1, {"self_attn.q_proj", "self_attn.v_proj"}));
  CHECK(read_targets(R"("target_modules": "(?P<where>model\\.layers\\.\\d)\\.mlp\\.(?=up)\\w+")").targets.size() == 10);
  CHECK_THAT(refusal_of_targets(R"("target_modules": "q_proj")"),
             Contains("target_modules: names no module of the model, which has modules such as model.layers.0."));
  CHECK_THAT(refusal_of_targets(R"("target_modules": "model\\.layers\\.1")"), Contains("names no module of the model"));
  CHECK_THAT(refusal_of_targets(R"("target_modules": "(q_proj")"),
             Contains("adapter_config.json: target_modules: the pattern \"(q_proj\": missing closing parenthesis"));
  CHECK_THAT(refusal_of_targets(R"("target_modules": "([a-z._0-9]|[a-z._0-9]{2})+#?[A-Z]")"),
             Contains("adapter_config.json: target_modules: the pattern") && Contains("match limit exceeded"));
}

TEST_CASE("targets that are not linear maps of their own are refused with file, key and a way out") {
  for (const std::string keys :
       {R"("target_modules": ["q_proj", "embed_tokens"])", R"("target_modules": ".*embed_tokens")"})
    CHECK_THAT(refusal_of_targets(keys),
               Contains("adapter_config.json: target_modules: names model.embed_tokens, which is not a linear map") &&
                   Contains("merge_and_unload"));
  const auto images = open_data({synthetic_classes{.shape = {1, 8, 8}}}, 0);
  const chain convolutions = cnn({.stages = 1, .blocks = 1, .width = 4}).build(*images);
  CHECK_THAT(refusal_of_targets(R"("target_modules": ["c_attn"])", convolutions),
             Contains("target_modules: names no module of the model, which has modules such as "));
}

TEST_CASE("layers_to_transform chooses layers by number, in the lists that layers_pattern names") {
  const std::string q = R"("target_modules": ["q_proj"], )";
  CHECK(read_targets(q + R"("layers_to_transform": [1])").targets == in_layer(1, {"self_attn.q_proj"}));
  CHECK(read_targets(q + R"("layers_to_transform": 11, "layers_pattern": "layers")").targets ==
      in_layer(11, {"self_attn.q_proj"}));
  CHECK(read_targets(q + R"("layers_to_transform": [1], "layers_pattern": ["h", "layers"])").targets.size() == 1);
  CHECK(read_targets(q + R"("layers_to_transform": [])").targets == name_list{"q_proj"});
  for (const char* const any : {R"("")", "[]"})
    CHECK(read_targets(q + R"("layers_to_transform": [1], "layers_pattern": )" + any).targets ==
          in_layer(1, {"self_attn.q_proj"}));
  CHECK(read_targets(q + R"-("layers_to_transform": [1], "layers_pattern": "(?:h|lay[a-z]+)")-").targets ==
        in_layer(1, {"self_attn.q_proj"}));
  const std::string second = R"("layers_to_transform": [1], "layers_pattern": )";
  CHECK(read_targets(q + second + R"(["nothing|model\\.layers"])").targets.size() == 1);
  const std::string first_decides = R"(["model|nothing", "layers"])";
  CHECK_THAT(refusal_of_targets(q + second + first_decides), Contains("names no module"));
  CHECK_THAT(refusal_of_targets(q + R"-("layers_to_transform": [1], "layers_pattern": "(")-"),
             Contains("adapter_config.json: layers_pattern: the pattern"));
  CHECK_THAT(refusal_of_targets(q + R"("layers_to_transform": [1], "layers_pattern": "ayers")"),
             Contains("names no module"));
  CHECK_THAT(refusal_of_targets(q + R"("layers_to_transform": [1], "layers_pattern": "h")"),
             Contains("names no module"));
  CHECK_THAT(refusal_of_targets(q + R"("layers_to_transform": [12])"), Contains("names no module"));
  CHECK_THAT(refusal_of_targets(q + R"("layers_to_transform": "1")"),
             Contains("layers_to_transform: is not a list of integers"));
  const name_list named =
      read_targets(R"("target_modules": ["model.layers.3.mlp.up_proj", "k_proj"], "layers_to_transform": [2])").targets;
  CHECK(named == name_list{"model.layers.2.self_attn.k_proj", "model.layers.3.mlp.up_proj"});
}

TEST_CASE("what is excluded or trained as a whole is not adapted") {
  const std::string qv = R"("target_modules": ["q_proj", "v_proj"], )";
  CHECK(read_targets(qv + R"("exclude_modules": ["v_proj"])").targets.size() == 12);
  CHECK(read_targets(qv + R"("exclude_modules": ".*\\.\\d\\..*")").targets.size() == 4);  // of layers 10 and 11
  const lora_options saved = read_targets(qv + R"("modules_to_save": ["v_proj", "lm_head"])");
  CHECK(saved.targets.size() == 12);
  CHECK(saved.targets.front() == "model.layers.0.self_attn.q_proj");
  CHECK(saved.also_train == name_list{"v_proj", "lm_head"});
}

TEST_CASE(
    "a name of modules_to_save means every module whose name ends so, and only after a dot none of them is adapted") {
  const std::string q = R"("target_modules": ["q_proj"], "modules_to_save": )";
  CHECK(read_targets(q + R"(["head"])").also_train == name_list{"lm_head"});
  CHECK(read_targets(q + R"(["mlp"])").also_train == name_list{"mlp"});
  CHECK(read_targets(q + R"(["classifier"])").also_train.empty());
  const name_list norms = read_targets(q + R"(["norm"])").also_train;
  CHECK(norms.size() == 2 * 12 + 1);
  CHECK(norms[0] == "model.layers.0.input_layernorm");
  CHECK(norms.back() == "model.norm");
  CHECK(read_targets(q + R"(["lp"])").also_train.size() == 12);  // each mlp, without the maps in it
  CHECK_THAT(refusal_of_targets(q + R"(["proj"])"),
             Contains("modules_to_save: names model.layers.0.self_attn.q_proj, which target_modules adapts"));
}

TEST_CASE("the first pattern that matches gives a module its rank and alpha") {
  const lora_options o = read_targets(
      R"("target_modules": ["q_proj", "v_proj"], "rank_pattern": {"v_proj": 2, "layers.1.self_attn.v_proj": 3},
         "alpha_pattern": {"^model.layers.1.self_attn.(q|v)_proj": 16.5})");
  CHECK(o.targets == name_list{"q_proj", "v_proj"});
  CHECK(o.rank_of.size() == 12);
  CHECK(o.rank_in("model.layers.1.self_attn.v_proj") == 2);
  CHECK(o.rank_in("model.layers.1.self_attn.q_proj") == 4);
  CHECK(o.alpha_of.size() == 2);
  CHECK(o.scale_in("model.layers.1.self_attn.v_proj") == 16.5 / 2);
  CHECK(o.scale_in("model.layers.11.self_attn.v_proj") == 8.0 / 2);
  CHECK(
      read_targets(R"("target_modules": ["q_proj", "v_proj"], "rank_pattern": {"q_proj|v_proj": 3})").rank_of.size() ==
      24);
  CHECK_THAT(refusal_of_targets(R"("target_modules": ["q_proj"], "rank_pattern": {"q_proj": 1.5})"),
             Contains("rank_pattern.q_proj: 1.5 is not an integer"));
  for (const char* const rank : {"0", "65537", "9000000000000000000"})
    CHECK_THAT(
        refusal_of_targets(fmt::format(R"("target_modules": ["q_proj"], "rank_pattern": {{"q_proj": {}}})", rank)),
        Contains(fmt::format("rank_pattern.q_proj: {} is not a rank from 1 to 65536", rank)));
  CHECK_THAT(refusal_of_targets(R"("target_modules": ["q_proj"], "rank_pattern": {"q_proj": 10000000000000000000})"),
             Contains("rank_pattern.q_proj: 10000000000000000000 is not below 2^63"));
  CHECK_THAT(refusal_of_targets(R"("target_modules": ["q_proj"], "alpha_pattern": {"q_proj": 0})"),
      Contains("alpha_pattern.q_proj: 0 is not positive"));
  CHECK_THAT(refusal_of_targets(R"("target_modules": ["q_proj"], "rank_pattern": {"(": 1})"),
      Contains("rank_pattern: the pattern"));
}
