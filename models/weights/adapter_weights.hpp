#pragma once
// The weights that a chain with a stored adapter begins with.

#include "models/chain.hpp"
#include "models/weights/embedding_change.hpp"
#include "models/weights/hub_tensors.hpp"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace hydra {

/// Whether a tensor has rows of tokens that an embedding, a head or its bias lacks.
bool has_more_rows(const hub_tensor& t, const parameter_spec& p);

/// By full names of parameters.
using embedding_changes = std::map<std::string, embedding_change, std::less<>>;

/// The stored values, and those of the base for what is not stored.
class adapter_weights final : public weight_source {
 public:
  /// `adapted`: what adapt() makes, with the weights of the base. `changes`: of its embeddings. Throws
  /// fault_error{bad_input} with file and tensor: one that is missing, is of another shape, or belongs to nothing in
  /// the chain.
  adapter_weights(std::shared_ptr<const hub_tensors> tensors, const chain& adapted, embedding_changes changes);

  bool read(const parameter_spec& p, std::span<float> values) const override;
  std::string identity() const override;
  std::string files() const override;
  std::string origin(const std::string& parameter) const override;
  bool differs_from_base(const std::string& parameter) const override;

  /// Sentences about values that take the place of the base's and are not trained.
  const std::vector<std::string>& notes() const noexcept { return notes_; }

 private:
  bool replaces(const std::string& parameter) const;
  void note_frozen(const chain& adapted);
  bool is_copy(const hub_tensor& t) const;
  bool read_unchanged(const parameter_spec& p, std::span<float> values) const;
  std::string match(const chain& adapted, const parameter_spec& p);
  std::string example() const;

  std::shared_ptr<const hub_tensors> tensors_;
  std::shared_ptr<const weight_source> base_;
  std::string identity_;
  std::map<std::string, const hub_tensor*, std::less<>> places_;  ///< by full name, tied parameters by their owner's
  embedding_changes changes_;
  std::vector<std::string> notes_;
};

}  // namespace hydra
