#include "tests/support/plugins/simple_policy.hpp"

#include <condition_variable>
#include <mutex>

namespace {

/// After some good decisions it never returns, and reads its arguments whenever it wakes up.
class blocking final : public hydra::test::first_candidate {
 public:
  std::optional<std::size_t> choose(const hydra::device_state& device, std::span<const hydra::candidate> candidates,
                                    const hydra::policy_view& view) override {
    if (++calls_ <= 3) return 0;
    std::mutex m;
    std::unique_lock lock{m};
    std::condition_variable never;
    const auto seen = [&] {
      return device.speed + view.devices.front().speed + double(candidates.front().next.attempt);
    };
    for (;;) {
      never.wait_for(lock, std::chrono::milliseconds(5));
      sum_ = sum_ + seen();
    }
  }

 private:
  int calls_ = 0;
  volatile double sum_ = 0;
};

}  // namespace

extern "C" const hydra_plugin* hydra_plugin_v1() {
  static const hydra_plugin plugin{hydra::plugin_abi, {hydra::offer_policy<blocking>("blocking", "")}};
  return &plugin;
}
