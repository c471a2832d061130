#include "runtime/base/text_file.hpp"

#include "runtime/base/bytes.hpp"
#include "runtime/base/lfs_pointer.hpp"
#include "runtime/base/refuse.hpp"
#include "runtime/base/regular_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace hydra {

namespace {

namespace fs = std::filesystem;

struct size_limit {
  text_kind kind;
  const char* name;
  std::uint64_t mebibytes;
};

/// Several times the largest that was seen. A tree of JSON takes ten times as much memory as its text.
constexpr size_limit limits[]{{text_kind::key, "a key or certificate", 1},
                              {text_kind::checksums, "a list of checksums", 16},  // of 200,000 files
                              {text_kind::settings, "a file of settings", 16},    // 20,000 names of classes take 1
                              {text_kind::prompt, "a prompt", 16},
                              {text_kind::graph, "an exported graph", 64},        // 10,000 calls take 2
                              {text_kind::plan, "a plan", 128},                   // 2,000 models of 20 shards take 24
                              {text_kind::vocabulary, "a file of a tokenizer", 256},  // 262,144 tokens take 33
                              {text_kind::record, "the record of a run", 1024}};

const size_limit& limit_of(text_kind kind) noexcept { return *std::ranges::find(limits, kind, &size_limit::kind); }

[[noreturn]] void refuse_size(const fs::path& file, text_kind kind, std::uint64_t size) {
  refuse(file, fmt::format("has {} bytes or more; {} may have {}", size, limit_of(kind).name,
                           to_string(byte_count{largest_text(kind)})));
}

}  // namespace

std::uint64_t largest_text(text_kind kind) noexcept { return limit_of(kind).mebibytes << 20; }

std::string read_text(const fs::path& path, text_kind kind) {
  constexpr std::size_t more = 1 << 16;
  const regular_file file{path};
  if (file.size() > largest_text(kind)) refuse_size(path, kind, file.size());
  std::string text(file.size() + 1, '\0');  // one byte more than it should have: it may grow while it is read
  std::size_t done = 0;
  while (const std::size_t got = file.read(std::span{text}.subspan(done), done)) {
    done += got;
    if (done > largest_text(kind)) refuse_size(path, kind, done);
    if (done == text.size()) text.resize(done + std::max(done / 2, more));
  }
  text.resize(done);
  refuse_lfs_pointer(path, text);
  return text;
}

}  // namespace hydra
