#include "base/work_stage.h"

#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

namespace assay {
namespace {

TEST_CASE("the observer is told of the outermost stage", "[work_stage]") {
  std::vector<std::string> told;
  {
    const WorkObserverScope scope([&](std::string_view what, int64_t done, int64_t total) {
      told.push_back(std::string(what) + " " + std::to_string(done) + "/" + std::to_string(total));
    });
    const WorkStage samples("samples", 2);
    for (int64_t k = 1; k <= 2; ++k) {
      const WorkStage steps("steps", 9);
      steps.Done(3);
      samples.Done(k);
    }
  }
  CHECK(told == std::vector<std::string>{"samples 0/2", "samples 1/2", "samples 2/2", " 0/0"});
}

TEST_CASE("stages follow one another, and nobody is told outside of the scope or its thread",
          "[work_stage]") {
  std::vector<std::string> told;
  const WorkStage before("before", 1);
  {
    const WorkObserverScope scope([&](std::string_view what, int64_t, int64_t) { told.emplace_back(what); });
    std::thread([] { WorkStage("elsewhere", 1).Done(1); }).join();
    WorkStage("one", 1).Done(1);
    WorkStage("two", 1).Done(1);
  }
  before.Done(1);
  WorkStage("after", 1).Done(1);
  CHECK(told == std::vector<std::string>{"one", "one", "", "two", "two", ""});
}

}  // namespace
}  // namespace assay
