#pragma once
// The folder of an adapter as Hugging Face's PEFT writes it: adapter_config.json and adapter_model.safetensors.

#include "models/lora.hpp"
#include "models/weights/adapter_targets.hpp"
#include "models/weights/adapter_weights.hpp"
#include "models/weights/embedding_change.hpp"
#include "models/weights/hub_export.hpp"
#include "models/weights/hub_tensors.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace hydra {

/// An adapter that was stored.
class adapter_folder {
 public:
  /// Throws fault_error{bad_input} with file and key: a file is missing or damaged, or the adapter is of another kind
  /// than Hydra's LoRA.
  explicit adapter_folder(const std::filesystem::path& folder);

  /// adapt() with the stored values, also those of what it does not train: biases, embeddings, the rows of new tokens.
  /// Throws fault_error{bad_input} with file and tensor: one that is missing, is of another shape, or belongs to
  /// nothing in the adapted chain; the adapter is that of another base than the chain's weights, as far as its files
  /// say so; the chain has no weights; adapter_config.json names none of its modules; what adapt() throws.
  chain adapt(chain model) const;

  /// The folder of its base, as adapter_config.json names it; may be that of another machine, or empty.
  const std::filesystem::path& base() const noexcept { return base_; }

  /// Rows of the embedding or the head that it stores, if it was trained with tokens for which the model has none; else
  /// 0.
  std::int64_t rows_beyond(const chain& model) const;

 private:
  adapter_folder(const std::filesystem::path& folder, const model_config& config);
  bool check_base(const weight_source& weights) const;
  embedding_changes changes_in(const chain& model) const;
  void require_plain_embedding(const chain& model, const std::string& weight, const std::string& module) const;

  lora_options common_;  ///< what does not depend on the model
  adapter_targets targets_;
  trainable_tokens tokens_;
  std::vector<std::string> notes_;
  std::shared_ptr<const hub_tensors> tensors_;
  std::filesystem::path base_;
  bool ties_ = false;           ///< ensure_weight_tying
  std::string task_;            ///< by which PEFT chooses the class of the model; may be empty
};

/// Adds both files for an adapted chain, with what it trains and what differs from the base. `base`: folder of the
/// checkpoint that it starts from. Throws fault_error{bad_input} if there is none, for a model of images (peft knows
/// its modules by other names), what `values` and hub_tensors{base} throw, {io}.
void write_adapter_files(durable_folder& into, const chain& model, const stored_values& values,
                         const std::filesystem::path& base);

}  // namespace hydra
