// A rule of a search as a plug-in: which trials stop early.

#include <hydra/plugin.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

/// A trial stops if its score is worse than the median of those that others had after as many steps, once there are
/// `others` of them (Golovin et al. 2017: Google Vizier, section 3.2, there with averages).
class median_stopping final : public hydra::search_rule {
 public:
  explicit median_stopping(const hydra::search_settings& s)
      : trials_{s.trials.size()}, others_{static_cast<std::size_t>(s.options.at("others"))} {}

  std::string describe() const override { return "median: " + std::to_string(trials_) + " trials"; }

  std::vector<hydra::trial_decision> result(const hydra::trial_result& r) override {
    auto& there = results_[r.steps];
    const auto [mine, arrives] = there.try_emplace(r.trial);  // one that is reported again is answered as before
    if (arrives) mine->second.score = std::isfinite(r.score) ? r.score : std::numeric_limits<double>::infinity();
    if (arrives) mine->second.decision = decide(r, there);
    return {mine->second.decision};
  }

  std::vector<hydra::trial_decision> ended(const std::string&) override { return {}; }  // nobody waits

 private:
  struct reported {
    double score = 0;
    hydra::trial_decision decision{};
  };
  using reports = std::map<std::string, reported>;  // by trial

  hydra::trial_decision decide(const hydra::trial_result& r, const reports& there) const {
    const double score = there.at(r.trial).score;  // lower is better
    std::vector<double> scores;
    for (const auto& [trial, one] : there)
      if (trial != r.trial) scores.push_back(one.score);
    std::ranges::sort(scores);
    const auto better = static_cast<std::size_t>(std::ranges::lower_bound(scores, score) - scores.begin());
    const bool stops = scores.size() >= others_ && score > scores[scores.size() / 2];
    return {.trial = r.trial,
            .steps = r.steps,
            .verdict = stops ? hydra::trial_verdict::stop : hydra::trial_verdict::go_on,
            .rank = static_cast<std::uint32_t>(better + 1),
            .ranked = static_cast<std::uint32_t>(scores.size() + 1)};
  }

  std::size_t trials_;
  std::size_t others_;
  std::map<std::uint32_t, reports> results_;  // by steps
};

extern "C" const hydra_plugin* hydra_plugin_v1() {
  static const hydra_plugin plugin{
      hydra::plugin_abi,
      {hydra::offer_search_rule<median_stopping>(
          "median", "trials below the median stop",
          {{.name = "others", .standard = 3.0, .help = "results to compare with, at least", .range = {1, 1000}}})}};
  return &plugin;
}
