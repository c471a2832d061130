#include "runtime/plugin/shared_object.hpp"

#include "tests/support/temporary_file.hpp"
#include "tests/support/test_plugin.hpp"

#include <catch2/catch.hpp>

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>

using namespace hydra;
using hydra::test::test_plugin;

namespace {

using file_header = ElfW(Ehdr);
using segment = ElfW(Phdr);

std::string plugin_bytes() {
  std::ifstream whole{test_plugin("two_policies"), std::ios::binary};
  return {std::istreambuf_iterator<char>{whole}, {}};
}

template <class T>
void change(std::string& bytes, std::size_t at, const std::function<void(T&)>& how) {
  T part;
  std::memcpy(&part, bytes.data() + at, sizeof part);
  how(part);
  std::memcpy(bytes.data() + at, &part, sizeof part);
}

file_header header_in(const std::string& bytes) {
  file_header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

/// Of a copy of a plug-in whose file was changed.
std::uint64_t least_with(const std::function<void(file_header&)>& how) {
  auto bytes = plugin_bytes();
  change<file_header>(bytes, 0, how);
  return least_size(test::temporary_file{bytes}.path());
}

/// All segments.
std::uint64_t least_with_segments(const std::function<void(segment&)>& how) {
  auto bytes = plugin_bytes();
  const auto header = header_in(bytes);
  for (std::size_t i = 0; i < header.e_phnum; ++i) change<segment>(bytes, header.e_phoff + i * sizeof(segment), how);
  return least_size(test::temporary_file{bytes}.path());
}

}  // namespace

TEST_CASE("a shared object names the libraries it needs and the folders that are searched first", "[plugin]") {
  const auto object = read_shared_object(test_plugin("needs_several"));
  REQUIRE(object);
  for (const std::string name : {"libhydra_stub_one.so", "libhydra_stub_two.so", "libhydra_stub_near.so", "libc.so.6"}) {
    INFO(name);
    CHECK(std::ranges::count(object->needed, name) == 1);
  }
  const auto folder = std::filesystem::canonical(test_plugin("needs_several")).parent_path();
  CHECK(object->run_path == std::vector<std::filesystem::path>{folder / "hydra"});
}

TEST_CASE("a program is read like a shared object; any other file gives nothing", "[plugin]") {
  CHECK(read_shared_object("/proc/self/exe"));
  CHECK_FALSE(read_shared_object("/nowhere/libx.so"));
  CHECK_FALSE(read_shared_object(test::temporary_file{"text, longer than the header of an ELF file, and yet none of it is one"}.path()));
  CHECK_FALSE(read_shared_object(test::temporary_file{"\x7f" "ELF"}.path()));
}

TEST_CASE("the least size of an ELF file is known; that of another file is not", "[plugin]") {
  for (const std::filesystem::path& file : {test_plugin("needs_several"), std::filesystem::path{"/proc/self/exe"}}) {
    const auto least = least_size(file);
    CHECK(least > std::filesystem::file_size(file) / 2);
    CHECK(least <= std::filesystem::file_size(file));
  }
  CHECK(least_size("/nowhere/libx.so") == 0);
  CHECK(least_size(test::temporary_file{"text, longer than the header of an ELF file, and yet none of it is one"}.path()) == 0);
}

TEST_CASE("the least size of an ELF file without a section table covers its loaded segments", "[plugin]") {
  const auto loaded = least_with([](auto& h) { h.e_shoff = h.e_shnum = h.e_shentsize = 0; });
  CHECK(loaded > plugin_bytes().size() / 4);
  CHECK(loaded <= least_size(test_plugin("two_policies")));
  CHECK(least_with([](auto& h) { h.e_shnum = 0; }) == loaded);  // the first section says: none
  CHECK(least_with([](auto& h) { h.e_shoff = std::uint64_t{1} << 40; h.e_shnum = 0; }) == loaded);
}

TEST_CASE("the first section has the number of sections if there are too many for the ELF header", "[plugin]") {
  auto bytes = plugin_bytes();
  const auto header = header_in(bytes);
  const auto least_of = [&](std::uint64_t sections) {
    change<file_header>(bytes, 0, [](auto& h) { h.e_shnum = 0; });
    change<ElfW(Shdr)>(bytes, header.e_shoff, [&](auto& s) { s.sh_size = sections; });
    return least_size(test::temporary_file{bytes}.path());
  };
  CHECK(least_of(header.e_shnum) == least_size(test_plugin("two_policies")));
  CHECK(least_of(70000) == header.e_shoff + 70000 * sizeof(ElfW(Shdr)));
  CHECK(least_of(beyond_all / 2) == beyond_all);
}

TEST_CASE("a segment with no bytes in the file, or that is not loaded, may have any offset", "[plugin]") {
  const auto whole = least_size(test_plugin("two_policies"));
  CHECK(least_with_segments([](auto& s) { if (s.p_type != PT_LOAD) s.p_offset = beyond_all - 5; }) == whole);
  CHECK(least_with_segments([](auto& s) { if (s.p_type == PT_LOAD) s.p_filesz = 0, s.p_offset = beyond_all; }) == whole);
}

TEST_CASE("an ELF file whose header or segments have offsets that overflow is damaged", "[plugin]") {
  CHECK(least_with([](auto& h) { h.e_phoff = beyond_all - 8; }) == beyond_all);
  CHECK(least_with([](auto& h) { h.e_shoff = beyond_all - 8; }) == beyond_all);
  CHECK(least_with_segments([](auto& s) { s.p_offset = beyond_all - s.p_filesz + 1; }) == beyond_all);
}
