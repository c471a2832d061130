#include "apps/steering/live_feed.hpp"

#include "runtime/base/fault.hpp"
#include "tests/apps/steering/fake_steering.hpp"
#include "tests/apps/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <atomic>

namespace hydra::apps {

using Catch::Contains;
using Catch::StartsWith;

namespace {

live_mailbox::frame text(const std::string& t) { return std::make_shared<const std::string>(t); }

/// A feed whose content is the number of its renderings.
struct counted_feed {
  temporary_folder folder;
  fake_steering run;
  std::atomic<int> renderings = 0;
  live_feed feed{run, folder.path(), [this](const auto&) { return "<p>" + std::to_string(++renderings) + "</p>"; }};
};

/// Takes frames until one contains the text.
std::string take_until(live_mailbox& box, const std::string& text) {
  while (const auto f = box.take())
    if (f->find(text) != std::string::npos) return *f;
  return "";
}

}  // namespace

TEST_CASE("a mailbox keeps the newest frame of each kind, and is over after that of the end") {
  live_mailbox box;
  box.put(live_mailbox::status, text("old"));
  box.put(live_mailbox::end, text("end"));
  box.put(live_mailbox::status, text("new"));
  const auto parts = text("parts");
  box.put(live_mailbox::parts, parts);
  CHECK(box.take() == parts);
  box.put(live_mailbox::parts, parts);  // is not given twice
  CHECK(*box.take() == "new");
  CHECK(*box.take() == "end");
  box.put(live_mailbox::status, text("late"));
  CHECK(box.take() == nullptr);
}

TEST_CASE("without viewers a feed asks for no status and renders nothing") {
  counted_feed f;
  f.feed.hurry();
  f.feed.finish();
  CHECK(f.run.status_count() == 0);
  CHECK(f.renderings == 0);
}

TEST_CASE("the page is rendered once for all viewers, and again when the run folder has changed") {
  counted_feed f;
  for (int i = 0; i < 5; ++i) CHECK(f.feed.content() == "<p>1</p>");
  std::vector<std::shared_ptr<live_mailbox>> boxes;
  for (int i = 0; i < 20; ++i) boxes.push_back(f.feed.subscribe());
  for (const auto& box : boxes) {
    CHECK(*box->take() == "event: parts\ndata: \"<p>1</p>\"\n\n");
    CHECK_THAT(take_until(*box, "event: status"), Contains(R"("name":"gpt-a")"));
  }
  CHECK(f.renderings == 1);
  f.folder.write("metrics.jsonl", "{}\n");
  for (const auto& box : boxes) CHECK_THAT(take_until(*box, "event: parts"), Contains("<p>2</p>"));
  CHECK(f.renderings == 2);
}

TEST_CASE("the page is rendered again when a model has ended, although no file has changed") {
  counted_feed f;
  CHECK(f.feed.content() == "<p>1</p>");
  const auto box = f.feed.subscribe();
  f.run.stop("gpt-b");
  CHECK_THAT(take_until(*box, "<p>2</p>"), Contains("event: parts"));
}

TEST_CASE("a viewer that takes nothing holds up nobody, and keeps no more than the newest frames") {
  counted_feed f;
  const auto stalled = f.feed.subscribe(), other = f.feed.subscribe();
  for (int i = 0; i < 100; ++i) {
    f.run.change([&](auto& models) { models[0].steps = i; });
    f.feed.hurry();
    CHECK_FALSE(take_until(*other, "\"steps\":" + std::to_string(i) + ",").empty());
  }
  CHECK_THAT(*stalled->take(), StartsWith("event: parts"));
  CHECK_THAT(*stalled->take(), Contains("\"steps\":99,"));
}

TEST_CASE("there is a limit on viewers, and one that left makes place") {
  counted_feed f;
  std::vector<std::shared_ptr<live_mailbox>> boxes;
  for (std::size_t i = 0; i < live_feed::most_viewers; ++i) boxes.push_back(f.feed.subscribe());
  CHECK(boxes.back() != nullptr);
  CHECK(f.feed.subscribe() == nullptr);
  boxes.pop_back();
  std::shared_ptr<live_mailbox> next;  // the feed may be filling the one that left
  for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
       !next && std::chrono::steady_clock::now() < end;)
    next = f.feed.subscribe();
  CHECK(next != nullptr);
}

TEST_CASE("at the end a viewer gets the last content, the last status and the end") {
  counted_feed f;
  const auto box = f.feed.subscribe();
  CHECK_FALSE(take_until(*box, "event: status").empty());
  f.folder.write("report.json", "{}");
  std::thread viewer{[&] {
    CHECK_THAT(take_until(*box, "event: parts"), Contains("<p>2</p>"));
    CHECK_FALSE(take_until(*box, "event: status").empty());
    CHECK_THAT(*box->take(), StartsWith("event: end"));
    CHECK(box->take() == nullptr);
  }};
  f.feed.finish();
  viewer.join();
  CHECK(f.feed.subscribe() == nullptr);
}

TEST_CASE("a page that cannot be rendered says why, and keeps what it had") {
  const temporary_folder folder;
  fake_steering run;
  bool fails = true;
  live_feed feed{run, folder.path(), [&](const auto&) -> std::string {
                   if (fails) throw fault_error{fault_code::io, "no <page>"};
                   return "<p>good</p>";
                 }};
  CHECK(feed.content() == "<p class=\"note\">no &lt;page&gt;</p>\n");
  const auto box = feed.subscribe();
  fails = false;
  folder.write("metrics.jsonl", "{}\n");
  CHECK_THAT(take_until(*box, "good"), StartsWith("event: parts"));
}

}  // namespace hydra::apps
