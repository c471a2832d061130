#pragma once
// A whole file as text.

#include <cstdint>
#include <filesystem>
#include <string>

namespace hydra {

/// What a file holds, which decides how large it may be (the table is in text_file.cpp).
enum class text_kind : std::uint8_t {
  key,         ///< of a cluster, or a certificate
  checksums,   ///< SHA256SUMS
  settings,    ///< TOML, config.json and the like
  prompt,      ///< a text that is given to a model whole
  graph,       ///< an exported module
  plan,        ///< plan.json, or a scheduling instance
  vocabulary,  ///< of a tokenizer
  record,      ///< what a run has reported
};

/// Bytes of the largest file of a kind that is read into memory.
std::uint64_t largest_text(text_kind kind) noexcept;

/// The content of a file. Throws as regular_file does, and fault_error{bad_input} "FILE: WHY" if it has more bytes than
/// largest_text(kind), or is a pointer of Git LFS.
std::string read_text(const std::filesystem::path& file, text_kind kind);

}  // namespace hydra
