#pragma once
// The result of a study as a table, CSV and JSON.

#include "apps/simulate/study.hpp"

#include <string>

namespace hydra::apps {

/// Means of makespan / best bound: a row for each cell, a column for each policy.
std::string to_table(const study_result& s);

/// A line for each run:
/// cell,instance,driver,policy,makespan_us,bound,bound_us,ratio,compute_end_us,loads,hits,decisions,replaced,proven,
/// mean_completion_us,weighted_completion_us,deadlines,missed_deadlines,mean_tardiness_us,cost,joules.
std::string to_csv(const study_result& s);

/// {"name", "policies", "cells": [{"name", "driver", "instances", "policies": {NAME: {"mean", "min", "max"}},
/// "yardstick", "runs": [...]}]}, runs as `hydra simulate --json` prints them.
std::string to_json(const study_result& s);

}  // namespace hydra::apps
