#include "apps/steering/entrances.hpp"

#include "runtime/base/tell_line.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>

namespace hydra::apps {

entrances::entrances(steering& run, const std::filesystem::path& folder, const std::optional<live_address>& page) {
  try {
    socket_.emplace(run, folder);
  } catch (const std::exception& e) {
    tell_line(fmt::format("hydra control will not reach this run: {}", e.what()));
  }
  if (!page) return;
  page_.emplace(run, folder, *page);
  tell_line("the run is shown at " + page_->url());
}

}  // namespace hydra::apps
