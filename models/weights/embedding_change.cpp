#include "models/weights/embedding_change.hpp"

#include "models/weights/adapter_targets.hpp"
#include "models/weights/stored_values.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <tbb/parallel_for.h>

#include <algorithm>

namespace hydra {
namespace {

constexpr const char* tokens_key = "trainable_token_indices";

std::string half_name(const std::string& module, char which) {
  return fmt::format("{}.lora_embedding_{}", module, which);
}

void require_fits(const hub_tensor& t, const std::vector<std::int64_t>& shape) {
  if (t.tensor.shape != shape || !widens_to_f32(t.tensor.type))
    refuse_tensor(t, fmt::format("is {} [{}]; F32, BF16 or F16 [{}] is needed: the adapter belongs to another model, "
                                 "or adapter_config.json is",
                                 to_string(t.tensor.type), fmt::join(t.tensor.shape, ", "), fmt::join(shape, ", ")));
}

const hub_tensor& half_of(const hub_tensors& stored, const std::string& module, char which,
                          const std::vector<std::int64_t>& shape) {
  const hub_tensor* const t = stored.find(half_name(module, which));
  if (!t)
    refuse(fmt::format("{}: the adapter lacks tensor {}", stored.folder().string(), half_name(module, which)));
  require_fits(*t, shape);
  return *t;
}

std::vector<float> values_of(const hub_tensor& t) {
  std::size_t elements = 1;
  for (const std::int64_t n : t.tensor.shape) elements *= static_cast<std::size_t>(n);
  std::vector<float> values(elements);
  if (const std::size_t wrong = widen_mapped(t.tensor, values))
    refuse_tensor(t, fmt::format("{} of {} values are not finite", wrong, values.size()));
  return values;
}

void change(const added_rows& added, std::size_t width, std::span<float> values) {
  const std::vector<float> a = values_of(*added.a), b = values_of(*added.b);
  const std::size_t tokens = values.size() / width, rank = a.size() / tokens;
  const auto scale = static_cast<float>(added.scale);
  tbb::parallel_for(std::size_t{0}, tokens, [&](std::size_t token) {
    for (std::size_t i = 0; i < width; ++i) {
      float sum = 0;
      for (std::size_t k = 0; k < rank; ++k) sum += b[i * rank + k] * a[k * tokens + token];
      values[token * width + i] += sum * scale;
    }
  });
}

void change(const replaced_rows& replaced, std::size_t width, std::span<float> values) {
  const std::vector<float> rows = values_of(*replaced.rows);
  for (std::size_t i = 0; i < replaced.tokens.size(); ++i)
    std::ranges::copy(std::span{rows}.subspan(i * width, width),
                      values.subspan(static_cast<std::size_t>(replaced.tokens[i]) * width, width).begin());
}

}  // namespace

void refuse_more_tokens(const hub_tensor& t, const std::vector<std::int64_t>& shape, std::int64_t more) {
  refuse_tensor(t, fmt::format("is [{}]; the model has [{}]: the adapter was trained with {} tokens more. Name them, "
                               "chain = {{ from = \"...\", tokens = [\"...\"] }}; its tokenizer has them",
                               fmt::join(t.tensor.shape, ", "), fmt::join(shape, ", "), more));
}

trainable_tokens::trainable_tokens(const model_config& config) : file_(config.file()) {
  if (!config.has(tokens_key)) return;
  if (config.content().at(tokens_key).is_array()) {
    tokens_[""] = config.integers(tokens_key);
    return;
  }
  const auto table = config.table(tokens_key);
  for (const auto& [name, value] : table->content().items()) tokens_[name] = table->integers(name);
}

std::optional<replaced_rows> trainable_tokens::rows_in(const hub_tensors& stored, const std::string& module,
                                                     const parameter_spec& p) const {
  const hub_tensor* const t = stored.find(module + ".token_adapter.trainable_tokens_delta");
  const auto named = std::ranges::find_if(
      tokens_, [&](const auto& entry) { return module.ends_with(entry.first); });
  if (!t || named == tokens_.end()) return std::nullopt;
  const std::vector<std::int64_t>& tokens = named->second;
  require_fits(*t, {std::ssize(tokens), p.shape[1]});
  const auto other = std::ranges::find_if(tokens, [&](std::int64_t token) { return token < 0 || token >= p.shape[0]; });
  if (other != tokens.end())
    refuse(fmt::format(
        "{}: {}: names token {}; {} has {} tokens. chain = {{ from = \"...\", tokens = [\"...\"] }} adds tokens", file_,
        tokens_key, *other, module, p.shape[0]));
  return replaced_rows{t, tokens};
}

void trainable_tokens::require_all(const std::vector<std::pair<std::string, replaced_rows>>& rows) const {
  for (const auto& [name, tokens] : tokens_) {
    const auto is_it = [&](const auto& r) { return r.first.ends_with(name) && r.second.tokens == tokens; };
    if (std::ranges::none_of(rows, is_it))
      refuse(fmt::format(
          "{}: {}: the adapter has no rows of {} that Hydra knows, which are those of token embeddings and of "
          "heads that are not tied; {}",
          file_, tokens_key, name.empty() ? "the embedding" : shown(name), merge_by_peft));
  }
}

bool adds_to_embedding(const hub_tensors& stored, const std::string& module) {
  return stored.find(half_name(module, 'A')) || stored.find(half_name(module, 'B'));
}

added_rows added_to(const hub_tensors& stored, const std::string& module, const parameter_spec& p, std::int64_t rank,
                    double scale) {
  const hub_tensor* const a = stored.find(half_name(module, 'A'));
  if (a && a->tensor.shape.size() == 2 && a->tensor.shape[1] > p.shape[0])
    refuse_more_tokens(*a, {rank, p.shape[0]}, a->tensor.shape[1] - p.shape[0]);
  return {&half_of(stored, module, 'A', {rank, p.shape[0]}), &half_of(stored, module, 'B', {p.shape[1], rank}), scale};
}

std::vector<const hub_tensor*> tensors_of(const embedding_change& change) {
  if (const auto* const added = std::get_if<added_rows>(&change)) return {added->a, added->b};
  const auto& replaced = std::get<replaced_rows>(change);
  return replaced.copy ? std::vector{replaced.rows, replaced.copy} : std::vector{replaced.rows};
}

void change_rows(const embedding_change& how, std::size_t width, std::span<float> values) {
  std::visit([&](const auto& kind) { change(kind, width, values); }, how);
}

}  // namespace hydra
