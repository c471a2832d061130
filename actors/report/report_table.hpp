#pragma once
// The table at the end of a run, and cells that other tables share.

#include "actors/report/report.hpp"
#include "actors/selection/search_ranking.hpp"

#include <string>
#include <vector>

namespace hydra {

/// Models (evaluations, loss, status), and the makespan next to its bound with what most of the rest was lost to.
/// Without trials it is not a search.
std::string to_result(const report& r, const search_ranking& s);
/// The same with all that the scheduler and the devices have counted: shards, devices, bounds.
std::string to_table(const report& r);
/// The same with the ranking of a search instead of its trials' losses; without trials it is not a search.
std::string to_table(const report& r, const search_ranking& s);

/// Cells of tables; "-" if there was nothing to measure.
std::string tokens_per_second(const model_report& m);
/// Of steps that this run has trained, all models together.
std::string tokens_per_second(const report& r);
/// "2.5101 (60)": loss and step of the evaluation with the smallest loss.
std::string best_cell(const model_report& m);
/// Of the first step and the last.
std::string loss_course(const model_report& m);
std::string hit_rate(const device_report& d);
/// Share of the backward visits' micro-batches that had what their forward visits saved, of those that would have had
/// to compute the forward again.
std::string saved_rate(const device_report& d);
/// Of the nodes of a cluster: the last title is empty. A row has as many cells.
std::vector<std::string> node_titles(const report& r);
std::vector<std::string> node_cells(const report& r, const node_report& n);
/// "1 move, 200 ms between nodes  ...".
std::string network_text(const cluster_report& c);
/// "finished", "stopped: no better for 3 evaluations", "failed: out of memory: ..." in one line.
std::string outcome(const model_report& m);
/// "bounds  work 2.000 s  chain 1.000 s ...", with a newline.
std::string to_line(const bounds& limits);

}  // namespace hydra
