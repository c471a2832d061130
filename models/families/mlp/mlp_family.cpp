#include "models/families/families.hpp"
#include "models/families/mlp/mlp.hpp"
#include "models/families/option_map.hpp"

namespace hydra {

family mlp_family() {
  return {"mlp",
          "multi-layer perceptron on feature vectors",
          {{"layers", std::int64_t{2}, false, "hidden layers"},
           {"width", std::int64_t{0}, true, "units of a hidden layer"},
           {"dropout", 0.0, false, "after each hidden layer"}},
          [](const option_map& o) {
            return mlp({.layers = get<std::int64_t>(o, "layers"),
                        .width = get<std::int64_t>(o, "width"),
                        .dropout = get<double>(o, "dropout")});
          }};
}

}  // namespace hydra
