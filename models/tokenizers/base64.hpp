#pragma once
// Bytes that are written as text (RFC 4648, section 4).

#include <optional>
#include <string>
#include <string_view>

namespace hydra {

/// Empty if it is not base64 with padding.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace hydra
