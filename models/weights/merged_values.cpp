#include "models/weights/merged_values.hpp"

#include "models/adapted_layer.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/linalg_vector_norm_ops.h>
#include <ATen/ops/mm_ops.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace hydra {
namespace {

struct merged_parameter {
  parameter_spec own, a{}, b{}, magnitude{};  ///< magnitude without a name: none
  double scale = 0;  ///< 0: it is not adapted
};

at::Tensor view_of(const stored_tensor& t) {
  return at::from_blob(const_cast<std::byte*>(t.data.data()), t.shape, at::kFloat);
}

class merging {
 public:
  merging(const chain& model, stored_values values) : values_(std::move(values)) {
    for (std::size_t i = 0; i < model.size(); ++i)
      add(model.parameters(i), dynamic_cast<const adapted_layer*>(model.at(i).body.get()));
  }

  stored_tensor of(const parameter_spec& p) {
    const merged_parameter& m = parameters_.at(p.name);
    if (m.scale == 0) return values_(m.own);
    const at::Tensor added = at::_ops::mm::call(view_of(values_(m.b)), view_of(values_(m.a)));
    const bool in_out = m.own.linear == linear_weight::in_out;
    const stored_tensor own = values_(m.own);
    const at::Tensor sum = view_of(own).add(in_out ? added.t() : added, m.scale);
    merged_ = m.magnitude.name.empty() ? sum.contiguous() : scaled(sum, m);
    return {stored_type::f32, p.shape, {static_cast<const std::byte*>(merged_.const_data_ptr()), merged_.nbytes()}};
  }

 private:
  /// With rows (of [in, out]: columns) of these magnitudes.
  at::Tensor scaled(const at::Tensor& sum, const merged_parameter& m) const {
    const bool in_out = m.own.linear == linear_weight::in_out;
    const at::Tensor norms =
        at::_ops::linalg_vector_norm::call(sum, 2, std::vector<std::int64_t>{in_out ? 0 : 1}, true, {});
    return sum.mul(view_of(values_(m.magnitude)).view(norms.sizes()).div(norms)).contiguous();
  }

  void add(const std::vector<parameter_spec>& all, const adapted_layer* adapted) {
    for (const parameter_spec& p : all) parameters_[p.name].own = p;
    if (!adapted) return;
    for (const low_rank_term& t : adapted->terms())
      parameters_[all[t.weight].name] = {.own = all[t.weight],
                                         .a = all[t.a],
                                         .b = all[t.b],
                                         .magnitude = t.magnitude ? all[*t.magnitude] : parameter_spec{},
                                         .scale = t.scale};
  }

  stored_values values_;
  std::map<std::string, merged_parameter> parameters_;
  at::Tensor merged_;  ///< the last one
};

}  // namespace

stored_values merged_values(const chain& model, stored_values values) {
  return [all = std::make_shared<merging>(model, std::move(values))](const parameter_spec& p) { return all->of(p); };
}

}  // namespace hydra
