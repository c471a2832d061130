#include "models/layers/packed_tokens.hpp"

#include "models/layers/checks.hpp"
#include "models/layers/masked_tokens.hpp"
#include "runtime/base/refuse.hpp"

#include <ATen/ops/arange_ops.h>
#include <ATen/ops/cummax_ops.h>
#include <fmt/format.h>

#include <tuple>

namespace hydra {
namespace {

/// i64[tokens]: 0, 1, ...
at::Tensor places(const at::Tensor& starts) {
  return at::_ops::arange::call(starts.size(1), at::kLong, {}, starts.device(), {});
}

/// i64[samples, tokens]: where the record of each token starts.
at::Tensor first_of_record(const at::Tensor& starts) {
  return std::get<0>(at::_ops::cummax::call(starts.to(at::kLong).mul(places(starts)), 1));
}

}  // namespace

packed_tokens split_starts(const at::Tensor& input, std::int64_t width) {
  if (input.size(2) == width) return {input, {}};
  const auto [vectors, starts] = split_mask(input);
  return {vectors, starts};
}

at::Tensor join_starts(const packed_tokens& tokens) {
  return tokens.starts.defined() ? join_mask({tokens.vectors, tokens.starts}) : tokens.vectors;
}

void require_packed_tokens(std::string_view who, const tensor_spec& input, std::int64_t width) {
  const bool packed = input.shape.size() == 3 && input.shape[2] == width + 1;
  require_input(who, input, element::f32, 3, packed ? width + 1 : width);
}

packed_ids split_ids(const at::Tensor& input) {
  if (input.dim() == 2) return {input, {}};
  return {input.select(1, 0), input.select(1, 1)};
}

tensor_spec embedded(std::string_view who, const tensor_spec& input, std::int64_t context, std::int64_t width) {
  const bool packed = input.shape.size() == 3;
  require_input(who, input, element::i64, packed ? 3 : 2);
  if (packed && input.shape[1] != 2)
    refuse(fmt::format("{} gets {}; it wants ids, or 2 rows (ids, 1 where a record starts)", who, to_string(input)));
  require_context(who, input.shape.back(), context);
  return {{input.shape[0], input.shape.back(), packed ? width + 1 : width}, element::f32};
}

at::Tensor positions_in_records(const at::Tensor& starts) { return places(starts).sub(first_of_record(starts)); }

at::Tensor visible_in_records(const at::Tensor& starts) {
  const at::Tensor first = first_of_record(starts);
  return first.unsqueeze(2).eq(first.unsqueeze(1)).tril().unsqueeze(1);
}

}  // namespace hydra
