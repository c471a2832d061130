#pragma once
// TIFF files for tests: any tags, true or not.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace hydra::test {

/// Values of tags. They are written as numbers of 32 bits, those of XMP as bytes.
using tiff_fields = std::map<unsigned, std::vector<std::uint32_t>>;

/// Of 2 x 3 pixels in one strip. `more` replaces and adds.
tiff_fields fields_of(std::uint32_t photometric, std::uint32_t samples, std::uint32_t bits, tiff_fields more = {});

/// A file of one page: head, directory, values that have no room in it, `blocks`: its strips or tiles, whose places and
/// sizes are added to the fields.
std::string tiff_page(tiff_fields fields, const std::vector<std::string>& blocks, bool big_endian = false);

}  // namespace hydra::test
