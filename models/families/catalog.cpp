#include "models/families/catalog.hpp"

#include "models/families/families.hpp"
#include "models/families/option_map.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/nearest.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace hydra {
namespace {

template <class Range>
std::vector<std::string> names_of(const Range& named) {
  std::vector<std::string> names;
  for (const auto& each : named) names.push_back(each.name);
  return names;
}

const family& find_family(const std::string& name) {
  const auto& all = families();
  const auto found = std::ranges::find(all, name, &family::name);
  if (found != all.end()) return *found;
  refuse(fmt::format("unknown family \"{}\"{}", name, known_instead(name, names_of(all))));
}

const family_option& find_option(const family& f, const std::string& name) {
  const auto found = std::ranges::find(f.options, name, &family_option::name);
  if (found != f.options.end()) return *found;
  refuse(fmt::format("{}: unknown option \"{}\"{}", f.name, name, known_instead(name, names_of(f.options))));
}

/// The value in the option's own type.
option_value converted(const family& f, const family_option& option, const option_value& value) {
  static constexpr std::array types{"true or false", "an integer", "a number", "a text"};
  if (value.index() == option.fallback.index()) return value;
  const auto* integer = std::get_if<std::int64_t>(&value);
  if (integer && std::holds_alternative<double>(option.fallback)) return static_cast<double>(*integer);
  refuse(fmt::format("{}: {} must be {}, not {}", f.name, option.name, types[option.fallback.index()],
                     types[value.index()]));
}

void require_given(const family& f, const option_map& options) {
  for (const family_option& option : f.options)
    if (option.required && !options.contains(option.name))
      refuse(fmt::format("{}: \"{}\" ({}) is missing", f.name, option.name, option.help));
}

}  // namespace

const std::vector<family>& families() {
  static const std::vector<family> all{bert_family(), cnn_family(), gpt2_family(), llama_family(),
                                       mlp_family(), resnet_family(), vit_family()};
  return all;
}

chain_description describe_chain(const std::string& family, const option_map& options) {
  const auto& f = find_family(family);
  option_map complete;
  for (const auto& [name, value] : options) complete[name] = converted(f, find_option(f, name), value);
  require_given(f, options);
  for (const family_option& option : f.options) complete.emplace(option.name, option.fallback);
  return f.make(complete);
}

chain_description with_loss(chain_description description, std::shared_ptr<const loss> objective) {
  description.build = [build = std::move(description.build), objective = std::move(objective)](
                          const data_source& data) { return build(data).minimise(objective); };
  return description;
}

}  // namespace hydra
