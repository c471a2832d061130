#include "models/families/catalog.hpp"

#include "models/families/families.hpp"
#include "runtime/base/nearest.hpp"
#include "runtime/base/refuse.hpp"

#include <utility>

namespace hydra {
namespace {

const family& find_family(const std::string& name) {
  return find_known("unknown family", families(), name, &family::name);
}

/// The same description of what `change` makes of its chain.
chain_description with_change(chain_description description, std::function<chain(chain)> change) {
  description.build = [build = std::move(description.build), change = std::move(change)](const data_source& data) {
    return change(build(data));
  };
  return description;
}

}  // namespace

const std::vector<family>& families() {
  static const std::vector<family> all{bert_family(), cnn_family(),  gemma_family(),  gpt2_family(), llama_family(),
                                       mlp_family(),  phi3_family(), resnet_family(), vit_family()};
  return all;
}

chain_description describe_chain(const std::string& family, const option_values& options) {
  const auto& f = find_family(family);
  return f.make(complete(f.name, options, f.options));
}

chain_description with_loss(chain_description description, std::shared_ptr<const loss> objective) {
  return with_change(std::move(description), [=](chain c) { return c.minimise(objective); });
}

chain_description with_frozen(chain_description description, freezing parameters) {
  return with_change(std::move(description), [=](chain c) { return c.freeze(parameters); });
}

chain_description with_base(chain_description description, base_format format) {
  return with_change(std::move(description), [=](chain c) { return c.store_base(format); });
}

chain_description with_loss_chunk(chain_description description, std::int64_t rows) {
  return with_change(std::move(description), [=](chain c) { return c.chunk_loss(rows); });
}

chain_description with_pieces(chain_description description, std::uint32_t pieces, bool side_by_side) {
  description.pieces = pieces;
  description.side_by_side = side_by_side;
  return with_change(std::move(description), [=](chain c) {
    if (adapter_of(c)) refuse("an adapter is not trained in pieces: leave out \"pieces\", or train all parameters");
    return c.divide(pieces, side_by_side);
  });
}

chain_description with_open_pieces(chain_description description, std::optional<std::uint32_t> pieces,
                                   std::optional<bool> side_by_side) {
  const open_division open{.pieces = !pieces,
                           .side_by_side = !side_by_side,
                           .with = [whole = std::move(description)](std::uint32_t n, bool beside) {
                             return n > 1 ? with_pieces(whole, n, beside) : whole;
                           }};
  auto given = open.with(pieces.value_or(1), side_by_side.value_or(false));
  given.side_by_side = side_by_side.value_or(false);
  given.open = open;
  return given;
}

chain_description with_choice(const chain_description& open, std::uint32_t pieces, bool side_by_side) {
  auto chosen = open.open.with(pieces, side_by_side);
  chosen.side_by_side = side_by_side;
  chosen.open = open.open;
  return chosen;
}

chain_description with_adapter(chain_description description, lora_options adapter) {
  return with_change(std::move(description), [=](chain c) { return adapt(std::move(c), adapter); });
}

}  // namespace hydra
