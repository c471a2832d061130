#include "models/layers/embedding_piece.hpp"

#include "models/dropout.hpp"
#include "models/layers/checks.hpp"
#include "models/layers/packed_tokens.hpp"
#include "models/layers/sum_of_pieces.hpp"
#include "models/pieces/piece_parameters.hpp"
#include "models/pieces/token_columns.hpp"
#include "runtime/base/refuse.hpp"

#include <ATen/core/IListRef.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat_ops.h>
#include <ATen/ops/embedding_ops.h>
#include <ATen/ops/where_ops.h>
#include <fmt/format.h>

#include <utility>

namespace hydra {
namespace {

at::Tensor look_up(const at::Tensor& table, const at::Tensor& ids, std::int64_t padding = -1) {
  return at::_ops::embedding::call(table, ids, padding, false, false);
}

/// [samples, tokens, 3]
at::Tensor in_columns(const at::Tensor& ids, at::ScalarType type) {
  return to_columns(ids.unsqueeze(2).to(at::kFloat), type);
}

}  // namespace

embedding_piece::embedding_piece(row_table table, const piece_place& piece)
    : table_(std::move(table)), piece_(piece), rows_(piece.of_row(table_.vocabulary)) {}

std::vector<parameter_spec> embedding_piece::parameters() const {
  const initial_value initial{initial_value::kind::normal, 0.02};
  piece_parameters all{piece_};
  all.add_part({table_.tokens, {table_.vocabulary, table_.width}, initial, {}}, 0, {rows_});
  if (piece_.first() && !table_.positions.empty())
    all.add({table_.positions, {table_.context, table_.width}, initial, {}});
  return all.take();
}

sum_columns embedding_piece::columns() const { return {.sum = table_.width, .used = columns_of_number}; }

tensor_spec embedding_piece::known(const tensor_spec& samples) const {
  require_input("embedding in pieces", samples, element::i64, 3);
  const bool packed = samples.shape[1] == 3;
  if (!packed && samples.shape[1] != 2)
    refuse(fmt::format("embedding in pieces gets {}; it wants 2 rows (ids, targets) or 3 (ids, starts, targets)",
                       to_string(samples)));
  require_context("embedding in pieces", samples.shape.back(), table_.context);
  return {{samples.shape[0], samples.shape[2], 2 * columns_of_number + (packed ? 1 : 0)}, element::f32};
}

at::Tensor embedding_piece::known(const at::Tensor& samples, at::ScalarType type) const {
  const std::int64_t last = samples.size(1) - 1;
  std::vector<at::Tensor> columns{in_columns(samples.select(1, 0), type)};
  if (last == 2) columns.push_back(samples.select(1, 1).unsqueeze(2).to(type));
  columns.push_back(in_columns(samples.select(1, last), type));
  return at::_ops::cat::call(at::TensorList{columns}, 2);
}

/// 0 for tokens of other pieces.
at::Tensor embedding_piece::vectors_of(const at::Tensor& table, const at::Tensor& ids) const {
  const at::Tensor own = ids.ge(rows_.first).logical_and(ids.lt(rows_.past)).unsqueeze(2);
  const std::int64_t n = rows_.size(), padding = table_.padding - rows_.first;
  const bool pads = table_.padding >= rows_.first && table_.padding < rows_.past;
  const at::Tensor found = look_up(table, ids.sub(rows_.first).clamp(0, n - 1), pads ? padding : -1);
  const at::Tensor scaled = table_.scale == 1 ? found : found.mul(table_.scale);
  return at::_ops::where_ScalarOther::call(own, scaled, 0);
}

at::Tensor embedding_piece::positions_of(const at::Tensor& table, const at::Tensor& known,
                                         const at::Tensor& ids) const {
  const bool packed = known.size(2) > 2 * columns_of_number;
  if (!packed) return table.narrow(0, 0, ids.size(1));
  return look_up(table, positions_in_records(known.select(2, columns_of_number)));
}

at::Tensor embedding_piece::of(std::span<const at::Tensor> parameters, const at::Tensor& known,
                               const layer_context& context) const {
  const at::Tensor columns = known.detach();
  const at::Tensor ids = from_columns(columns.narrow(2, 0, columns_of_number)).squeeze(2).to(at::kLong);
  at::Tensor vectors = vectors_of(parameters[0], ids);
  if (piece_.first() && !table_.positions.empty()) vectors = vectors.add(positions_of(parameters[1], columns, ids));
  return keyed_dropout(vectors, table_.dropout, context, 0);
}

std::string embedding_piece::signature() const {
  return fmt::format("embedding rows={} vocabulary={} positions={} width={} scale={} dropout={}{}", rows_.size(),
                     table_.vocabulary, table_.positions.empty() ? 0 : table_.context, table_.width, table_.scale,
                     table_.dropout, table_.padding < 0 ? "" : fmt::format(" padding={}", table_.padding));
}

std::vector<chain_part> embedding_in_pieces(const row_table& table, const division& into) {
  if (into.pieces > table.vocabulary)
    refuse(fmt::format("{} pieces are more than the {} tokens of the vocabulary", into.pieces, table.vocabulary));
  constexpr std::int64_t most = 1 << 24;
  if (table.vocabulary > most)
    refuse(fmt::format("a vocabulary of {} tokens cannot be divided: at most {} can", table.vocabulary, most));
  sum_of_pieces sum{.width = table.width};
  sum.terms = terms_of(into.pieces,
                       [&](const piece_place& piece) { return std::make_shared<embedding_piece>(table, piece); });
  return layers_of(sum, into);
}

}  // namespace hydra
