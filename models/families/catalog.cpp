#include "models/families/catalog.hpp"

#include "models/families/families.hpp"
#include "runtime/base/nearest.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace hydra {
namespace {

const family& find_family(const std::string& name) {
  const auto& all = families();
  const auto found = std::ranges::find(all, name, &family::name);
  if (found != all.end()) return *found;
  std::vector<std::string> names;
  std::ranges::transform(all, std::back_inserter(names), &family::name);
  refuse(fmt::format("unknown family \"{}\"{}", shown(name), known_instead(name, names)));
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
  description.build = [build = std::move(description.build), objective = std::move(objective)](
                          const data_source& data) { return build(data).minimise(objective); };
  return description;
}

chain_description with_frozen(chain_description description, freezing parameters) {
  description.build = [build = std::move(description.build), parameters = std::move(parameters)](
                          const data_source& data) { return build(data).freeze(parameters); };
  return description;
}

chain_description with_base(chain_description description, base_format format) {
  description.build = [build = std::move(description.build), format](const data_source& data) {
    return build(data).store_base(format);
  };
  return description;
}

chain_description with_loss_chunk(chain_description description, std::int64_t rows) {
  description.build = [build = std::move(description.build), rows](const data_source& data) {
    return build(data).chunk_loss(rows);
  };
  return description;
}

chain_description with_adapter(chain_description description, lora_options adapter) {
  description.build = [build = std::move(description.build), adapter = std::move(adapter)](const data_source& data) {
    return adapt(build(data), adapter);
  };
  return description;
}

}  // namespace hydra
