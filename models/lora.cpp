#include "models/lora.hpp"

#include "models/adapted_layer.hpp"
#include "models/untied_head.hpp"
#include "runtime/base/nearest.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace hydra {
namespace {

/// "h.0.attn.c_attn" of "h.0.attn.c_attn.weight"; empty if there is no dot.
std::string module_of(std::string_view parameter) {
  const std::size_t dot = parameter.rfind('.');
  return std::string{parameter.substr(0, dot == std::string_view::npos ? 0 : dot)};
}

/// A parameter, and its module in a checkpoint.
struct module_parameter {
  std::size_t layer = 0, index = 0;
  parameter_spec spec;
  std::string module;
};

std::vector<module_parameter> parameters_of(const chain& model) {
  std::vector<module_parameter> all;
  for (std::size_t layer = 0; layer < model.size(); ++layer) {
    const std::vector<parameter_spec> own = model.parameters(layer);
    for (std::size_t i = 0; i < own.size(); ++i)
      all.push_back({layer, i, own[i], module_of(model.stored_name(own[i].name))});
  }
  return all;
}

std::string last_part(const std::string& module) { return module.substr(module.rfind('.') + 1); }

template <class Modules>
std::vector<std::string> short_names(const Modules& modules) {
  std::set<std::string> names;
  for (const module_parameter& p : modules)
    if (!p.module.empty()) names.insert(last_part(p.module));
  return {names.begin(), names.end()};
}

void require_valid(const lora_options& o) {
  if (o.rank < 1) refuse(fmt::format("\"rank\" of the adapter is {}; it must be at least 1", o.rank));
  if (!(o.full_alpha() > 0)) refuse(fmt::format("\"alpha\" of the adapter is {}; it must be positive", o.alpha));
  if (!(o.dropout >= 0 && o.dropout < 1))
    refuse(fmt::format("\"dropout\" of the adapter is {}; it must be at least 0 and below 1", o.dropout));
  if (o.targets.empty()) refuse("\"targets\" of the adapter are empty; leave them out to adapt all linear maps");
}

/// Linear maps that "all-linear" means: all but the last one, and those that repeat the weight of another module.
std::vector<module_parameter> all_linear_in(const std::vector<module_parameter>& all) {
  std::vector<module_parameter> linear;
  std::ranges::copy_if(all, std::back_inserter(linear),
                       [](const module_parameter& p) { return p.spec.linear != linear_weight::none; });
  if (!linear.empty()) linear.pop_back();
  std::erase_if(linear, [](const module_parameter& p) { return !p.spec.tied_to.empty(); });
  return linear;
}

/// Which linear maps of a chain are adapted, and what else is trained.
class adaptation {
 public:
  adaptation(const chain& model, const lora_options& options) : options_{options}, all_{parameters_of(model)} {
    std::ranges::copy_if(all_, std::back_inserter(linear_),
                         [](const module_parameter& p) { return p.spec.linear != linear_weight::none; });
    if (linear_.empty()) refuse(fmt::format("a model of family {} has no linear maps to adapt", model.family()));
    for (const std::string& name : options.targets) choose(name);
    for (const std::string& name : options.also_train) check_trained(name);
  }

  /// By layer and index of the weight the module.
  const std::map<std::size_t, std::map<std::size_t, std::string>>& chosen() const { return chosen_; }

  freezing frozen() const {
    std::vector<std::string> patterns{"*", "!*lora_A.weight", "!*lora_B.weight"};
    if (options_.magnitudes) patterns.push_back("!*lora_magnitude_vector");
    for (const std::string& name : options_.also_train) {
      if (any([&](const std::string& module) { return (module + ".").starts_with(name + "."); }))
        patterns.push_back(fmt::format("!{}.*", name));
      if (any([&](const std::string& module) { return (module + ".").find("." + name + ".") != std::string::npos; }))
        patterns.push_back(fmt::format("!*.{}.*", name));
    }
    add_biases(patterns);
    return freezing{std::move(patterns)};
  }

 private:
  void choose(const std::string& name) {
    if (name == lora_options::all_linear) return choose_all();
    bool found = false;
    for (const module_parameter& p : linear_) {
      if (!names_module(name, p.module)) continue;
      found = true;
      if (!p.spec.tied_to.empty())
        refuse(fmt::format(
            "\"targets\" of the adapter name \"{}\", which shares its weight with \"{}\" (tied): only weights "
            "of their own can be adapted",
            shown(p.module), shown(module_of(p.spec.tied_to))));
      if (is_trained(p.module))
        refuse(fmt::format("\"targets\" and \"also_train\" of the adapter both name \"{}\"; one of them is enough",
                           shown(p.module)));
      chosen_[p.layer][p.index] = p.module;
    }
    if (!found)
      refuse(fmt::format("\"targets\" of the adapter name \"{}\", which is not a linear map of the model{}",
                         shown(name), known_instead(name, short_names(linear_))));
  }

  void choose_all() {
    for (const module_parameter& p : all_linear_in(all_))
      if (!is_trained(p.module)) chosen_[p.layer][p.index] = p.module;
    if (chosen_.empty())
      refuse(
          fmt::format("\"targets\" of the adapter: no linear map is left to adapt beside the last one, \"{}\", which "
                      "has to be named for that",
                      shown(linear_.back().module)));
  }

  bool is_trained(const std::string& module) const {
    return std::ranges::any_of(options_.also_train,
                               [&](const std::string& name) { return names_module_around(name, module); });
  }

  /// A tied copy could not be stored beside an adapter.
  void check_trained(const std::string& name) const {
    if (!any([&](const std::string& module) { return names_module_around(name, module); }))
      refuse(fmt::format("\"also_train\" of the adapter names \"{}\", which is not a module of the model{}",
                         shown(name), known_instead(name, short_names(all_))));
    for (const module_parameter& copy : all_) {
      if (copy.spec.tied_to.empty()) continue;
      const auto owner =
          std::ranges::find(all_, copy.spec.tied_to, [](const module_parameter& p) { return p.spec.name; });
      if (owner == all_.end()) continue;  // validate() reports it
      if (names_module_around(name, copy.module) || names_module_around(name, owner->module))
        refuse(fmt::format(
            "\"also_train\" of the adapter names \"{}\", but \"{}\" and \"{}\" have the same weight (tied), "
            "which an adapter cannot store",
            shown(name), shown(owner->module), shown(copy.module)));
    }
  }

  /// A pattern must match something.
  void add_biases(std::vector<std::string>& patterns) const {
    if (options_.biases == trained_biases::none) return;
    for (const module_parameter& p : all_)
      if (last_part(p.spec.name) == "bias" && p.spec.tied_to.empty() &&
          (options_.biases == trained_biases::all || is_chosen(p.module)))
        patterns.push_back(fmt::format("!{}{}bias", p.module, p.module.empty() ? "" : "."));
  }

  bool is_chosen(const std::string& module) const {
    return std::ranges::any_of(chosen_, [&](const auto& layer) {
      return std::ranges::any_of(layer.second, [&](const auto& weight) { return weight.second == module; });
    });
  }

  template <class Condition>
  bool any(Condition holds) const {
    return std::ranges::any_of(all_, [&](const module_parameter& p) { return holds(p.module); });
  }

  const lora_options& options_;
  std::vector<module_parameter> all_, linear_;
  std::map<std::size_t, std::map<std::size_t, std::string>> chosen_;
};

/// As PEFT does: what is trained of two modules with one weight is trained apart from the other.
chain with_separate_modules(chain model, const std::vector<std::string>& trained) {
  const auto head = model.weights() ? tied_head(model) : std::nullopt;
  if (!head) return model;
  const std::string copy = module_of(model.stored_name(head->name)),
                    owner = module_of(model.stored_name(head->tied_to));
  const bool separate = std::ranges::any_of(trained, [&](const std::string& name) {
    return names_module_around(name, copy) || names_module_around(name, owner);
  });
  if (!separate) return model;
  model.note(fmt::format(
      "{} and {} have one weight in the checkpoint (tied); the adapter makes two of it, as peft does", owner, copy));
  return with_own_head(std::move(model));
}

const adapted_layer* adapted(const chain& model, std::size_t layer) {
  return dynamic_cast<const adapted_layer*>(model.at(layer).body.get());
}

}  // namespace

std::int64_t lora_options::rank_in(const std::string& module) const {
  const auto own = rank_of.find(module);
  return own == rank_of.end() ? rank : own->second;
}

double lora_options::scale_in(const std::string& module) const {
  const auto own = alpha_of.find(module);
  const auto r = static_cast<double>(rank_in(module));
  return (own == alpha_of.end() ? full_alpha() : own->second) / (rank_scaled ? std::sqrt(r) : r);
}

bool names_module(std::string_view name, std::string_view module) {
  return module == name || (module.ends_with(name) && module[module.size() - name.size() - 1] == '.');
}

bool names_module_around(std::string_view name, std::string_view module) {
  return fmt::format(".{}.", module).find(fmt::format(".{}.", name)) != std::string::npos;
}

std::vector<std::string> modules_of(const chain& model) {
  std::vector<std::string> names;
  for (const module_parameter& p : parameters_of(model))
    if (std::ranges::find(names, p.module) == names.end()) names.push_back(p.module);
  return names;
}

std::vector<std::string> all_linear_modules(const chain& model) {
  std::vector<std::string> names;
  for (const module_parameter& p : all_linear_in(parameters_of(model))) names.push_back(p.module);
  return names;
}

std::vector<std::string> adaptable_modules(const chain& model, const std::vector<std::string>& also_train) {
  std::vector<std::string> names;
  for (const module_parameter& p : parameters_of(with_separate_modules(model, also_train)))
    if (p.spec.linear != linear_weight::none && p.spec.tied_to.empty()) names.push_back(p.module);
  return names;
}

std::string lora_name(std::string_view weight, char which) {
  const std::string module = module_of(weight);
  return fmt::format("{}{}lora_{}.weight", module, module.empty() ? "" : ".", which);
}

std::string magnitude_name(std::string_view weight) {
  const std::string module = module_of(weight);
  return fmt::format("{}{}lora_magnitude_vector", module, module.empty() ? "" : ".");
}

chain adapt(chain model, const lora_options& options) {
  require_valid(options);
  if (model.has_fixed())
    refuse(
        "the module was exported with parameters that are not trained, below which nothing has a gradient: for an "
        "adapter export it with all of them trained (requires_grad); the adapter freezes them");
  if (model.has_frozen()) refuse("an adapter freezes all parameters but its own: leave out \"freeze\"");
  model = with_separate_modules(std::move(model), options.also_train);
  const adaptation how{model, options};
  for (const auto& [layer, modules] : how.chosen()) {
    std::vector<adapted_weight> weights;
    for (const auto& [index, module] : modules)
      weights.push_back({index, options.rank_in(module), options.scale_in(module)});
    model.replace(layer, std::make_shared<adapted_layer>(model.at(layer).body, weights, options));
  }
  model.freeze(how.frozen());
  return model;
}

lora_options of_modules_in(const chain& model, lora_options options) {
  const std::vector<module_parameter> all = parameters_of(model);
  const auto is_unknown = [&](auto is_of) {
    return [&all, is_of](const std::string& name) {
      return name != lora_options::all_linear &&
             std::ranges::none_of(all, [&](const module_parameter& p) { return is_of(name, p.module); });
    };
  };
  std::erase_if(options.targets, is_unknown(names_module));
  std::erase_if(options.also_train, is_unknown(names_module_around));
  return options;
}

const lora_options* adapter_of(const chain& model) {
  for (std::size_t i = 0; i < model.size(); ++i)
    if (const adapted_layer* const layer = adapted(model, i)) return &layer->options();
  return nullptr;
}

chain without_adapter(chain model) {
  for (std::size_t i = 0; i < model.size(); ++i)
    if (const adapted_layer* const layer = adapted(model, i)) model.replace(i, layer->body());
  model.unfreeze();
  return model;
}

std::vector<std::string> adapted_modules(const chain& model) {
  std::vector<std::string> modules;
  for (std::size_t i = 0; i < model.size(); ++i) {
    const adapted_layer* const layer = adapted(model, i);
    if (!layer) continue;
    const std::vector<parameter_spec> parameters = model.parameters(i);
    for (const low_rank_term& term : layer->terms())
      modules.push_back(module_of(model.stored_name(parameters[term.weight].name)));
  }
  return modules;
}

}  // namespace hydra
