#include "apps/report/timeline.hpp"

#include "apps/run_folder/recorded_trace.hpp"

#include <algorithm>
#include <istream>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace hydra::apps {

namespace {

constexpr const char* queues[]{"compute", "h2d", "d2h"};

/// Sorts spans into lanes.
class collector {
 public:
  collector(std::span<const std::string> devices, std::span<const std::string> models) {
    for (const std::string& d : devices)
      for (const char* q : queues) {
        lanes_.emplace(d + " " + q, line_.lanes.size());
        line_.lanes.push_back({d, q, {}});
      }
    for (std::size_t i = 0; i < models.size(); ++i) models_.emplace(models[i], static_cast<std::uint32_t>(i));
  }

  void take(const span& s) {
    const auto lane = lanes_.find(s.track);
    if (lane == lanes_.end()) return;
    const double begin = since_start(s.begin), end = since_start(s.end);
    line_.seconds = std::max(line_.seconds, end);
    line_.lanes[lane->second].spans.push_back({begin, end, model_of(s)});
  }

  timeline finish() {
    for (timeline_lane& lane : line_.lanes) std::ranges::sort(lane.spans, {}, &timeline_span::begin);
    return std::move(line_);
  }

 private:
  static double since_start(time_point t) { return seconds(t - time_point{}); }

  /// "gpt-a forward 0 step 3", or "gradients of gpt-a backward 0 step 3".
  std::uint32_t model_of(const span& s) const {
    const auto of = s.name == "execute_shard" ? std::string::npos : s.detail.find(" of ");
    return longest_name(std::string_view{s.detail}.substr(of == std::string::npos ? 0 : of + 4));
  }

  /// The model at the start of a detail; names of models may contain spaces.
  std::uint32_t longest_name(std::string_view text) const {
    for (auto end = text.size(); end != std::string_view::npos && end > 0; end = text.rfind(' ', end - 1))
      if (const auto found = models_.find(std::string{text.substr(0, end)}); found != models_.end())
        return found->second;
    return static_cast<std::uint32_t>(models_.size());
  }

  timeline line_;
  std::unordered_map<std::string, std::size_t> lanes_;  ///< by track
  std::unordered_map<std::string, std::uint32_t> models_;
};

/// The busy time of each model in one slice of time.
using slice = std::map<std::uint32_t, double>;

std::vector<slice> cut_in_slices(const timeline_lane& lane, double width, std::size_t n) {
  std::vector<slice> slices(n);
  for (const timeline_span& s : lane.spans)
    for (auto i = static_cast<std::size_t>(s.begin / width); i < n && static_cast<double>(i) * width < s.end; ++i) {
      const double from = std::max(s.begin, static_cast<double>(i) * width);
      slices[i][s.model] += std::min(s.end, static_cast<double>(i + 1) * width) - from;
    }
  return slices;
}

drawn_span draw(const slice& in, double begin, double width) {
  double busy = 0;
  for (const auto& [model, time] : in) busy += time;
  const auto most = std::ranges::max_element(in, {}, [](const auto& each) { return each.second; });
  return {begin, begin + width, most->first, std::min(busy / width, 1.0)};
}

}  // namespace

timeline read_timeline(std::istream& in, const std::string& name, std::span<const std::string> devices,
                       std::span<const std::string> models) {
  collector spans{devices, models};
  read_spans(in, name, [&](const span& s) { spans.take(s); });
  return spans.finish();
}

std::vector<drawn_span> thin_out(const timeline_lane& lane, double seconds, std::size_t limit) {
  std::vector<drawn_span> drawn;
  if (lane.spans.size() <= limit) {
    for (const timeline_span& s : lane.spans) drawn.push_back({s.begin, s.end, s.model, 1});
    return drawn;
  }
  const double width = seconds / static_cast<double>(limit);
  const auto slices = cut_in_slices(lane, width, limit);
  for (std::size_t i = 0; i < slices.size(); ++i)
    if (!slices[i].empty()) drawn.push_back(draw(slices[i], static_cast<double>(i) * width, width));
  return drawn;
}

}  // namespace hydra::apps
