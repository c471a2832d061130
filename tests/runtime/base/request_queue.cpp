#include "runtime/base/request_queue.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <future>
#include <memory>
#include <vector>

using namespace hydra;

TEST_CASE("a queue that is not open accepts no request") {
  request_queue<int> line;
  CHECK(line.offer(1) == line_state::closed);
}

TEST_CASE("requests wait for the listener, and keep their order") {
  request_queue<int> line;
  line.open();
  CHECK(line.offer(1) == line_state::open);
  CHECK(line.offer(2) == line_state::open);
  std::vector<int> notified;
  line.connect([&](int i) { notified.push_back(i); });
  line.offer(3);
  CHECK(notified == std::vector{1, 2, 3});
}

TEST_CASE("requests that no listener has received when the queue is closed are dropped") {
  request_queue<std::shared_ptr<std::promise<int>>> line;
  line.open();
  auto promise = std::make_shared<std::promise<int>>();
  auto answer = promise->get_future();
  line.offer(std::move(promise));
  line.close();
  CHECK_THROWS_AS(answer.get(), std::future_error);
}

TEST_CASE("a queue that had a listener is over when it is closed; one that had none may be opened again") {
  request_queue<int> line;
  line.open();
  line.close();
  CHECK(line.offer(1) == line_state::closed);
  line.open();
  line.connect([](int) {});
  line.close();
  CHECK(line.offer(1) == line_state::over);
  line.open();
  line.close();
  CHECK(line.offer(1) == line_state::over);
}

TEST_CASE("the alternative action of a closed queue returns before the queue opens") {
  request_queue<int> line;
  std::future<void> opening;
  bool opened = true;
  CHECK(line.offer(1, [&] {
    opening = std::async(std::launch::async, [&] { line.open(); });
    opened = opening.wait_for(std::chrono::milliseconds(50)) == std::future_status::ready;
  }) == line_state::closed);
  CHECK_FALSE(opened);
  opening.get();
  bool done = false;
  CHECK(line.offer(2, [&] { done = true; }) == line_state::open);
  CHECK_FALSE(done);
}
