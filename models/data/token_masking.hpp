#pragma once
// Masks tokens for masked language modelling (Devlin et al. 2018, section 3.1).

#include "models/data/data_options.hpp"
#include "models/data/encoder_sample.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace hydra {

/// Of the tokens that are not special, share * n (rounded, at least one) are chosen; of these 80 % become [MASK], 10 %
/// a random token of the vocabulary, 10 % stay. The choice is a function of the key alone, so a sample is the same in
/// every epoch.
class token_masking {
 public:
  /// Throws fault_error{bad_input} naming `data` unless the share is above 0 and at most 1.
  token_masking(const mask_options& options, const encoder_marks& marks, std::int64_t vocabulary,
                std::string_view data);

  /// Changes `ids`, writes the targets (the original token, masked_target elsewhere) and returns how many count. `part`
  /// and `index` identify the sample.
  std::size_t apply(std::span<std::int64_t> ids, std::span<std::int64_t> targets, std::uint64_t part,
                    std::uint64_t index) const;

 private:
  bool is_special(std::int64_t id) const noexcept;
  std::int64_t replacement(std::int64_t id, std::uint64_t key, std::size_t at) const noexcept;

  mask_options options_;
  encoder_marks marks_;
  std::int64_t vocabulary_;
};

}  // namespace hydra
