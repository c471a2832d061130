#pragma once
// The name of a clone that is given none.

#include <string>
#include <vector>

namespace hydra::apps {

/// "gpt-a.2" of "gpt-a", "gpt-a.3" of its clone "gpt-a.2": the first that is not one of `names`, those of the run. The
/// end of "gpt-lr0.003" is no such number. `is_clone`: `source` began from another model's state.
std::string clone_name(const std::string& source, bool is_clone, const std::vector<std::string>& names);

}  // namespace hydra::apps
