#pragma once
// The directory of numbers that cameras write into images, as TIFF has it (EXIF 2.32, 4.6; CIPA DC-007 for JPEG).

#include <cstddef>
#include <optional>
#include <string_view>

namespace hydra {

/// The number of this tag in the first directory of the block, which begins with its byte order. None if it is not
/// there, is no number, or the block is damaged.
std::optional<std::size_t> directory_number(std::string_view block, std::size_t tag);

}  // namespace hydra
