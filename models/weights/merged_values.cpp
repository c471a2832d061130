#include "models/weights/merged_values.hpp"

#include "models/adapted_layer.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm_ops.h>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace hydra {
namespace {

struct merged_parameter {
  parameter_spec own, a{}, b{};
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
    const stored_tensor own = values_(m.own);
    if (m.scale == 0) return own;
    const at::Tensor added = at::_ops::mm::call(view_of(values_(m.b)), view_of(values_(m.a)));
    const at::Tensor sum = view_of(own).add(m.own.linear == linear_weight::out_in ? added : added.t(), m.scale);
    const at::Tensor& kept = computed_.emplace_back(sum.contiguous());
    return {stored_type::f32, p.shape, {static_cast<const std::byte*>(kept.const_data_ptr()), kept.nbytes()}};
  }

 private:
  void add(const std::vector<parameter_spec>& all, const adapted_layer* adapted) {
    for (const parameter_spec& p : all) parameters_[p.name].own = p;
    if (!adapted) return;
    for (const low_rank_term& t : adapted->terms())
      parameters_[all[t.weight].name] = {.own = all[t.weight], .a = all[t.a], .b = all[t.b], .scale = t.scale};
  }

  stored_values values_;
  std::map<std::string, merged_parameter> parameters_;
  std::deque<at::Tensor> computed_;
};

}  // namespace

stored_values merged_values(const chain& model, stored_values values) {
  return [all = std::make_shared<merging>(model, std::move(values))](const parameter_spec& p) { return all->of(p); };
}

}  // namespace hydra
