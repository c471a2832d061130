#include "apps/steering/entrances.hpp"

#include "runtime/base/shown_text.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>

namespace hydra::apps {

entrances::entrances(steering& run, const std::filesystem::path& folder, const std::optional<live_address>& page) {
  try {
    socket_.emplace(run, folder);
  } catch (const std::exception& e) {
    fmt::print(stderr, "hydra control will not reach this run: {}\n", printable(e.what()));
  }
  if (!page) return;
  page_.emplace(run, folder, *page);
  fmt::print(stderr, "the run is shown at {}\n", page_->url());
}

}  // namespace hydra::apps
