#pragma once
// A piece of an embedding: some rows of its table of tokens.

#include "models/layer.hpp"
#include "models/parameter_slice.hpp"

#include <cstdint>
#include <memory>
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

/// Each piece adds the vectors of its tokens, and 0 for others: the same sum as of the whole table, but for a -0. The
/// first one adds those of positions, whose table it has.
///
/// The first piece gets i64[samples, 2, tokens], ids and targets, or [samples, 3, tokens]: ids, starts
/// (packed_tokens.hpp), targets. The last one's output has the columns of token_columns.hpp.
class embedding_piece final : public layer {
 public:
  embedding_piece(row_table table, const piece_place& piece);

  std::vector<parameter_spec> parameters() const override;
  tensor_spec output(const tensor_spec& input) const override;
  at::Tensor forward(std::span<const at::Tensor> parameters, const at::Tensor& input,
                     const layer_context& context) const override;
  std::string signature() const override;

 private:
  at::Tensor with_ids_in_columns(const at::Tensor& samples, at::ScalarType type) const;
  at::Tensor vectors_of(const at::Tensor& table, const at::Tensor& ids) const;
  at::Tensor positions_of(const at::Tensor& table, const at::Tensor& input, const at::Tensor& ids) const;

  row_table table_;
  piece_place piece_;
  parameter_slice::range rows_;
};

/// All of them. Throws fault_error{bad_input} if they are more than there are tokens.
std::vector<std::shared_ptr<const layer>> embedding_in_pieces(const row_table& table, std::uint32_t pieces);

}  // namespace hydra
