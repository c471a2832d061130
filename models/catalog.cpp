#include "models/catalog.hpp"

#include "models/bert.hpp"
#include "models/cnn.hpp"
#include "models/gpt2.hpp"
#include "models/integer_list.hpp"
#include "models/llama.hpp"
#include "models/mlp.hpp"
#include "models/resnet.hpp"
#include "models/vit.hpp"
#include "runtime/fault.hpp"
#include "runtime/nearest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

namespace hydra {
namespace {

using option_map = std::map<std::string, option_value>;

[[noreturn]] void refuse(const std::string& text) { throw fault_error{fault_code::bad_input, text}; }

template <class T>
T get(const option_map& options, const char* name) {
  return std::get<T>(options.at(name));
}

/// Throws fault_error{bad_input} naming the functions that there are.
activation find_activation(const char* who, const std::string& name) {
  if (const auto found = activation_named(name)) return *found;
  const auto names = activation_names();
  throw fault_error{fault_code::bad_input, fmt::format("{}: unknown activation \"{}\"; did you mean \"{}\"? There are {}",
                                                       who, name, nearest_name(name, names), fmt::join(names, ", "))};
}

family bert_family() {
  return {"bert",
          "BERT: an encoder of masked texts, post-norm blocks; names masked tokens or classifies texts",
          {{"layers", std::int64_t{0}, true, "blocks"},
           {"width", std::int64_t{0}, true, "of the residual stream"},
           {"heads", std::int64_t{0}, true, "of the attention; divide width"},
           {"context", std::int64_t{0}, true, "tokens per sample"},
           {"head", "masked-lm", false, "\"masked-lm\" or \"classification\""},
           {"hidden", std::int64_t{0}, false, "units of the feed-forward networks; 0: 4 * width"},
           {"vocabulary", std::int64_t{0}, false, "token ids; 0: as many as the data have (masked-lm)"},
           {"types", std::int64_t{2}, false, "of segments"},
           {"activation", "gelu", false, "of the feed-forward networks: gelu, gelu_new, relu"},
           {"dropout", 0.0, false, "of embeddings, attention output, feed-forward output and pooled vector"},
           {"attention_dropout", 0.0, false, "of the attention's probabilities"},
           {"eps", 1e-12, false, "of the norms"}},
          [](const option_map& o) {
            return bert({.layers = get<std::int64_t>(o, "layers"),
                         .width = get<std::int64_t>(o, "width"),
                         .heads = get<std::int64_t>(o, "heads"),
                         .hidden = get<std::int64_t>(o, "hidden"),
                         .context = get<std::int64_t>(o, "context"),
                         .vocabulary = get<std::int64_t>(o, "vocabulary"),
                         .types = get<std::int64_t>(o, "types"),
                         .act = find_activation("bert", get<std::string>(o, "activation")),
                         .dropout = get<double>(o, "dropout"),
                         .attention_dropout = get<double>(o, "attention_dropout"),
                         .eps = get<double>(o, "eps"),
                         .head = bert_head_named("bert", get<std::string>(o, "head"))});
          }};
}

family cnn_family() {
  return {"cnn",
          "residual convolutional network on images: group norm, stages of halved size and doubled width",
          {{"stages", std::int64_t{3}, false, "of equal image size; each but the first halves it"},
           {"blocks", std::int64_t{2}, false, "residual blocks of a stage"},
           {"width", std::int64_t{16}, false, "channels of the first stage; each other doubles them"},
           {"groups", std::int64_t{4}, false, "of channels normalised together; divide width"}},
          [](const option_map& o) {
            return cnn({.stages = get<std::int64_t>(o, "stages"),
                        .blocks = get<std::int64_t>(o, "blocks"),
                        .width = get<std::int64_t>(o, "width"),
                        .groups = get<std::int64_t>(o, "groups")});
          }};
}

family mlp_family() {
  return {"mlp",
          "multi-layer perceptron on feature vectors",
          {{"layers", std::int64_t{2}, false, "hidden layers"},
           {"width", std::int64_t{0}, true, "units of a hidden layer"},
           {"dropout", 0.0, false, "after each hidden layer"}},
          [](const option_map& o) {
            return mlp({.layers = get<std::int64_t>(o, "layers"),
                        .width = get<std::int64_t>(o, "width"),
                        .dropout = get<double>(o, "dropout")});
          }};
}

family gpt2_family() {
  return {"gpt2",
          "GPT-2: learned positions, pre-norm blocks, tanh GELU",
          {{"layers", std::int64_t{0}, true, "blocks"},
           {"width", std::int64_t{0}, true, "of the residual stream"},
           {"heads", std::int64_t{0}, true, "of the attention; divide width"},
           {"context", std::int64_t{0}, true, "tokens per sample"},
           {"vocabulary", std::int64_t{0}, false, "token ids; 0: as many as the data have"},
           {"dropout", 0.0, false, "of embeddings, attention output and MLP output"},
           {"eps", 1e-5, false, "of the norms"},
           {"tied", true, false, "head and token embedding share their weights"}},
          [](const option_map& o) {
            return gpt2({.layers = get<std::int64_t>(o, "layers"),
                         .width = get<std::int64_t>(o, "width"),
                         .heads = get<std::int64_t>(o, "heads"),
                         .context = get<std::int64_t>(o, "context"),
                         .vocabulary = get<std::int64_t>(o, "vocabulary"),
                         .dropout = get<double>(o, "dropout"),
                         .eps = get<double>(o, "eps"),
                         .tied = get<bool>(o, "tied")});
          }};
}

family resnet_family() {
  return {"resnet",
          "ResNet on images, version 1.5: batch norm, bottlenecks; the defaults are ResNet-50",
          {{"depths", "3,4,6,3", false, "residual layers of each stage"},
           {"hidden_sizes", "256,512,1024,2048", false, "channels of each stage; each but the first halves the image"},
           {"embedding_size", std::int64_t{64}, false, "channels of the embedding, which divides the image's size by 4"},
           {"layer_type", "bottleneck", false, "of the residual layers; \"basic\" in ResNet-18 and ResNet-34"},
           {"downsample_in_first_stage", false, false, "the first stage halves the image, too"},
           {"downsample_in_bottleneck", false, false, "the first convolution of a bottleneck strides: version 1"}},
          [](const option_map& o) {
            return resnet({.depths = integer_list("resnet: depths", get<std::string>(o, "depths")),
                           .hidden_sizes = integer_list("resnet: hidden_sizes", get<std::string>(o, "hidden_sizes")),
                           .embedding_size = get<std::int64_t>(o, "embedding_size"),
                           .layer_type = get<std::string>(o, "layer_type"),
                           .downsample_in_first_stage = get<bool>(o, "downsample_in_first_stage"),
                           .downsample_in_bottleneck = get<bool>(o, "downsample_in_bottleneck")});
          }};
}

rope_scaling rope_scaling_of(const option_map& o) {
  const auto name = get<std::string>(o, "rope_scaling");
  using kind = rope_scaling::kind;
  for (const kind how : {kind::none, kind::linear, kind::llama3})
    if (name == to_string(how))
      return {.how = how,
              .factor = get<double>(o, "rope_factor"),
              .low_frequency_factor = get<double>(o, "rope_low_frequency_factor"),
              .high_frequency_factor = get<double>(o, "rope_high_frequency_factor"),
              .original_context = get<std::int64_t>(o, "rope_original_context")};
  refuse(fmt::format("llama: rope_scaling is \"{}\"; choose none, linear or llama3", name));
}

chain_description llama_of(const option_map& o) {
  return llama({.layers = get<std::int64_t>(o, "layers"),
                .width = get<std::int64_t>(o, "width"),
                .heads = get<std::int64_t>(o, "heads"),
                .kv_heads = get<std::int64_t>(o, "kv_heads"),
                .head_size = get<std::int64_t>(o, "head_size"),
                .hidden = get<std::int64_t>(o, "hidden"),
                .context = get<std::int64_t>(o, "context"),
                .vocabulary = get<std::int64_t>(o, "vocabulary"),
                .rope_theta = get<double>(o, "rope_theta"),
                .scaling = rope_scaling_of(o),
                .eps = get<double>(o, "eps"),
                .tied = get<bool>(o, "tied"),
                .qkv_bias = get<bool>(o, "qkv_bias"),
                .output_bias = get<bool>(o, "output_bias"),
                .mlp_bias = get<bool>(o, "mlp_bias"),
                .qk_norm = get<bool>(o, "qk_norm")});
}

family llama_family() {
  return {"llama",
          "Llama, Mistral, Qwen: RMS norms, rotary positions, grouped-query attention, gated MLP; no dropout",
          {{"layers", std::int64_t{0}, true, "blocks"},
           {"width", std::int64_t{0}, true, "of the residual stream"},
           {"heads", std::int64_t{0}, true, "of the attention's queries"},
           {"kv_heads", std::int64_t{0}, false, "of its keys and values, divide heads; 0: heads"},
           {"head_size", std::int64_t{0}, false, "features of a head, even; 0: width / heads"},
           {"hidden", std::int64_t{0}, true, "features between the projections of an MLP"},
           {"context", std::int64_t{0}, true, "tokens per sample"},
           {"vocabulary", std::int64_t{0}, false, "token ids; 0: as many as the data have"},
           {"rope_theta", 10000.0, false, "base of the wavelengths of rotary positions"},
           {"rope_scaling", std::string{"none"}, false, "their stretch for longer texts: none, linear or llama3"},
           {"rope_factor", 1.0, false, "of the stretch"},
           {"rope_low_frequency_factor", 1.0, false, "llama3: longer waves than rope_original_context / it stretch"},
           {"rope_high_frequency_factor", 4.0, false, "llama3: shorter waves than rope_original_context / it do not"},
           {"rope_original_context", std::int64_t{0}, false, "llama3: tokens per sample before the stretch"},
           {"eps", 1e-5, false, "of the norms"},
           {"tied", false, false, "head and token embedding share their weights"},
           {"qkv_bias", false, false, "biases of the projections to queries, keys and values"},
           {"output_bias", false, false, "bias of the attention's output projection"},
           {"mlp_bias", false, false, "biases of the MLP's projections"},
           {"qk_norm", false, false, "RMS norms of each head's queries and keys"}},
          llama_of};
}

/// [channels, height, width] of square images, or nothing where the data decide.
std::vector<std::int64_t> square_images(const option_map& o) {
  const auto side = get<std::int64_t>(o, "image");
  if (side == 0) return {};
  return {get<std::int64_t>(o, "channels"), side, side};
}

family vit_family() {
  return {"vit",
          "vision transformer on images: patches as tokens, pre-norm blocks, a class token",
          {{"layers", std::int64_t{0}, true, "blocks"},
           {"width", std::int64_t{0}, true, "of the residual stream"},
           {"heads", std::int64_t{0}, true, "of the attention; divide width"},
           {"patch", std::int64_t{0}, true, "side of a patch, in pixels; divides the images' sides"},
           {"image", std::int64_t{0}, false, "side of the square images asked of the data; 0: as the data have them"},
           {"channels", std::int64_t{3}, false, "of the images asked of the data"},
           {"hidden", std::int64_t{0}, false, "units of the feed-forward networks; 0: 4 * width"},
           {"activation", "gelu", false, "of the feed-forward networks: gelu, gelu_new, relu"},
           {"qkv_bias", true, false, "query, key and value have one"},
           {"dropout", 0.0, false, "of embeddings, attention output and feed-forward output"},
           {"attention_dropout", 0.0, false, "of the attention's probabilities"},
           {"eps", 1e-12, false, "of the norms"}},
          [](const option_map& o) {
            return vit({.layers = get<std::int64_t>(o, "layers"),
                        .width = get<std::int64_t>(o, "width"),
                        .heads = get<std::int64_t>(o, "heads"),
                        .hidden = get<std::int64_t>(o, "hidden"),
                        .patch = get<std::int64_t>(o, "patch"),
                        .image = square_images(o),
                        .act = find_activation("vit", get<std::string>(o, "activation")),
                        .qkv_bias = get<bool>(o, "qkv_bias"),
                        .dropout = get<double>(o, "dropout"),
                        .attention_dropout = get<double>(o, "attention_dropout"),
                        .eps = get<double>(o, "eps")});
          }};
}

template <class Range>
std::vector<std::string> names_of(const Range& named) {
  std::vector<std::string> names;
  for (const auto& each : named) names.push_back(each.name);
  return names;
}

const family& find_family(const std::string& name) {
  const auto& all = families();
  const auto found = std::ranges::find(all, name, &family::name);
  if (found != all.end()) return *found;
  const auto names = names_of(all);
  refuse(fmt::format("unknown family \"{}\"; did you mean \"{}\"? Families: {}", name, nearest_name(name, names),
                     fmt::join(names, ", ")));
}

const family_option& find_option(const family& f, const std::string& name) {
  const auto found = std::ranges::find(f.options, name, &family_option::name);
  if (found != f.options.end()) return *found;
  const auto names = names_of(f.options);
  refuse(fmt::format("{}: unknown option \"{}\"; did you mean \"{}\"? Options: {}", f.name, name,
                     nearest_name(name, names), fmt::join(names, ", ")));
}

/// The value in the option's own type.
option_value converted(const family& f, const family_option& option, const option_value& value) {
  static constexpr std::array types{"true or false", "an integer", "a number", "a text"};
  if (value.index() == option.fallback.index()) return value;
  const auto* integer = std::get_if<std::int64_t>(&value);
  if (integer && std::holds_alternative<double>(option.fallback)) return static_cast<double>(*integer);
  refuse(fmt::format("{}: {} must be {}, not {}", f.name, option.name, types[option.fallback.index()],
                     types[value.index()]));
}

void require_given(const family& f, const option_map& options) {
  for (const family_option& option : f.options)
    if (option.required && !options.contains(option.name))
      refuse(fmt::format("{}: \"{}\" ({}) is missing", f.name, option.name, option.help));
}

}  // namespace

const std::vector<family>& families() {
  static const std::vector<family> all{bert_family(),  cnn_family(), gpt2_family(), llama_family(),
                                       mlp_family(), resnet_family(), vit_family()};
  return all;
}

chain_description describe_chain(const std::string& family, const option_map& options) {
  const auto& f = find_family(family);
  option_map complete;
  for (const auto& [name, value] : options) complete[name] = converted(f, find_option(f, name), value);
  require_given(f, options);
  for (const family_option& option : f.options) complete.emplace(option.name, option.fallback);
  return f.make(complete);
}

chain_description with_loss(chain_description description, std::shared_ptr<const loss> objective) {
  description.build = [build = std::move(description.build), objective = std::move(objective)](
                          const data_source& data) { return build(data).minimise(objective); };
  return description;
}

}  // namespace hydra
