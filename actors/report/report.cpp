#include "actors/report/report.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace hydra {

double report::efficiency() const { return makespan > duration::zero() ? seconds(bound()) / seconds(makespan) : 0.0; }

bool report::all_finished() const noexcept {
  return std::ranges::all_of(models, [](const model_report& m) { return m.status == model_status::finished; });
}

std::string to_string(model_status s) {
  switch (s) {
    case model_status::finished:
      return "finished";
    case model_status::failed:
      return "failed";
    case model_status::stopped:
      return "stopped";
    case model_status::interrupted:
      return "interrupted";
    case model_status::paused:
      return "paused";
    case model_status::under_way:
      return "not ended";
  }
  return "unknown status";
}

std::string status_text(const model_report& m) { return to_string(m.status) + (m.unsaved ? ", not saved" : ""); }

double bubble_share(const pipeline_time& t) {
  const auto whole = t.bubble + t.compute;
  return whole > duration::zero() ? seconds(t.bubble) / seconds(whole) : 0;
}

bool has_replicas(const report& r) {
  return std::ranges::any_of(r.models, [](const model_report& m) { return m.replicas > 1; });
}

bool has_pieces(const report& r) {
  return std::ranges::any_of(r.models, [](const model_report& m) { return m.pieces > 1; });
}

bool has_waves(const report& r) {
  return std::ranges::any_of(r.models, [](const model_report& m) { return m.waves > 1; });
}

const validation_report* best_validation(const model_report& m) {
  const validation_report* best = nullptr;
  for (const auto& v : m.validation) {
    if (std::isfinite(v.loss) && (!best || v.loss < best->loss)) {
      best = &v;
    }
  }
  return best;
}

std::vector<const model_report*> ranked(const report& r) {
  std::vector<const model_report*> models;
  for (const auto& m : r.models) {
    models.push_back(&m);
  }
  std::ranges::stable_sort(models, {}, [](const model_report* m) {
    const auto* const best = best_validation(*m);
    return std::pair(m->status == model_status::failed, best ? best->loss : std::numeric_limits<double>::infinity());
  });
  return models;
}

}  // namespace hydra
