#include "models/data/masked_windows.hpp"

#include "models/data/sample_bytes.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace hydra {

masked_windows::masked_windows(masked_windows_options options)
    : options_(std::move(options)),
      masking_(options_.masking, options_.marks, options_.parts.vocabulary, options_.parts.name) {
  require_room(options_.context, options_.parts.name);
  step_ = static_cast<std::size_t>(options_.context - 2);
  if (options_.parts.train.size() == 0) refuse(fmt::format("{} has no tokens to train on", options_.parts.name));
}

std::size_t masked_windows::samples(split part) const { return (options_.parts.of(part).size() + step_ - 1) / step_; }

/// With [CLS] and [SEP].
std::size_t masked_windows::tokens_of(split part, std::size_t index) const {
  return std::min(options_.parts.of(part).size() - index * step_, step_) + 2;
}

std::size_t masked_windows::read(split part, std::size_t index, std::span<std::byte> input,
                                 std::span<std::byte> target) const {
  if (index >= samples(part))
    throw fault_error{fault_code::internal, fmt::format("{} has no sample {}", options_.parts.name, index)};
  const token_list& from = options_.parts.of(part);
  std::vector<std::int64_t> window;
  for (std::size_t i = index * step_; i < std::min(from.size(), (index + 1) * step_); ++i) window.push_back(from[i]);
  const auto context = static_cast<std::size_t>(options_.context);
  const auto all = values_in<std::int64_t>(input, 3 * context);
  write_encoder_input(window, options_.marks, all);
  return masking_.apply(all.first(context), values_in<std::int64_t>(target, context), part == split::train ? 1 : 2,
                        index);
}

}  // namespace hydra
