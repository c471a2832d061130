#include "models/data/token_windows.hpp"

#include "models/data/sample_bytes.hpp"

#include <fmt/format.h>

#include <utility>

namespace hydra {
namespace {

void check_length(const token_windows_options& options, const token_list& tokens, const char* part) {
  if (tokens.size() > static_cast<std::size_t>(options.context)) return;
  throw fault_error{fault_code::bad_input,
                    fmt::format("{}: {} {} tokens do not make one sample of context {} (which takes {})", options.name,
                                tokens.size(), part, options.context, options.context + 1)};
}

}  // namespace

token_windows::token_windows(token_windows_options options) : options_(std::move(options)) {
  if (options_.context <= 0)
    throw fault_error{fault_code::bad_input,
                      fmt::format("{} needs a model with a context; this one asks for {} tokens per sample",
                                  options_.name, options_.context)};
  check_length(options_, options_.train, "training");
  if (options_.validation.size() > 0) check_length(options_, options_.validation, "validation");
}

const token_list& token_windows::tokens(split part) const noexcept {
  return part == split::train ? options_.train : options_.validation;
}

std::size_t token_windows::samples(split part) const {
  const std::size_t size = tokens(part).size();
  return size == 0 ? 0 : (size - 1) / static_cast<std::size_t>(options_.context);
}

tensor_spec token_windows::sample_input() const { return {{options_.context}, element::i64}; }

std::size_t token_windows::read(split part, std::size_t index, std::span<std::byte> input,
                                std::span<std::byte> target) const {
  if (index >= samples(part))
    throw fault_error{fault_code::internal, fmt::format("{} has no sample {}", options_.name, index)};
  const auto context = static_cast<std::size_t>(options_.context);
  const auto inputs = values_in<std::int64_t>(input, context);
  const auto targets = values_in<std::int64_t>(target, context);
  const token_list& from = tokens(part);
  for (std::size_t i = 0; i < context; ++i) {
    inputs[i] = from[index * context + i];
    targets[i] = from[index * context + i + 1];
  }
  return context;
}

}  // namespace hydra
