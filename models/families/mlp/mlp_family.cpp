#include "models/families/families.hpp"
#include "models/families/family_option.hpp"
#include "models/families/mlp/mlp.hpp"

namespace hydra {

family mlp_family() {
  return family_of<mlp_options>("mlp", "multi-layer perceptron on feature vectors", mlp,
                                {{"layers", &mlp_options::layers, false, "hidden layers"},
                                 {"width", &mlp_options::width, true, "units of a hidden layer"},
                                 {"dropout", &mlp_options::dropout, false, "after each hidden layer"}});
}

}  // namespace hydra
