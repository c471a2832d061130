#include "models/optimizer/parameter_shares.hpp"

#include "models/optimizer/parameter_rule.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hydra {
namespace {

std::optional<std::size_t> index_of(const update_options& options, const std::string& name) {
  const parameter_group* const group = group_of(options.groups, name);
  if (!group) return std::nullopt;
  return static_cast<std::size_t>(group - options.groups.data());
}

std::pair<double, double> rate_and_decay(const update_options& options, const trained_parameter& p) {
  const update_options own = options_of(options, p.name, p.form());
  return {own.learning_rate, own.weight_decay};
}

}  // namespace

std::vector<parameter_share> parameter_shares(const update_options& options,
                                              std::span<const trained_parameter> parameters) {
  std::vector<parameter_share> shares;
  for (const trained_parameter& p : parameters) {
    const auto group = index_of(options, p.name);
    const auto [rate, decay] = rate_and_decay(options, p);
    const update_kind rule = kind_for(options.kind, p.form());
    auto share = std::ranges::find_if(shares, [&](const parameter_share& s) {
      return s.group == group && s.rule == rule && s.learning_rate == rate && s.weight_decay == decay;
    });
    if (share == shares.end()) share = shares.insert(share, {group, rule, rate, decay});
    if (std::ranges::find(share->names, p.name) == share->names.end()) share->names.push_back(p.name);  // not of slices
    share->values += static_cast<std::int64_t>(p.form().elements());
  }
  std::ranges::stable_sort(shares, {}, &parameter_share::group);
  return shares;
}

void check_groups(const update_options& options, std::span<const trained_parameter> parameters) {
  std::vector<std::string> names;
  std::ranges::transform(parameters, std::back_inserter(names), &trained_parameter::name);
  for (const parameter_group& g : options.groups) g.parameters.check("groups", "trained parameter of the model", names);
}

std::optional<std::size_t> idle_group(const update_options& options, std::span<const trained_parameter> parameters) {
  for (std::size_t i = 0; i < options.groups.size(); ++i) {
    update_options without = options;
    without.groups.erase(without.groups.begin() + static_cast<std::ptrdiff_t>(i));
    if (std::ranges::all_of(parameters, [&](const trained_parameter& p) {
          return rate_and_decay(options, p) == rate_and_decay(without, p);
        }))
      return i;
  }
  return std::nullopt;
}

}  // namespace hydra
