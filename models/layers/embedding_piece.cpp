#include "models/layers/embedding_piece.hpp"

#include "models/dropout.hpp"
#include "models/layers/checks.hpp"
#include "models/layers/packed_tokens.hpp"
#include "models/pieces/piece_columns.hpp"
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
  piece_parameters all{piece_, {}};
  all.add_part({table_.tokens, {table_.vocabulary, table_.width}, initial, {}}, 0, {rows_});
  if (piece_.first() && !table_.positions.empty())
    all.add({table_.positions, {table_.context, table_.width}, initial, {}});
  return all.take();
}

tensor_spec embedding_piece::output(const tensor_spec& input) const {
  tensor_spec out = input;
  if (piece_.first()) {
    const bool packed = input.shape.size() == 3 && input.shape[1] == 3;
    require_input("embedding in pieces", input, element::i64, 3);
    if (!packed && input.shape[1] != 2)
      refuse(fmt::format("embedding in pieces gets {}; it wants 2 rows (ids, targets) or 3 (ids, starts, targets)",
                         to_string(input)));
    require_context("embedding in pieces", input.shape.back(), table_.context);
    out = {{input.shape[0], input.shape[2], table_.width + 2 * columns_of_number + (packed ? 1 : 0)}, element::f32};
  } else {
    require_input("embedding in pieces", input, element::f32, 3);
  }
  if (piece_.last()) out.shape.back() -= columns_of_number;
  return out;
}

/// [ids | starts | targets]
at::Tensor embedding_piece::with_ids_in_columns(const at::Tensor& samples, at::ScalarType type) const {
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

at::Tensor embedding_piece::positions_of(const at::Tensor& table, const at::Tensor& input,
                                         const at::Tensor& ids) const {
  const bool packed = input.size(2) > 2 * columns_of_number;
  if (!packed) return table.narrow(0, 0, ids.size(1));
  return look_up(table, positions_in_records(input.select(2, columns_of_number)));
}

at::Tensor embedding_piece::forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                                    const layer_context& context) const {
  at::Tensor before, known;
  if (piece_.first()) {
    known = with_ids_in_columns(input, parameters[0].scalar_type());
  } else {
    const auto parts = split_columns(input, {table_.width, input.size(2) - table_.width});
    before = parts[0];
    known = parts[1].detach();
  }
  const at::Tensor ids = from_columns(known.narrow(2, 0, columns_of_number)).squeeze(2).to(at::kLong);
  at::Tensor term = vectors_of(parameters[0], ids);
  if (piece_.first() && !table_.positions.empty()) term = term.add(positions_of(parameters[1], known, ids));
  term = keyed_dropout(term, table_.dropout, context, 0);
  const at::Tensor sum = before.defined() ? before.add(term) : term;
  if (!piece_.last()) return join_columns({sum, known});
  return close_tokens(sum, known.narrow(2, columns_of_number, known.size(2) - columns_of_number));
}

std::string embedding_piece::signature() const {
  return fmt::format("embedding, {} of {} pieces rows={} vocabulary={} positions={} width={} scale={} dropout={}{}",
                     name_of(piece_), piece_.of, rows_.size(), table_.vocabulary,
                     table_.positions.empty() ? 0 : table_.context, table_.width, table_.scale, table_.dropout,
                     table_.padding < 0 ? "" : fmt::format(" padding={}", table_.padding));
}

std::vector<std::shared_ptr<const layer>> embedding_in_pieces(const row_table& table, std::uint32_t pieces) {
  if (pieces > table.vocabulary)
    refuse(fmt::format("{} pieces are more than the {} tokens of the vocabulary", pieces, table.vocabulary));
  constexpr std::int64_t most = 1 << 24;  // that a number in columns tells apart
  if (table.vocabulary > most)
    refuse(fmt::format("a vocabulary of {} tokens cannot be divided: at most {} can", table.vocabulary, most));
  std::vector<std::shared_ptr<const layer>> all;
  for (std::uint32_t i = 0; i < pieces; ++i)
    all.push_back(std::make_shared<embedding_piece>(table, piece_place{i, pieces}));
  return all;
}

}  // namespace hydra
