#pragma once
// What an adapter of PEFT changes in an embedding or a head over tokens: a map of low rank that is added to it (LoRA on
// an embedding), or the rows of some tokens (trainable_token_indices).

#include "models/layer.hpp"
#include "models/weights/hub_tensors.hpp"
#include "models/weights/model_config.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace hydra {

/// Of a weight [tokens, width]: scale * (B A)^T is added, of A [rank, tokens] and B [width, rank].
struct added_rows {
  const hub_tensor* a = nullptr;
  const hub_tensor* b = nullptr;
  double scale = 1;
};

/// Rows [n, width] in the place of those of n tokens.
struct replaced_rows {
  const hub_tensor* rows = nullptr;
  std::vector<std::int64_t> tokens{};
  const hub_tensor* copy = nullptr;  ///< that of a tied head, which is equal
};

using embedding_change = std::variant<added_rows, replaced_rows>;

/// Throws fault_error{bad_input} for a tensor of an adapter whose vocabulary has `more` tokens than the model, which
/// needs the given shape: with the keys that add them.
[[noreturn]] void refuse_more_tokens(const hub_tensor& t, const std::vector<std::int64_t>& shape, std::int64_t more);

/// trainable_token_indices of an adapter_config.json.
class trainable_tokens {
 public:
  /// Throws fault_error{bad_input} with file and key.
  explicit trainable_tokens(const model_config& config);

  /// The rows of `module` with the weight `p`; empty if the adapter has none for it. Throws fault_error{bad_input} with
  /// the file: rows of another shape, of tokens that are not named, or of such as the model does not have.
  std::optional<replaced_rows> rows_in(const hub_tensors& stored, const std::string& module,
                                       const parameter_spec& p) const;

  /// Throws fault_error{bad_input} with the file if a module that it names has no such rows in `rows`, which are by
  /// full name.
  void require_all(const std::vector<std::pair<std::string, replaced_rows>>& rows) const;

 private:
  std::string file_;
  std::map<std::string, std::vector<std::int64_t>> tokens_;  ///< by the end of a module's name; "": the embedding
};

/// Whether the adapter has a map of low rank for an embedding.
bool adds_to_embedding(const hub_tensors& stored, const std::string& module);

/// It, if so. Throws fault_error{bad_input} with file and tensor if a half is missing or does not fit.
added_rows added_to(const hub_tensors& stored, const std::string& module, const parameter_spec& p, std::int64_t rank,
                    double scale);

/// The tensors that a change is made of.
std::vector<const hub_tensor*> tensors_of(const embedding_change& change);

/// `values` [tokens, width], row by row, with the change; as PEFT merges it, in fp32. Uses all cores. Throws
/// fault_error{bad_input} with file and tensor for values that are not finite.
void change_rows(const embedding_change& change, std::size_t width, std::span<float> values);

}  // namespace hydra
