#include "runtime/plugin/shared_object.hpp"

#include "runtime/base/fault.hpp"
#include "runtime/base/regular_file.hpp"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>

namespace hydra {

namespace {

namespace fs = std::filesystem;

using file_header = ElfW(Ehdr);
using segment = ElfW(Phdr);
using section = ElfW(Shdr);
using dynamic_entry = ElfW(Dyn);

constexpr auto own_class = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
constexpr auto own_order = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;

/// Reads pieces of a file; libraries of gigabytes are not read as a whole.
class elf_reader {
 public:
  explicit elf_reader(const fs::path& file) : in_(opened(file)) {}

  /// As many as there are.
  template <class T>
  std::vector<T> read(std::uint64_t at, std::size_t count) {
    constexpr std::size_t most = 65536;  // limit for damaged files
    std::vector<T> all(std::min(count, most));
    all.resize(bytes(at, {reinterpret_cast<char*>(all.data()), all.size() * sizeof(T)}) / sizeof(T));
    return all;
  }

  std::string text(std::uint64_t at) {
    const auto bytes = read<char>(at, 8192);
    return {bytes.begin(), std::ranges::find(bytes, '\0')};
  }

 private:
  /// Who loads it is told why it cannot be read.
  static std::optional<regular_file> opened(const fs::path& file) try {
    return regular_file{file};
  } catch (const fault_error&) {
    return std::nullopt;
  }

  std::size_t bytes(std::uint64_t at, std::span<char> into) const try {
    return in_ && std::in_range<off_t>(at) ? in_->read(into, at) : 0;
  } catch (const fault_error&) {
    return 0;
  }

  std::optional<regular_file> in_;
};

/// Empty if it is not an ELF file that this machine could load.
std::optional<file_header> header_of(elf_reader& file) {
  const auto header = file.read<file_header>(0, 1);
  if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0 || header[0].e_ident[EI_CLASS] != own_class ||
      header[0].e_ident[EI_DATA] != own_order || header[0].e_phentsize != sizeof(segment)) {
    return std::nullopt;
  }
  return header[0];
}

std::vector<segment> segments_of(elf_reader& file) {
  const auto header = header_of(file);
  return header ? file.read<segment>(header->e_phoff, header->e_phnum) : std::vector<segment>{};
}

/// The loader does not use the section table, and a file may have none. If there are too many sections for the header's
/// field, the first section holds their number.
std::uint64_t section_count(elf_reader& file, const file_header& header) {
  if (header.e_shoff == 0 || header.e_shentsize != sizeof(section)) {
    return 0;
  }
  if (header.e_shnum != 0) {
    return header.e_shnum;
  }
  const auto first = file.read<section>(header.e_shoff, 1);
  return first.empty() ? 0 : first[0].sh_size;
}

/// The end of `count` entries that start at an offset; 0: there are none; beyond_all: no file is so long.
std::uint64_t end_of(std::uint64_t offset, std::uint64_t count, std::uint64_t each = 1) {
  const bool fits = count <= (beyond_all - offset) / each;
  return count == 0 ? 0 : fits ? offset + count * each : beyond_all;
}

/// The file offset of an address of the loaded object.
std::uint64_t offset_of(std::uint64_t address, const std::vector<segment>& segments) {
  const auto loaded = std::ranges::find_if(segments, [&](const segment& s) {
    return s.p_type == PT_LOAD && address >= s.p_vaddr && address - s.p_vaddr < s.p_filesz;
  });
  return loaded == segments.end() ? address : address - loaded->p_vaddr + loaded->p_offset;
}

/// All values with this tag.
std::vector<std::uint64_t> values(const std::vector<dynamic_entry>& all, std::int64_t tag) {
  std::vector<std::uint64_t> found;
  for (const auto& entry : all) {
    if (entry.d_tag == tag) {
      found.push_back(entry.d_un.d_val);
    }
    if (entry.d_tag == DT_NULL) {
      break;
    }
  }
  return found;
}

void replace(std::string& text, std::string_view what, const std::string& by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

/// Splits a list of folders at colons.
std::vector<fs::path> folders(const std::string& text, const fs::path& file) {
  std::error_code ignored;
  const auto origin = fs::weakly_canonical(file, ignored).parent_path().string();
  std::vector<fs::path> all;
  std::istringstream in{text};
  for (std::string folder; std::getline(in, folder, ':');) {
    replace(folder, "${ORIGIN}", origin);
    replace(folder, "$ORIGIN", origin);
    if (!folder.empty()) {
      all.emplace_back(folder);
    }
  }
  return all;
}

}  // namespace

std::optional<shared_object> read_shared_object(const fs::path& file) {
  elf_reader in{file};
  const auto segments = segments_of(in);
  const auto dynamic = std::ranges::find(segments, ElfW(Word){PT_DYNAMIC}, &segment::p_type);
  if (dynamic == segments.end()) {
    return std::nullopt;
  }
  const auto entries = in.read<dynamic_entry>(dynamic->p_offset, dynamic->p_filesz / sizeof(dynamic_entry));
  const auto tables = values(entries, DT_STRTAB);
  if (tables.empty()) {
    return std::nullopt;
  }
  const auto text = [&, table = offset_of(tables[0], segments)](std::uint64_t at) { return in.text(table + at); };
  const auto runpath = values(entries, DT_RUNPATH), rpath = values(entries, DT_RPATH);
  shared_object found;
  for (const auto at : values(entries, DT_NEEDED)) {
    found.needed.push_back(text(at));
  }
  for (const auto at : runpath.empty() ? rpath : runpath) {
    found.run_path = folders(text(at), file);
  }
  found.passes_run_path_on = runpath.empty();
  return found;
}

std::uint64_t least_size(const fs::path& file) {
  elf_reader in{file};
  const auto header = header_of(in);
  if (!header) {
    return 0;
  }
  std::uint64_t least = std::max<std::uint64_t>({sizeof(file_header), end_of(header->e_phoff, header->e_phnum, sizeof(segment)),
                                                 end_of(header->e_shoff, section_count(in, *header), sizeof(section))});
  for (const auto& s : segments_of(in)) {
    least = std::max(least, s.p_type == PT_LOAD ? end_of(s.p_offset, s.p_filesz) : 0);
  }
  return least;
}

}  // namespace hydra
