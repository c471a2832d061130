#include "models/families/sample_kind.hpp"

#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <optional>

namespace hydra {
namespace {

struct kind_words {
  std::string_view samples, kinds, families;
};

/// In the order of sample_kind.
constexpr std::array<kind_words, 3> all_words{
    {{"texts", R"("text", "tokens", "jsonl", "chat", "alpaca", "prompt-completion", or "csv" with text = "COLUMN")",
      R"("gpt2", "llama" or "bert")"},
     {"images", R"("images" or "cifar")", R"("vit", "resnet" or "cnn")"},
     {"rows of numbers", R"("csv")", R"("mlp")"}}};

const kind_words& words_of(sample_kind kind) { return all_words.at(static_cast<std::size_t>(kind)); }

/// Empty for tensors of other shapes.
std::optional<sample_kind> kind_of_samples(const tensor_spec& sample) {
  if (sample.type == element::i64) return sample_kind::texts;
  if (sample.type != element::f32) return std::nullopt;
  if (sample.shape.size() == 3) return sample_kind::images;
  return sample.shape.size() == 1 ? std::optional{sample_kind::numbers} : std::nullopt;
}

}  // namespace

void require_kind(std::string_view who, const data_source& data, sample_kind wanted) {
  const tensor_spec sample = data.sample_input();
  const auto found = kind_of_samples(sample);
  if (!found || *found == wanted) return;
  const kind_words &takes = words_of(wanted), &are = words_of(*found);
  refuse(fmt::format(
      "{} on {}: the model takes {}, the samples of the data are {}, {}. In its [[model]] write data = \"NAME\" "
      "of data of kind {}, or chain = {{ family = ... }} for {}: {}",
      who, data.describe(), takes.samples, are.samples, to_string(sample), takes.kinds, are.samples, are.families));
}

}  // namespace hydra
