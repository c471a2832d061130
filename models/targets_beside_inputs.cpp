#include "models/targets_beside_inputs.hpp"

#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

namespace hydra {
namespace {

class inputs_and_targets final : public data_source {
 public:
  inputs_and_targets(std::shared_ptr<const data_source> of, const tensor_spec& input, std::int64_t ids)
      : source_(std::move(of)), input_(input), vocabulary_(ids) {}

  const data_source& given() const noexcept { return *source_; }

  std::size_t samples(split part) const override { return source_->samples(part); }
  tensor_spec sample_input() const override { return input_; }
  tensor_spec sample_target() const override { return source_->sample_target(); }
  std::int64_t classes() const override { return source_->classes(); }
  std::int64_t vocabulary() const override { return source_->vocabulary(); }
  std::int64_t observed_vocabulary() const override { return source_->observed_vocabulary(); }
  std::string token_text(std::int64_t id) const override { return source_->token_text(id); }
  std::size_t read(split part, std::size_t index, std::span<std::byte> input,
                   std::span<std::byte> target) const override {
    const std::size_t counted = source_->read(part, index, input.first(input.size() - target.size()), target);
    check("a token", index, input.first(target.size()));
    check("a target", index, target);
    std::ranges::copy(target, input.last(target.size()).begin());
    return counted;
  }
  std::size_t tokens_of(split part, std::size_t index) const override { return source_->tokens_of(part, index); }
  std::optional<record_census> census(split part) const override { return source_->census(part); }
  void require_unchanged() const override { source_->require_unchanged(); }
  std::vector<std::string> class_names() const override { return source_->class_names(); }
  std::vector<std::string> notes() const override { return source_->notes(); }
  std::string describe() const override { return source_->describe(); }
  std::string fingerprint() const override { return source_->fingerprint(); }
  std::optional<loss_floor> floor(split part, std::size_t samples) const override {
    return source_->floor(part, samples);
  }

 private:
  void check(std::string_view what, std::size_t sample, std::span<const std::byte> row) const {
    const bool masks = what == "a target";
    for (std::size_t at = 0; at < row.size(); at += sizeof(std::int64_t)) {
      std::int64_t id = 0;
      std::memcpy(&id, row.data() + at, sizeof id);
      if ((id >= 0 && id < vocabulary_) || (masks && id == uncounted_target)) continue;
      refuse(fmt::format("{}: sample {} has {} {}, and the model {} tokens", source_->describe(), sample, what, id,
                         vocabulary_));
    }
  }

  std::shared_ptr<const data_source> source_;
  tensor_spec input_;
  std::int64_t vocabulary_;
};

}  // namespace

std::optional<tensor_spec> with_row_of_targets(const tensor_spec& sample_input) {
  const auto& shape = sample_input.shape;
  const bool plain = shape.size() == 1, packed = shape.size() == 2 && shape[0] == 2;
  if (sample_input.type != element::i64 || (!plain && !packed)) return std::nullopt;
  return tensor_spec{{plain ? 2 : 3, shape.back()}, element::i64};
}

std::shared_ptr<const data_source> targets_beside_inputs(std::shared_ptr<const data_source> source,
                                                         std::int64_t vocabulary) {
  const auto input = with_row_of_targets(source->sample_input());
  const tensor_spec target = source->sample_target();
  if (!input || target != tensor_spec{{input->shape.back()}, element::i64})
    refuse(fmt::format("{}: its samples are {} with targets {}; a head in pieces needs tokens, and a target for each",
                       source->describe(), to_string(source->sample_input()), to_string(target)));
  return std::make_shared<inputs_and_targets>(std::move(source), *input, vocabulary);
}

const data_source& without_targets(const data_source& source) {
  const auto* const both = dynamic_cast<const inputs_and_targets*>(&source);
  return both ? both->given() : source;
}

}  // namespace hydra
