#include "models/data/token_windows.hpp"

#include "models/data/sample_bytes.hpp"
#include "models/data/text_context.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace hydra {
namespace {

void check_length(const token_windows_options& options, const token_list& tokens, const char* part) {
  if (tokens.size() > static_cast<std::size_t>(options.context)) return;
  refuse(fmt::format("{}: {} {} tokens do not make one sample of context {} (which takes {})", options.parts.name,
                     tokens.size(), part, options.context, options.context + 1));
}

/// Mean over the positions of a window.
double mean_entropy(const markov_table& language, std::size_t context) {
  double sum = 0;
  for (std::size_t j = 0; j < context; ++j) sum += language.entropy(j + 1);
  return sum / static_cast<double>(context);
}

/// -log P(token | those before it in the window), summed over the window that starts at `start`.
double window_log_loss(const markov_table& language, const token_list& tokens, std::size_t start, std::size_t context) {
  double sum = 0;
  std::uint64_t last = 0, states = 1;
  for (std::size_t j = 0; j < context; ++j) {
    const std::size_t seen = std::min(j + 1, language.order());
    if (j < language.order()) states *= language.symbols();
    last = (last * language.symbols() + static_cast<std::uint64_t>(tokens[start + j])) % states;
    sum -= std::log(language.probability(last, seen, static_cast<std::uint64_t>(tokens[start + j + 1])));
  }
  return sum;
}

}  // namespace

token_windows::token_windows(token_windows_options options) : options_(std::move(options)) {
  require_text_context(options_.parts.name, options_.context);
  check_length(options_, options_.parts.train, "training");
  if (options_.parts.validation.size() > 0) check_length(options_, options_.parts.validation, "validation");
}

std::size_t token_windows::samples(split part) const {
  const std::size_t size = options_.parts.of(part).size();
  return size == 0 ? 0 : (size - 1) / static_cast<std::size_t>(options_.context);
}

tensor_spec token_windows::sample_input() const { return {{options_.context}, element::i64}; }

std::size_t token_windows::read(split part, std::size_t index, std::span<std::byte> input,
                                std::span<std::byte> target) const {
  if (index >= samples(part))
    throw fault_error{fault_code::internal, fmt::format("{} has no sample {}", options_.parts.name, index)};
  const auto context = static_cast<std::size_t>(options_.context);
  const auto inputs = values_in<std::int64_t>(input, context);
  const auto targets = values_in<std::int64_t>(target, context);
  const token_list& from = options_.parts.of(part);
  for (std::size_t i = 0; i < context; ++i) {
    inputs[i] = from[index * context + i];
    targets[i] = from[index * context + i + 1];
  }
  return context;
}

std::optional<loss_floor> token_windows::floor(split part, std::size_t count) const {
  const std::size_t windows = std::min(count, samples(part));
  if (!options_.language || windows == 0) return std::nullopt;
  const auto context = static_cast<std::size_t>(options_.context);
  double sum = 0;
  for (std::size_t i = 0; i < windows; ++i)
    sum += window_log_loss(*options_.language, options_.parts.of(part), i * context, context);
  return loss_floor{.entropy = mean_entropy(*options_.language, context),
                    .log_loss = sum / static_cast<double>(windows * context)};
}

}  // namespace hydra
