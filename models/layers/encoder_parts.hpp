#pragma once
// Attention and feed-forward network of an encoder's block (BERT, ViT), between norms and residual connections; whole,
// or in pieces by heads and by the network's units.

#include "models/layer.hpp"
#include "models/layers/activation.hpp"
#include "models/layers/linear_map.hpp"
#include "models/parameter_slice.hpp"
#include "runtime/base/tensor_fwd.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hydra {

struct encoder_form {
  std::int64_t width = 0;
  std::int64_t heads = 0;   ///< divides width
  std::int64_t hidden = 0;  ///< units of the feed-forward network
  activation act = activation::gelu;
  bool qkv_bias = true;
  double dropout = 0;            ///< of the attention's and of the network's output
  double attention_dropout = 0;  ///< of the attention's probabilities
  double eps = 1e-12;            ///< of the norms
};

/// Sites of dropout; that of the probabilities is of the first piece, the others have their own behind these.
enum class encoder_site : std::uint32_t { probabilities, attention_output, network_output };

/// x [samples, tokens, width] to the same: heads attend, and are projected. A piece has some of the heads; the first
/// one the output's bias.
class encoder_heads {
 public:
  struct names {
    std::string query{}, key{}, value{}, dense{};
  };
  /// Indices in the layer's parameters.
  struct places {
    std::array<linear_place, 3> projections{};  ///< query, key, value
    linear_place dense{};
  };

  encoder_heads(const encoder_form& form, const places& where) : form_(form), where_(where) {}
  /// A piece, whose parameters begin at that index.
  encoder_heads(const encoder_form& form, const piece_place& piece, std::size_t first);

  static std::vector<parameter_spec> parameters(const encoder_form& form, const names& called,
                                                const piece_place& piece);

  /// `bias` as from key_bias().
  at::Tensor of(std::span<const at::Tensor> parameters, const at::Tensor& x, const at::Tensor& bias,
                const layer_context& context) const;

 private:
  encoder_form form_;
  places where_;
  piece_place piece_{};
};

/// x [samples, tokens, width] to the same: a hidden layer with an activation. A piece has some of its units; the first
/// one the output's bias.
class encoder_network {
 public:
  struct names {
    std::string intermediate{}, output{};
  };

  encoder_network(const encoder_form& form, linear_place intermediate, linear_place output)
      : form_(form), intermediate_(intermediate), output_(output) {}
  /// A piece, whose parameters begin at that index.
  encoder_network(const encoder_form& form, const piece_place& piece, std::size_t first);

  static std::vector<parameter_spec> parameters(const encoder_form& form, const names& called,
                                                const piece_place& piece);

  at::Tensor of(std::span<const at::Tensor> parameters, const at::Tensor& x, const layer_context& context) const;

 private:
  encoder_form form_;
  linear_place intermediate_, output_;
};

/// Throws fault_error{bad_input} if a block cannot be divided into so many.
void require_encoder_pieces(const encoder_form& form, std::uint32_t pieces);

/// For signatures of pieces.
std::string text_of(const encoder_form& form, const piece_place& piece);

}  // namespace hydra
