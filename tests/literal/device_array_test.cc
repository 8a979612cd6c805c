// Literals whose bytes lie on a device: fetched once, by whoever asks first; counted from the start;
// lost with an error.
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <thread>
#include <vector>

#include "base/run_guard.h"
#include "literal/literal.h"

namespace assay {
namespace {

std::shared_ptr<const Shape> Numbers(int64_t n) {
  return std::make_shared<const Shape>(Shape::ArrayOrDie(ElementType::kS32, {{n}}));
}

// Element i is i * 3 + 1. Copies fail while `error` says so.
class CountedArray final : public DeviceArray {
 public:
  absl::Status CopyOut(std::span<std::byte> host) override {
    ++copies;
    if (!error.ok()) return error;
    for (size_t i = 0; i < host.size() / 4; ++i) {
      const auto value = static_cast<int32_t>(i * 3 + 1);
      std::memcpy(host.data() + i * 4, &value, 4);
    }
    return absl::OkStatus();
  }
  void Lost(const absl::Status& why) override {
    lost = why;
    if (guard != nullptr) guard->Fail(why);
  }

  std::atomic<int> copies{0};
  absl::Status error, lost;
  std::shared_ptr<RunGuard> guard;
};

TEST_CASE("An array on a device is copied to the host once, when it is read", "[literal][device]") {
  const auto array = std::make_shared<CountedArray>();
  const Literal literal = Literal::OnDevice(Numbers(5), array).value();
  const Literal copy = literal;
  CHECK(literal.IsOnDeviceAlone());
  CHECK(copy.device_array() == array);
  CHECK(copy.SharesStorageWith(literal));
  CHECK(array->copies == 0);
  CHECK(literal.GetInt(4) == 13);
  CHECK(copy.GetInt(0) == 1);
  CHECK(array->copies == 1);
  CHECK_FALSE(copy.IsOnDeviceAlone());
  CHECK(copy.device_array() == array);  // it is there still
}

TEST_CASE("Other shapes and tuples of an array on a device share what is fetched", "[literal][device]") {
  const auto array = std::make_shared<CountedArray>();
  const Literal flat = Literal::OnDevice(Numbers(6), array).value();
  const Literal folded =
      flat.WithShape(std::make_shared<const Shape>(Shape::ArrayOrDie(ElementType::kS32, {{2, 3}})));
  const Literal tuple = Literal::Tuple({flat, folded});
  REQUIRE(tuple.Fetch().ok());
  CHECK(array->copies == 1);
  CHECK_FALSE(flat.IsOnDeviceAlone());
  CHECK(folded.GetInt(5) == 16);
  CHECK(tuple.Fetch().ok());
  CHECK(array->copies == 1);
}

TEST_CASE("Writing to an array ends that it lies on a device", "[literal][device]") {
  const auto array = std::make_shared<CountedArray>();
  Literal literal = Literal::OnDevice(Numbers(3), array).value();
  const int32_t seven = 7;
  std::memcpy(literal.MutableBytes().data(), &seven, 4);
  CHECK(literal.GetInt(0) == 7);
  CHECK(literal.GetInt(2) == 7);
  CHECK(literal.device_array() == nullptr);
  CHECK(array.use_count() == 1);

  Literal shared = Literal::OnDevice(Numbers(3), array).value();
  const Literal other = shared;
  const int32_t eight = 8;
  REQUIRE(shared.Unshare().ok());
  std::memcpy(shared.MutableBytes().data(), &eight, 4);
  CHECK(shared.GetInt(0) == 8);
  CHECK(other.GetInt(0) == 1);
  CHECK(other.device_array() == array);
}

TEST_CASE("A host array remembers a copy on a device until it is written", "[literal][device]") {
  Literal literal = Literal::FromInts(ElementType::kS32, {{2}}, {{5, 6}});
  const auto array = std::make_shared<CountedArray>();
  literal.KeepOnDevice(array);
  CHECK(literal.device_array() == array);
  CHECK(literal.GetInt(1) == 6);
  CHECK(array->copies == 0);
  literal.MutableBytes();
  CHECK(literal.device_array() == nullptr);
}

TEST_CASE("An array on a device counts against the memory limit, once", "[literal][device]") {
  const auto budget = std::make_shared<MemoryBudget>(4096);
  {
    const Literal literal =
        Literal::OnDevice(Numbers(1000), std::make_shared<CountedArray>(), budget).value();
    CHECK(budget->live() == 4000);
    CHECK(literal.GetInt(999) == 2998);
    CHECK(budget->live() == 4000);
    const absl::Status refused =
        Literal::OnDevice(Numbers(100), std::make_shared<CountedArray>(), budget).status();
    CHECK(IsMemoryError(refused));
    CHECK(budget->live() == 4000);
  }
  CHECK(budget->live() == 0);
}

TEST_CASE("A lost array is zero, and the run that it is of ends with the reason", "[literal][device]") {
  const auto command = std::make_shared<RunGuard>(RunLimits{});
  const auto array = std::make_shared<CountedArray>();
  array->guard = std::make_shared<RunGuard>(RunLimits{}, nullptr, command);
  array->error = EvalError({}, "cuMemcpyDtoHAsync: an illegal memory access was encountered");
  const Literal literal = Literal::OnDevice(Numbers(4), array).value();
  CHECK(literal.Fetch() == array->error);  // who asks for the error gets it, and may ask again
  CHECK(array->lost.ok());
  CHECK(array->guard->Failure().ok());
  CHECK(literal.GetInt(3) == 0);
  CHECK(array->lost == array->error);
  CHECK(array->guard->Failure() == array->error);
  CHECK(command->Failure() == array->error);
  CHECK(array->guard->Poll() == array->error);
  array->guard->Fail(EvalError({}, "another"));  // the first counts
  CHECK(command->Failure() == array->error);
}

TEST_CASE("Threads that read an array on a device fetch it once", "[literal][device]") {
  for (int round = 0; round < 50; ++round) {
    const auto array = std::make_shared<CountedArray>();
    const Literal literal = Literal::OnDevice(Numbers(1000), array).value();
    std::array<int64_t, 4> found{};
    std::vector<std::thread> threads;
    for (size_t t = 0; t < found.size(); ++t)
      threads.emplace_back([&, t] { found[t] = literal.GetInt(999); });
    for (std::thread& thread : threads) thread.join();
    CHECK(found == std::array<int64_t, 4>{2998, 2998, 2998, 2998});
    CHECK(array->copies == 1);
  }
}

}  // namespace
}  // namespace assay
