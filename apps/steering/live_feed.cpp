#include "apps/steering/live_feed.hpp"

#include "apps/report/markup.hpp"
#include "apps/steering/answer.hpp"
#include "runtime/base/fault.hpp"
#include "runtime/base/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

namespace hydra::apps {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr auto period = 1s;
constexpr int pauses = 9;  // a rendering is followed by a pause of so many times its length

/// Changes when a file does that a page is made of.
std::string signature_of(const std::filesystem::path& folder) {
  std::string all;
  for (const char* name :
       {"metrics.jsonl", "report.json", "trace.json", "plan.json", "workload.toml", "search.jsonl"}) {
    std::error_code absent;
    const auto file = folder / name;
    all += fmt::format("{} {} ", std::filesystem::file_size(file, absent),
                       std::filesystem::last_write_time(file, absent).time_since_epoch().count());
  }
  return all;
}

/// Changes when a model ends, which need not change a file.
std::string states_in(const nlohmann::ordered_json& status) {
  std::string all;
  for (const auto& model : status.value("models", nlohmann::ordered_json::array()))
    all += model.at("state").get<std::string>() + " ";
  return all;
}

live_mailbox::frame event(const char* name, const std::string& data) {
  return std::make_shared<const std::string>(fmt::format("event: {}\ndata: {}\n\n", name, data));
}

}  // namespace

// -- mailbox -------------------------------------------------------------------------------------------------------

void live_mailbox::put(kind k, frame f) {
  const std::lock_guard lock{mutex_};
  if (std::exchange(newest_[k], f) == f) return;
  frames_[k] = std::move(f);
  changed_.notify_all();
}

live_mailbox::frame live_mailbox::take() {
  const auto is_there = [](const frame& f) { return f != nullptr; };
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [&] { return ended_ || std::ranges::any_of(frames_, is_there); });
  const auto first = std::ranges::find_if(frames_, is_there);
  if (ended_ || first == frames_.end()) return nullptr;
  ended_ = first == frames_.begin() + end;
  return std::exchange(*first, nullptr);
}

// -- feed ----------------------------------------------------------------------------------------------------------

live_feed::live_feed(steering& run, std::filesystem::path folder, renderer render)
    : run_{run}, folder_{std::move(folder)}, render_{std::move(render)}, thread_{[this] { publish(); }} {}

live_feed::~live_feed() { finish(); }

std::string live_feed::content() { return rendered(status(), false)->content; }

std::shared_ptr<live_mailbox> live_feed::subscribe() {
  auto box = std::make_shared<live_mailbox>();
  const std::lock_guard lock{mutex_};
  std::erase_if(viewers_, [](const auto& v) { return v.expired(); });
  if (ended_ || viewers_.size() >= most_viewers) return nullptr;
  viewers_.push_back(box);
  hurried_ = true;
  changed_.notify_all();
  return box;
}

void live_feed::hurry() {
  const std::lock_guard lock{mutex_};
  hurried_ = true;
  changed_.notify_all();
}

void live_feed::finish() {
  {
    const std::lock_guard lock{mutex_};
    if (std::exchange(ended_, true)) return;
    changed_.notify_all();
  }
  thread_.join();
  send_all(true);
}

void live_feed::publish() {
  std::unique_lock lock{mutex_};
  while (!ended_) {
    std::erase_if(viewers_, [](const auto& v) { return v.expired(); });
    const auto woken = [&] { return ended_ || hurried_; };
    viewers_.empty() ? changed_.wait(lock, woken) : void(changed_.wait_for(lock, period, woken));
    hurried_ = false;
    if (ended_) return;
    lock.unlock();
    send_all(false);
    lock.lock();
  }
}

void live_feed::send_all(bool last) {
  const auto all = viewers();
  if (all.empty()) return;
  const auto now = status();
  const auto told = event("status", json_text(now));
  const auto parts = rendered(now, last)->frame;
  const auto end = last ? event("end", "{}") : nullptr;
  for (const auto& box : all) {
    box->put(live_mailbox::parts, parts);
    box->put(live_mailbox::status, told);
    if (end) box->put(live_mailbox::end, end);
  }
}

nlohmann::ordered_json live_feed::status() { return answer(run_, {.name = "status"}); }

std::shared_ptr<const live_feed::rendered_parts> live_feed::rendered(const nlohmann::ordered_json& status, bool last) {
  const std::lock_guard lock{render_mutex_};
  if (parts_ && !last && clock::now() < next_render_) return parts_;
  const std::string now = signature_of(folder_) + states_in(status);
  if (!parts_ || now != signature_) render(now, status);
  return parts_;
}

void live_feed::render(const std::string& signature, const nlohmann::ordered_json& status) {
  const auto began = clock::now();
  std::string content;
  try {
    content = render_(status);
  } catch (...) {
    content = parts_ ? parts_->content
                     : fmt::format("<p class=\"note\">{}</p>\n", escaped(to_fault(std::current_exception()).text));
  }
  if (!parts_ || parts_->content != content) {
    const std::string data = json_text(nlohmann::json(content));
    parts_ = std::make_shared<const rendered_parts>(rendered_parts{std::move(content), event("parts", data)});
  }
  signature_ = signature;
  next_render_ = clock::now() + std::max<clock::duration>(period, (clock::now() - began) * pauses);
}

std::vector<std::shared_ptr<live_mailbox>> live_feed::viewers() {
  const std::lock_guard lock{mutex_};
  std::vector<std::shared_ptr<live_mailbox>> all;
  for (const auto& v : viewers_)
    if (auto box = v.lock()) all.push_back(std::move(box));
  return all;
}

}  // namespace hydra::apps
