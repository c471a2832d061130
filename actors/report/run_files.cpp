#include "actors/report/run_files.hpp"

#include "actors/report/report_json.hpp"
#include "partition/plan/plan_file.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/storage/atomic_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace hydra {

run_files::run_files(std::filesystem::path folder, std::shared_ptr<spdlog::logger> log)
    : folder_(std::move(folder)), log_(std::move(log)) {}

void run_files::make_folder() const {
  if (wanted()) {
    std::filesystem::create_directories(folder_);
  }
}

void run_files::save_plan(const workload_plan& plan) const { write_atomically(folder_ / "plan.json", to_json(plan)); }

void run_files::begin(const workload_plan& plan, const std::vector<model_entry>& models, const earlier_parts& before,
                      run_metrics_options options) {
  if (!wanted()) {
    return;
  }
  try {
    save_plan(plan);
  } catch (const fault_error& e) {
    log_->warn("{}", e.what_happened().text);  // it is tried again at the end of the run, and noted then
  }
  try {
    expenses_ = std::make_unique<expense_file>(folder_, before);
  } catch (const fault_error& e) {
    notes_.push_back(fmt::format("cost and energy of the run are not recorded: {}", e.what_happened().text));
    log_->warn("{}", notes_.back());
  }
  try {
    metrics_ = std::make_unique<run_metrics>(folder_, models, options, log_);
  } catch (const fault_error& e) {
    notes_.push_back(fmt::format("{} is not written: {}", metrics_file, e.what_happened().text));
    log_->warn("{}", notes_.back());
  }
}

void run_files::end_metrics() {
  if (const auto note = metrics_ ? metrics_->close() : ""; !note.empty()) {
    notes_.push_back(note);
  }
  if (expenses_) {
    std::ranges::copy(expenses_->notes(), std::back_inserter(notes_));
  }
}

void run_files::write(report& r, const run_record& record, const workload_plan& plan, const trace* spans) const {
  r.notes.insert(r.notes.end(), notes_.begin(), notes_.end());
  if (!wanted()) {
    return;
  }
  const auto attempt = [&](const std::function<void()>& step) {
    try {
      step();
    } catch (const fault_error& e) {
      r.notes.push_back(e.what_happened().text);
      ++r.unsaved;
    }
  };
  if (!record.stuck.empty()) {
    const auto file = folder_ / "stuck.txt";
    attempt([&] {
      write_atomically(file, record.aborted.text + "\n\n" + record.stuck);
      r.notes.push_back("state of all actors when the run was stuck: " + file.string());
    });
  }
  attempt([&] { save_plan(plan); });
  attempt([&] { spans->write(folder_ / "trace.json"); });
  attempt([&] { write_report(r, folder_ / "report.json"); });
}

}  // namespace hydra
