#pragma once
// Lists of records made of others: several files as one, and a part of the records.

#include "models/data/record_list.hpp"

#include <memory>
#include <string>
#include <vector>

namespace hydra {

using records_ptr = std::shared_ptr<const record_list>;

/// The notes of both parts, which may be null; of the same file they are the same.
std::vector<std::string> notes_of(const records_ptr& train, const records_ptr& validation);

/// The records of several lists, one after the other. The list itself if there is one; null if there is none.
records_ptr joined_records(std::vector<records_ptr> lists);

/// Records for training and for validation.
struct record_split {
  records_ptr train, validation;
};

/// Takes a share of the records, between 0 and 1, for validation, at least one and not all: which ones depends on their
/// number and the seed only. Both keep the order of the list. Throws fault_error{bad_input} if there are fewer than
/// two.
record_split split_records(const records_ptr& all, double validation_share, std::uint64_t seed);

}  // namespace hydra
