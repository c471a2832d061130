#include "models/data/encoder_sample.hpp"

#include "runtime/base/refuse.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

namespace hydra {

encoder_marks encoder_marks_of(const tokenizer& by, bool masked, std::string_view data) {
  const special_tokens special = by.special();
  std::vector<std::string> missing;
  const auto need = [&](std::optional<std::uint32_t> id, const char* name) {
    if (!id) missing.emplace_back(name);
    return static_cast<std::int64_t>(id.value_or(0));
  };
  const encoder_marks marks{.classify = need(special.classify, "[CLS]"),
                            .separate = need(special.separate, "[SEP]"),
                            .padding = need(special.padding, "[PAD]"),
                            .mask = masked ? need(special.mask, "[MASK]") : 0};
  if (!missing.empty())
    refuse(fmt::format(
        "{}: the model wants {} samples of text, but {} has no {}; name the tokenizer that the model was made for",
        data, masked ? "masked" : "labelled", by.describe(), fmt::join(missing, ", ")));
  return marks;
}

void require_room(std::int64_t context, std::string_view data) {
  if (context >= 3) return;
  refuse(fmt::format(
      "{} needs a model with a context of at least 3 tokens ([CLS], one of the text, [SEP]); this one asks for {}",
      data, context));
}

void write_encoder_input(std::span<const std::int64_t> tokens, const encoder_marks& marks,
                         std::span<std::int64_t> out) {
  const std::size_t context = out.size() / 3;
  const auto text = tokens.first(std::min(tokens.size(), context - 2));
  const auto ids = out.first(context), segments = out.subspan(context, context), used = out.last(context);
  std::ranges::fill(ids, marks.padding);
  ids[0] = marks.classify;
  std::ranges::copy(text, ids.begin() + 1);
  ids[text.size() + 1] = marks.separate;
  std::ranges::fill(segments, 0);
  for (std::size_t i = 0; i < context; ++i) used[i] = i < text.size() + 2;
}

}  // namespace hydra
