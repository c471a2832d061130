#include "apps/workload/convert.hpp"
#include "apps/workload/data_kind_table.hpp"

namespace hydra::apps {

data_kind tensors_kind() {
  return {"tensors", joined(file_rules(), {name_rule("target", "\"target\"", "name of the tensor to predict")}),
          [](const value_table& keys) {
            tensor_files d;
            assign(keys, "train", d.train);
            assign(keys, "validation", d.validation);
            assign(keys, "target", d.target);
            return data_description{d};
          }};
}

}  // namespace hydra::apps
