#pragma once
// What the viewers of a live page are sent: the status of the run, and the page's charts and tables as they are now.

#include "apps/steering/steering.hpp"

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace hydra::apps {

/// Frames for one viewer. Of each kind only the newest is kept: who takes them slowly misses some. Nobody gets the same
/// frame twice. Thread-safe.
class live_mailbox {
 public:
  enum kind : std::size_t { parts, status, end, kinds };
  using frame = std::shared_ptr<const std::string>;

  void put(kind k, frame f);
  /// Waits for a frame; null after that of the end.
  frame take();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<frame, kinds> frames_;  ///< not taken yet
  std::array<frame, kinds> newest_;
  bool ended_ = false;  ///< its frame was taken
};

/// While there are viewers, a thread of its own asks for the status once a second and after `hurry`, and renders the
/// page when the run folder has changed or a model has ended: once for all viewers, at most once a second and in a
/// tenth of the time. Frames are server-sent events (docs/control.md). Thread-safe.
class live_feed {
 public:
  static constexpr std::size_t most_viewers = 48;

  /// Makes the charts and tables from the run folder and the answer to `status`; if it throws, the last ones stay.
  using renderer = std::function<std::string(const nlohmann::ordered_json& status)>;

  live_feed(steering& run, std::filesystem::path folder, renderer render);
  /// Ends, if that has not been done.
  ~live_feed();

  /// The charts and tables as they are now, at most a second old.
  std::string content();
  /// Null if there are most_viewers already, or the feed has ended. A viewer leaves by dropping the mailbox.
  std::shared_ptr<live_mailbox> subscribe();
  /// Sends the status now.
  void hurry();
  /// Sends the last content, the last status and the event "end".
  void finish();

 private:
  struct rendered_parts {
    std::string content;
    live_mailbox::frame frame;
  };

  void publish();
  void send_all(bool last);
  nlohmann::ordered_json status();
  std::shared_ptr<const rendered_parts> rendered(const nlohmann::ordered_json& status, bool last);
  void render(const std::string& signature, const nlohmann::ordered_json& status);
  std::vector<std::shared_ptr<live_mailbox>> viewers();

  steering& run_;
  std::filesystem::path folder_;
  renderer render_;

  std::mutex render_mutex_;  ///< of the three below
  std::shared_ptr<const rendered_parts> parts_;
  std::string signature_;  ///< of the run folder and its models when they were rendered
  std::chrono::steady_clock::time_point next_render_{};

  std::mutex mutex_;  ///< of all below
  std::condition_variable changed_;
  std::vector<std::weak_ptr<live_mailbox>> viewers_;
  bool hurried_ = false;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace hydra::apps
