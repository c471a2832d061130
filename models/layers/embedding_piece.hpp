#pragma once
// A piece of an embedding: some rows of its table of tokens.

#include "models/layer.hpp"
#include "models/parameter_slice.hpp"
#include "models/pieces/piece_term.hpp"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hydra {

struct row_table {
  std::string tokens{};     ///< name of the table
  std::string positions{};  ///< name of the table that is added to it; empty: there is none
  std::int64_t vocabulary = 0;
  std::int64_t context = 0;
  std::int64_t width = 0;
  double scale = 1;           ///< of the tokens' vectors
  std::int64_t padding = -1;  ///< id whose vector is not trained here; negative: none
  double dropout = 0;
};

/// The vectors of its tokens, and 0 for others: the pieces' sum is that of the whole table, but for a -0. The first one
/// adds those of positions, whose table it has.
///
/// Samples are i64[samples, 2, tokens], ids and targets, or [samples, 3, tokens]: ids, starts (packed_tokens.hpp),
/// targets. Computed with [ids | starts | targets] in columns; behind the sum are those of token_columns.hpp.
class embedding_piece final : public piece_term {
 public:
  embedding_piece(row_table table, const piece_place& piece);

  std::vector<parameter_spec> parameters() const override;
  sum_columns columns() const override;
  tensor_spec known(const tensor_spec& samples) const override;
  at::Tensor known(const at::Tensor& samples, at::ScalarType type) const override;
  at::Tensor of(std::span<const at::Tensor> parameters, const at::Tensor& known,
                const layer_context& context) const override;
  std::string signature() const override;

 private:
  at::Tensor vectors_of(const at::Tensor& table, const at::Tensor& ids) const;
  at::Tensor positions_of(const at::Tensor& table, const at::Tensor& known, const at::Tensor& ids) const;

  row_table table_;
  piece_place piece_;
  parameter_slice::range rows_;
};

/// All of them. Throws fault_error{bad_input} if they are more than there are tokens, or if there are more than 2^24,
/// which a number in columns does not tell apart.
std::vector<chain_part> embedding_in_pieces(const row_table& table, const division& into);

}  // namespace hydra
