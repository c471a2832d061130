#pragma once
// Lines of a file that others may have written. Standard library only.

#include <cstddef>
#include <istream>
#include <string>

namespace hydra {

/// Bytes of a line that are kept: a file without line breaks does not decide how much memory its reader takes.
inline constexpr std::size_t longest_line = 1 << 20;

/// The next line without its line break, as std::getline reads it; what it has beyond longest_line is read past. False
/// at the end, and for a stream that has failed.
bool next_line(std::istream& in, std::string& line);

}  // namespace hydra
