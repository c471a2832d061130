#include "apps/steering/live_page.hpp"

#include "apps/report/page.hpp"
#include "apps/report/result.hpp"
#include "apps/run_folder/metrics_record.hpp"
#include "apps/run_folder/run_context.hpp"
#include "apps/steering/answer.hpp"
#include "apps/steering/http_server.hpp"
#include "apps/steering/live_feed.hpp"
#include "apps/steering/live_view.hpp"
#include "runtime/base/json_text.hpp"
#include "runtime/base/refuse.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <system_error>

namespace hydra::apps {

namespace {

/// Nothing for a model that has not ended.
std::optional<model_status> ended_as(const std::string& state) {
  for (const model_status end : {model_status::finished, model_status::stopped, model_status::failed})
    if (state == to_string(end)) return end;
  return std::nullopt;
}

/// Which models have ended: metrics.jsonl does not have it, the run knows it.
void set_ended(report& r, const nlohmann::ordered_json& status) {
  for (const auto& now : status.value("models", nlohmann::ordered_json::array())) {
    const auto m = std::ranges::find(r.models, now.at("name").get<std::string>(), &model_report::name);
    const auto end = ended_as(now.at("state").get<std::string>());
    if (end && m != r.models.end() && m->status == model_status::under_way) m->status = *end;
  }
}

live_feed::renderer renderer_of(const std::filesystem::path& folder) {
  return [folder](const nlohmann::ordered_json& status) {
    recorded_run record = latest_record(folder);
    set_ended(record.summary, status);
    add_context(record, folder);
    if (record.unfinished.empty()) add_next(record, folder);
    return to_content(record, timeline_of(record, folder));
  };
}

std::string title_of(const std::filesystem::path& folder) {
  const auto name = folder.filename().empty() ? folder.parent_path().filename() : folder.filename();
  return name.empty() ? "run" : name.string();
}

}  // namespace

class live_page::server {
 public:
  server(steering& run, const std::filesystem::path& folder, const live_address& where)
      : run_{run},
        title_{title_of(folder)},
        host_{where.host},
        access_{where.host},
        feed_{run, folder, renderer_of(folder)} {
    set_limits();
    route();
    open(where);
  }

  ~server() { feed_.finish(); }  // before http_ ends, which waits a moment for its viewers

  std::string url() const {
    const std::string host = reachable_host(host_);
    const bool v6 = host.find(':') != std::string::npos;
    return fmt::format("http://{}:{}/?token={}", v6 ? "[" + host + "]" : host, port_, access_.token());
  }

 private:
  void set_limits() {
    http_.set_payload_max_length(longest_command);
    http_.set_default_headers({
        {"Content-Security-Policy", fmt::format("default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-{}'; "
                                                "connect-src 'self'; base-uri 'none'; "
                                                "form-action 'none'; frame-ancestors 'none'",
                                                nonce_)},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cache-Control", "no-store"},
    });
  }

  void route() {
    http_.set_pre_routing_handler([this](const auto& request, auto& response) { return check(request, response); });
    http_.set_exception_handler([](const auto&, auto& response, auto) { response.status = 500; });
    http_.Get("/", [this](const auto&, auto& response) {
      response.set_content(live_view(title_, feed_.content(), nonce_), "text/html; charset=utf-8");
    });
    http_.Get("/events", [this](const auto&, auto& response) { send_events(response); });
    http_.Post("/command", [this](const auto& request, auto& response) { execute(request.body, response); });
  }

  httplib::Server::HandlerResponse check(const httplib::Request& request, httplib::Response& response) const {
    const std::string why = access_.refusal({.token = request.get_param_value("token"),
                                             .host = request.get_header_value("Host"),
                                             .origin = request.get_header_value("Origin")});
    if (why.empty()) return httplib::Server::HandlerResponse::Unhandled;
    response.status = 403;
    response.set_content(why + "\n", "text/plain; charset=utf-8");
    return httplib::Server::HandlerResponse::Handled;
  }

  void send_events(httplib::Response& response) {
    const auto box = feed_.subscribe();
    if (!box) {
      response.status = 503;
      response.set_content(fmt::format("{} viewers watch this run already, or it has ended\n", live_feed::most_viewers),
                           "text/plain");
      return;
    }
    response.set_chunked_content_provider("text/event-stream", [box](std::size_t, httplib::DataSink& sink) {
      const auto frame = box->take();
      if (!frame) return sink.done(), true;
      return sink.write(frame->data(), frame->size());
    });
  }

  void execute(const std::string& body, httplib::Response& response) {
    const auto answered = answer(run_, parse_command(body));
    response.status = answered.contains("error") ? 400 : 200;
    response.set_content(json_text(answered) + "\n", "application/json");
    feed_.hurry();
  }

  void open(const live_address& where) {
    port_ = http_.open(where.host, where.port);
    if (port_ < 0)
      refuse(fmt::format("--serve {}:{}: the page cannot be served there: {}", where.host, where.port,
                         errno == 0 ? "no such address" : std::generic_category().message(errno)));
  }

  steering& run_;
  std::string title_;
  std::string host_;
  int port_ = -1;
  live_access access_;
  std::string nonce_ = random_token();
  live_feed feed_;
  http_server http_;  ///< last: its threads use the others
};

live_page::live_page(steering& run, const std::filesystem::path& folder, const live_address& where)
    : server_{std::make_unique<server>(run, folder, where)} {}

live_page::~live_page() = default;

std::string live_page::url() const { return server_->url(); }

}  // namespace hydra::apps
