#pragma once
// What a cluster has taken.

#include "actors/report/shared_expense.hpp"

#include <string>

namespace hydra {

struct cluster_record;

/// The sum of what its nodes say of their runs, which last from their joining to their end; of a node whose run has not
/// ended, or that was lost, what it has said last. What nodes have taken while they had no model to train is divided
/// among all models by their device time.
shared_expense expenses_of(const cluster_record& record);

/// That of the first node that says one; may be empty.
std::string currency_of(const cluster_record& record);

}  // namespace hydra
