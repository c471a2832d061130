#include "models/weights/joined_values.hpp"

#include "models/joined_weights.hpp"
#include "models/weights/stored_values.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace hydra {
namespace {

class joining {
 public:
  joining(const chain& divided, stored_values values)
      : slices_(slices_in(divided.parameters())), values_(std::move(values)) {}

  stored_tensor of(const parameter_spec& p) {
    const auto slices = slices_.find(p.name);
    if (slices == slices_.end()) return values_(p);
    joined_.resize(static_cast<std::size_t>(p.elements()));
    join_slices(slices->second, joined_, [this](const parameter_spec& slice, std::span<float> to) {
      widen(values_(slice), to);
      return true;
    });
    return {stored_type::f32, p.shape, std::as_bytes(std::span{joined_})};
  }

 private:
  std::map<std::string, std::vector<parameter_spec>> slices_;
  stored_values values_;
  std::vector<float> joined_;  ///< the last one
};

}  // namespace

stored_values joined_values(const chain& divided, stored_values values) {
  return [all = std::make_shared<joining>(divided, std::move(values))](const parameter_spec& p) { return all->of(p); };
}

}  // namespace hydra
