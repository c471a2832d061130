#pragma once
// JSON Lines -> the records of both parts.

#include "models/data/jsonl_records.hpp"
#include "models/data/record_parts.hpp"
#include "runtime/base/refuse.hpp"

#include <memory>

namespace hydra {

/// Of jsonl_files or chat_files. Throws as jsonl_records and split_records do, and fault_error{bad_input} if there are
/// both validation files and a share.
template <class Files>
record_split open_jsonl_files(const Files& o, const record_fields& fields, std::uint64_t seed) {
  const auto open = [&](const file_list& files) {
    std::vector<records_ptr> lists;
    for (const auto& file : files) lists.push_back(std::make_shared<const jsonl_records>(file, fields));
    return joined_records(std::move(lists));
  };
  if (o.validation_share > 0 && !o.validation.empty())
    refuse(o.train.string() + ": give either files to validate on, or a validation_share (set it to 0)");
  if (o.validation_share > 0) return split_records(open(o.train), o.validation_share, seed);
  return {open(o.train), open(o.validation)};
}

}  // namespace hydra
