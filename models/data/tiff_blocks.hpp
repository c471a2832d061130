#pragma once
// The strips or tiles of a TIFF file -> samples.

#include "models/data/tiff_layout.hpp"

namespace hydra {

/// All samples of the page that are used, as layout.used channels (sample_at()). Throws fault_error{bad_input} for
/// blocks that are damaged or have more than tiff_file::most_bytes.
image read_samples(const tiff_file& file, const tiff_layout& layout);

}  // namespace hydra
