#include "models/joined_weights.hpp"

#include "models/parameter_slice.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace hydra {
namespace {

class weights_of_whole final : public weight_source {
 public:
  weights_of_whole(const std::vector<parameter_spec>& divided, std::shared_ptr<const weight_source> weights)
      : slices_(slices_in(divided)), weights_(std::move(weights)) {}

  bool read(const parameter_spec& p, std::span<float> values) const override {
    const auto slices = slices_.find(p.name);
    if (slices == slices_.end()) return weights_->read(p, values);
    return join_slices(slices->second, values,
                       [&](const parameter_spec& slice, std::span<float> to) { return weights_->read(slice, to); });
  }
  std::string identity() const override { return weights_->identity(); }
  std::string files() const override { return weights_->files(); }
  std::string origin(const std::string& parameter) const override { return weights_->origin(first_of(parameter)); }
  bool differs_from_base(const std::string& parameter) const override {
    return weights_->differs_from_base(first_of(parameter));
  }

 private:
  const std::string& first_of(const std::string& parameter) const {
    const auto slices = slices_.find(parameter);
    return slices == slices_.end() ? parameter : slices->second.front().name;
  }

  std::map<std::string, std::vector<parameter_spec>> slices_;
  std::shared_ptr<const weight_source> weights_;
};

}  // namespace

std::map<std::string, std::vector<parameter_spec>> slices_in(const std::vector<parameter_spec>& divided) {
  std::map<std::string, std::vector<parameter_spec>> all;
  for (const parameter_spec& p : divided)
    if (p.slice) all[whole_name(p.name)].push_back(p);
  return all;
}

bool join_slices(const std::vector<parameter_spec>& slices, std::span<float> whole,
                 const std::function<bool(const parameter_spec&, std::span<float>)>& read) {
  std::vector<float> values;
  return std::ranges::all_of(slices, [&](const parameter_spec& p) {
    values.resize(static_cast<std::size_t>(p.elements()));
    if (!read(p, values)) return false;
    p.slice->for_each_run([&](std::size_t in_whole, std::size_t in_slice, std::size_t n) {
      std::ranges::copy(std::span{values}.subspan(in_slice, n), whole.subspan(in_whole, n).begin());
    });
    return true;
  });
}

std::shared_ptr<const weight_source> joined_weights(const std::vector<parameter_spec>& divided,
                                                    std::shared_ptr<const weight_source> weights) {
  return std::make_shared<weights_of_whole>(divided, std::move(weights));
}

}  // namespace hydra
