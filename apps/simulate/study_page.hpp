#pragma once
// A study as one self-contained page of HTML.

#include "apps/simulate/study.hpp"

#include <string>

namespace hydra::apps {

/// Well-formed as XML.
std::string to_page(const study_result& s);

}  // namespace hydra::apps
