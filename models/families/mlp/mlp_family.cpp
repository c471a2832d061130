#include "models/families/families.hpp"
#include "models/families/mlp/mlp.hpp"

namespace hydra {

family mlp_family() {
  const mlp_options standard;
  return {"mlp",
          "multi-layer perceptron on feature vectors",
          {{"layers", standard.layers, false, "hidden layers"},
           {"width", std::int64_t{0}, true, "units of a hidden layer"},
           {"dropout", standard.dropout, false, "after each hidden layer"}},
          [](const option_values& o) {
            return mlp({.layers = get<std::int64_t>(o, "layers"),
                        .width = get<std::int64_t>(o, "width"),
                        .dropout = get<double>(o, "dropout")});
          }};
}

}  // namespace hydra
