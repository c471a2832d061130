#pragma once
// The timeline of a cluster's run: those of its nodes, joined.

#include "actors/report/report.hpp"

#include <filesystem>

namespace hydra::apps {

/// Writes trace.json of `run`, of what nodes/NAME/ended/trace.json has of the nodes in the report; tracks have the
/// names of their nodes in front: "a/cpu:0 compute". Clocks differ: the first span of a node begins when the
/// coordinator saw the first model begin there. Adds a note to the report for a timeline that is missing or cannot be
/// read, and if it cannot be written. None is written if there is none.
void join_traces(const std::filesystem::path& run, report& r);

}  // namespace hydra::apps
