#pragma once
// A line on stderr when the preparation of a model takes long: code of users is called there, which may never return.

#include "actors/protocol/model_description.hpp"
#include "models/data_source.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/slow_notice.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace hydra {

inline constexpr duration long_preparation = std::chrono::seconds(30);

class slow_preparation {
 public:
  /// `log` may be null: nothing is said then.
  slow_preparation(std::shared_ptr<spdlog::logger> log, duration limit)
      : notice_(limit, [log = std::move(log), limit](const std::string& what) {
          if (log) log->warn("{} takes longer than {}; Hydra waits for it", what, to_string(limit));
        }) {}

  void opens(const model_description& m) {
    notice_.begin(fmt::format("model '{}': opening and reading its data, building its chain", m.name));
  }
  void measures(const model_description& m) { notice_.begin(fmt::format("model '{}': measuring its layers", m.name)); }
  void reads(const model_description& m, const data_source& source) {
    notice_.begin(fmt::format("model '{}': reading samples of {} (data_source::read)", m.name, source.describe()));
  }

 private:
  slow_notice notice_;
};

}  // namespace hydra
