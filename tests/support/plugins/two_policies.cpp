#include "tests/support/plugins/simple_policy.hpp"

namespace {

/// Calls what is not in a header: it is found in the program.
class last_candidate final : public hydra::policy {
 public:
  explicit last_candidate(const hydra::policy_options& o)
      : from_end_{static_cast<std::size_t>(o.values.at("from_end"))} {}
  std::string name() const override { return "last-candidate"; }
  std::optional<std::size_t> choose(const hydra::device_state&, std::span<const hydra::candidate> candidates,
                                    const hydra::policy_view&) override {
    if (to_string(candidates.front().next).empty() ||
        candidates.front().parameters - hydra::byte_count{} < hydra::byte_count{}) {
      return std::nullopt;
    }
    return candidates.size() - std::min(candidates.size(), from_end_);
  }

 private:
  std::size_t from_end_;
};

}  // namespace

extern "C" const hydra_plugin* hydra_plugin_v1() {
  static const hydra_plugin plugin{
      hydra::plugin_abi,
      {hydra::offer_policy<hydra::test::first_candidate>("first-candidate", "the first one"),
       hydra::offer_policy<last_candidate>("last-candidate", "the last one",
                                           {{"from_end", 1, false, "1 is the last", {1, 9}}})}};
  return &plugin;
}
