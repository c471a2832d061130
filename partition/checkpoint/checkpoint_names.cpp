#include "partition/checkpoint/checkpoint_names.hpp"

#include "models/optimizer/parameter_rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

namespace hydra::checkpoint_names {

namespace {

constexpr std::array phases{"waiting", "landed", "normed", "stepped", "complete"};

struct boundary_word {
  block_kind kind;
  std::string_view word;
};
constexpr std::array boundary_words{
    boundary_word{block_kind::activation, "activation"}, boundary_word{block_kind::upstream, "upstream"},
    boundary_word{block_kind::joined, "joined"}, boundary_word{block_kind::term, "term"}};

}  // namespace

std::string shard_file(std::size_t shard) { return fmt::format("shard-{:04}.safetensors", shard); }

std::vector<std::string> moments(update_kind kind, const parameter_form& form) {
  switch (kind_for(kind, form)) {
    case update_kind::adamw:
    case update_kind::adamw8bit:
      return {"exp_avg", "exp_avg_sq"};
    case update_kind::lion:
      return {"exp_avg"};
    case update_kind::sgd:
    case update_kind::muon:
      return {"momentum_buffer"};
    case update_kind::adafactor:
      return form.shape.size() >= 2 ? std::vector<std::string>{"exp_avg_sq_row", "exp_avg_sq_col"}
                                    : std::vector<std::string>{"exp_avg_sq"};
  }
  return {};
}

std::string largest_of(const std::string& moment) { return moment + "_absmax"; }

std::string gradient(std::size_t replica, const std::string& parameter) {
  return (replica == 0 ? "" : fmt::format("replica-{}.", replica)) + "gradient." + parameter;
}

std::string boundary(const block_id& id) {
  if (id.kind == block_kind::gradients) {
    return fmt::format("sum.{}.{}.{}", id.shard.value, id.replica.value, id.micro_batch.value);
  }
  const auto found = std::ranges::find(boundary_words, id.kind, &boundary_word::kind);
  return fmt::format("{}.{}.{}", found->word, id.shard.value, id.micro_batch.value);
}

namespace {

std::optional<block_id> partial_sum_id(const std::string& name) {
  block_id id;
  id.kind = block_kind::gradients;
  int end = 0;
  const auto read =
      std::sscanf(name.c_str(), "sum.%u.%u.%u%n", &id.shard.value, &id.replica.value, &id.micro_batch.value, &end);
  return read == 3 && static_cast<std::size_t>(end) == name.size() ? std::optional(id) : std::nullopt;
}

}  // namespace

std::optional<block_id> boundary_id(const std::string& name) {
  if (const auto sum = partial_sum_id(name)) {
    return sum;
  }
  std::array<char, 16> kind{};
  block_id id;
  int end = 0;
  const auto read =
      std::sscanf(name.c_str(), "%15[a-z].%u.%u%n", kind.data(), &id.shard.value, &id.micro_batch.value, &end);
  const auto found = std::ranges::find(boundary_words, std::string_view(kind.data()), &boundary_word::word);
  if (read != 3 || static_cast<std::size_t>(end) != name.size() || found == boundary_words.end()) {
    return std::nullopt;
  }
  id.kind = found->kind;
  return id;
}

std::string norms(std::size_t shard) { return fmt::format("norms.{}", shard); }

const char* phase(update_phase p) { return phases.at(static_cast<std::size_t>(p)); }

std::optional<update_phase> phase(const std::string& name) {
  for (std::size_t i = 0; i < phases.size(); ++i) {
    if (name == phases[i]) {
      return static_cast<update_phase>(i);
    }
  }
  return std::nullopt;
}

}  // namespace hydra::checkpoint_names
