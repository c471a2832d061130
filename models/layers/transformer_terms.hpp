#pragma once
// What GPT-2's block adds to its input: attention, then an MLP, each of its layer norm; whole, or in pieces by heads
// and by features of the MLP (Shoeybi et al. 2019, section 3).

#include "models/layers/attention.hpp"
#include "models/parameter_slice.hpp"
#include "models/pieces/residual_term.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hydra {

struct transformer_block_options {
  std::int64_t width = 0;
  std::int64_t heads = 0;        ///< divides width
  std::int64_t layers = 1;       ///< blocks of the whole model: residual projections start at 0.02/sqrt(2*layers)
  double dropout = 0;            ///< of the attention's and of the MLP's output
  double attention_dropout = 0;  ///< of the attention's probabilities
  double eps = 1e-5;             ///< of the norms
};

/// For signatures: " attention_dropout=..."; empty if there is none.
std::string attention_dropout_in(const transformer_block_options& o);

/// The part of a layer that a term is for.
struct transformer_part {
  piece_place piece{};
  std::size_t first = 0;  ///< index of the term's first parameter among those of its layer
};

/// Parameters: ln_1, which only a whole layer has, attn.c_attn, attn.c_proj, whose bias the first piece has.
class attention_term final : public residual_term {
 public:
  explicit attention_term(const transformer_block_options& options, const transformer_part& part = {});

  std::vector<parameter_spec> parameters() const override;
  at::Tensor norm(std::span<const at::Tensor> parameters, const at::Tensor& x) const override;
  std::size_t norm_size() const override;
  at::Tensor of(std::span<const at::Tensor> parameters, const at::Tensor& n, const at::Tensor& starts,
                const layer_context& context) const override;

  std::string name() const override { return "transformer attention"; }
  std::string options() const override;

  /// Queries, keys and values of n.
  attention_heads heads_of(std::span<const at::Tensor> parameters, const at::Tensor& n,
                           const layer_context& context) const;
  /// The output projection of what heads attend to.
  at::Tensor project(std::span<const at::Tensor> parameters, const at::Tensor& attended,
                     const layer_context& context) const;

 private:
  transformer_block_options options_;
  transformer_part part_;
  std::int64_t heads_;
};

/// Parameters: ln_2, mlp.c_fc, mlp.c_proj, likewise.
class mlp_term final : public residual_term {
 public:
  explicit mlp_term(const transformer_block_options& options, const transformer_part& part = {});

  std::vector<parameter_spec> parameters() const override;
  at::Tensor norm(std::span<const at::Tensor> parameters, const at::Tensor& x) const override;
  std::size_t norm_size() const override;
  at::Tensor of(std::span<const at::Tensor> parameters, const at::Tensor& n, const at::Tensor& starts,
                const layer_context& context) const override;

  std::string name() const override { return "transformer mlp"; }
  std::string options() const override;

 private:
  transformer_block_options options_;
  transformer_part part_;
};

/// Sites of the dropout of what they add.
inline constexpr std::uint32_t attention_output_site = 0, mlp_output_site = 1;

}  // namespace hydra
