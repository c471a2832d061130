// Untrusted files: whatever they contain, they are read or refused, and nothing crashes.

#include "models/data/data_catalog.hpp"
#include "models/families/hub_folder.hpp"
#include "models/tokenizers/tokenizer.hpp"
#include "models/weights/hub_tensors.hpp"
#include "models/weights/safetensors_header.hpp"
#include "runtime/base/fault.hpp"
#include "tests/models/tokenizers/made_tokenizers.hpp"
#include "tests/support/four_bit_tensors.hpp"
#include "tests/support/hub_checkpoint.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

using namespace hydra;
using namespace hydra::test;
using nlohmann::json;

namespace {

/// Changes a file at random, as damage or malice would: the same changes in every run.
class mutator {
 public:
  explicit mutator(std::uint64_t seed) : random_{seed} {}

  /// Changes bytes, or values of the tree; one to three of them.
  std::string changed(const json& file) {
    if (below(2) == 0) return changed(file.dump(), 1 + below(3));
    json other = file;
    for (std::size_t n = 1 + below(3); n > 0; --n) change_value(other);
    return other.dump(-1, ' ', false, json::error_handler_t::replace);
  }

 private:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

  std::string changed(std::string bytes, std::size_t changes) {
    for (; changes > 0 && !bytes.empty(); --changes) {
      const std::size_t at = below(bytes.size()), length = 1 + below(std::min<std::size_t>(bytes.size() - at, 40));
      switch (below(4)) {
        case 0:
          bytes[at] = static_cast<char>(below(256));
          break;
        case 1:
          bytes.resize(at);
          break;
        case 2:
          bytes.erase(at, length);
          break;
        default:
          bytes.insert(below(bytes.size()), bytes.substr(at, length));
      }
    }
    return bytes;
  }

  void change_value(json& tree) {
    std::vector<json*> all;
    collect(tree, all);
    json& chosen = *all[below(all.size())];
    if (below(4) == 0 && chosen.is_object() && !chosen.empty())
      chosen.erase(std::next(chosen.begin(), static_cast<std::ptrdiff_t>(below(chosen.size()))));
    else
      chosen = below(4) == 0 ? json(*all[below(all.size())]) : odd_values()[below(odd_values().size())];
  }

  static void collect(json& tree, std::vector<json*>& all) {
    all.push_back(&tree);
    if (tree.is_structured())
      for (json& inner : tree) collect(inner, all);
  }

  static const std::vector<json>& odd_values() {
    static const std::vector<json> all{nullptr,
                                       true,
                                       0,
                                       -1,
                                       1,
                                       3,
                                       1.5,
                                       -0.0,
                                       1e300,
                                       4294967295u,
                                       4294967296u,
                                       std::int64_t{9223372036854775807},
                                       std::uint64_t{18446744073709551615u},
                                       "",
                                       "a",
                                       "\xF0\x9F\x98\x80",
                                       "F32",
                                       "(((",
                                       json::array(),
                                       json::object(),
                                       {0},
                                       {1, 2},
                                       {-1, 3},
                                       {{"type", "Sequence"}},
                                       {{"type", "ByteLevel"}},
                                       std::string(300, 'x')};
    return all;
  }

  std::mt19937_64 random_;
};

/// Reads this many changed files. A refusal is a fault_error; any other exception is an error.
template <class Read>
void read_changed(const json& file, std::size_t times, const Read& read) {
  mutator change{file.dump().size()};
  for (std::size_t i = 0; i < times; ++i) {
    const std::string text = change.changed(file);
    try {
      read(text);
    } catch (const fault_error&) {
    } catch (const std::exception& e) {
      FAIL_CHECK(fmt::format("case {}: {}\n{}", i, e.what(), text.substr(0, 4000)));
    }
  }
}

json header_of_two() {
  return {{"__metadata__", {{"format", "pt"}}},
          {"a", {{"dtype", "F32"}, {"shape", {2, 3}}, {"data_offsets", {0, 24}}}},
          {"b", {{"dtype", "BF16"}, {"shape", {4}}, {"data_offsets", {24, 32}}}}};
}

json with_settings(json file) {
  file["added_tokens"] = {added(300, "<|end|>"), added(301, "<x>", true)};
  file["normalizer"] = {{"type", "NFC"}};
  file["pre_tokenizer"] = {{"type", "Sequence"},
                           {"pretokenizers",
                            {{{"type", "Split"}, {"behavior", "Isolated"}, {"pattern", {{"Regex", "\\p{L}+| "}}}},
                             {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"use_regex", false}}}}};
  return file;
}

/// Configurations of each architecture; only the first one fits the tensors.
std::vector<json> configs() {
  const json sizes{{"hidden_size", 8},
                   {"num_hidden_layers", 1},
                   {"num_attention_heads", 2},
                   {"intermediate_size", 12},
                   {"max_position_embeddings", 16},
                   {"vocab_size", 8},
                   {"num_key_value_heads", 1},
                   {"hidden_act", "silu"},
                   {"rope_theta", 1e4},
                   {"sliding_window", nullptr},
                   {"image_size", 8},
                   {"patch_size", 4},
                   {"num_channels", 3},
                   {"type_vocab_size", 2},
                   {"layer_norm_eps", 1e-5},
                   {"depths", {1, 1}},
                   {"hidden_sizes", {8, 16}},
                   {"embedding_size", 4},
                   {"layer_type", "bottleneck"},
                   {"num_labels", 10},
                   {"rms_norm_eps", 1e-5}};
  std::vector<json> all{tiny_gpt2_config()};
  for (const architecture& a : architectures()) {
    all.push_back(sizes);
    all.back()["architectures"] = {a.name};
    const bool gated = a.name.find("CausalLM") != std::string::npos;
    if (!gated) all.back()["hidden_act"] = a.name.starts_with("ResNet") ? "relu" : "gelu";
    if (gated) all.back()["rope_scaling"] = {{"rope_type", "linear"}, {"factor", 2.0}};
  }
  return all;
}

}  // namespace

TEST_CASE("no header of a safetensors file breaks its reader") {
  read_changed(header_of_two(), 100'000, [](const std::string& text) { parse_safetensors_header(text, 32); });
}

TEST_CASE("no description of a weight in 4 bits breaks its reader") {
  const temporary_folder folder;
  const std::string state = "a.weight.quant_state.bitsandbytes__nf4";
  hub_test_tensors tensors;
  add_four_bits(tensors, "a.weight", {3, 50}, four_bit_scales::nested);
  read_changed(json::parse(tensors.at(state).bytes), 2000, [&](const std::string& text) {
    tensors[state] = tensor_of_text(text);
    write_tensors(folder.path() / "model.safetensors", tensors);
    const hub_tensors all{folder.path()};
    const hub_tensor& t = *all.find("a.weight");
    std::vector<float> values(bytes_of(stored_type::u8, t.tensor.shape).value());
    widen_mapped(t.four_bits.value(), values);
  });
}

TEST_CASE("no tokenizer.json breaks its reader, nor the tokenizer that is read") {
  const temporary_folder folder;
  for (const json& file : {bpe_file({"a b", "ab c"}), with_settings(bpe_file({"a b"})),
                           wordpiece_file({"[UNK]", "[CLS]", "[SEP]", "ab", "##c"})})
    read_changed(file, 1000, [&](const std::string& text) {
      const auto t = open_tokenizer({.file = folder.write("tokenizer.json", text)});
      t->decode(t->encode("abc a<|end|>b \xC3\xA9\n"));
    });
}

TEST_CASE("no config.json breaks its reader, nor the chain that it describes") {
  const temporary_folder folder;
  write_checkpoint(folder.path(), tiny_gpt2_config(), tiny_gpt2_tensors());
  const auto tokens = open_data({synthetic_language{.symbols = 8, .order = 1, .tokens = 200}}, 6);
  const auto images = open_data({synthetic_classes{.shape = {3, 8, 8}}}, 0);
  for (const json& config : configs())
    read_changed(config, 400, [&](const std::string& text) {
      folder.write("config.json", text);
      const chain_description d = describe_from(folder.path(), {});
      d.build(d.context > 0 ? *tokens : *images);
    });
}
