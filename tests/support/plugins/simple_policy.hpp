#pragma once
// Plug-ins for tests, most of them faulty: their names say what they do.

#include <hydra/plugin.hpp>

#include <algorithm>

namespace hydra::test {

/// Takes the first candidate; derived classes break something.
class first_candidate : public policy {
 public:
  std::string name() const override { return "first-candidate"; }
  std::optional<std::size_t> choose(const device_state&, std::span<const candidate>, const policy_view&) override {
    return 0;
  }
};

}  // namespace hydra::test
