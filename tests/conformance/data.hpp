#pragma once
// What every source of data must do, as models/data_source.hpp says it: built in, an example, a user's own.

#include "models/data_source.hpp"

namespace hydra::test {

/// Reads some samples of both splits. Requires: there are samples of training; read() writes all bytes of the specs and
/// none beside them, the same each time and on several threads at once; it counts at most tokens_of() and in each split
/// some targets; where these are classes, it counts those that are not -100, which are below classes(); real numbers
/// are finite, ids below vocabulary(). For Catch2 test cases.
void conforms(const data_source& data);

}  // namespace hydra::test
