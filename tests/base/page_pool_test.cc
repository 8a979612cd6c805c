#include "base/page_pool.h"

#include <catch2/catch.hpp>
#include <cstring>

#include "literal/literal.h"
#include "shape/shape_text.h"

namespace assay {
namespace {

constexpr int64_t kMiB = 1 << 20;

TEST_CASE("page pool: gives back what has exactly the size, the last kept first", "[page_pool]") {
  PagePool pool(64 * kMiB);
  void* const a = MapArray(4 * kMiB);
  void* const b = MapArray(4 * kMiB);
  void* const c = MapArray(5 * kMiB);
  REQUIRE((a != nullptr && b != nullptr && c != nullptr));
  CHECK(reinterpret_cast<uintptr_t>(ArrayIn(a, 4 * kMiB)) % kHugePage == 0);
  std::memset(ArrayIn(b, 4 * kMiB), 0xee, 4 * kMiB);
  pool.Keep(a, 4 * kMiB);
  pool.Keep(b, 4 * kMiB);
  pool.Keep(c, 5 * kMiB);
  CHECK(pool.kept() == 13 * kMiB);
  CHECK(pool.Take(6 * kMiB) == nullptr);
  CHECK(pool.Take(4 * kMiB) == b);
  CHECK(ArrayIn(b, 4 * kMiB)[4 * kMiB - 1] == std::byte{0xee});
  CHECK(pool.Take(4 * kMiB) == a);
  CHECK(pool.Take(4 * kMiB) == nullptr);
  CHECK(pool.kept() == 5 * kMiB);
  pool.Keep(a, 4 * kMiB);
  pool.Keep(b, 4 * kMiB);
}

TEST_CASE("page pool: keeps no more than its limit, and makes room for fresh pages", "[page_pool]") {
  PagePool pool(10 * kMiB);
  void* const first = MapArray(4 * kMiB);
  pool.Keep(first, 4 * kMiB);
  pool.Keep(MapArray(5 * kMiB), 5 * kMiB);
  pool.Keep(MapArray(3 * kMiB), 3 * kMiB);
  CHECK(pool.kept() == 8 * kMiB);
  CHECK(pool.Take(4 * kMiB) == nullptr);  // the oldest went
  pool.Keep(MapArray(11 * kMiB), 11 * kMiB);
  CHECK(pool.kept() == 8 * kMiB);
  pool.MakeRoom(kMiB);
  CHECK(pool.kept() == 3 * kMiB);
  pool.MakeRoom(100 * kMiB);
  CHECK(pool.kept() == 0);
}

TEST_CASE("page pool: a value of one run lies where one of the run before lay, counted anew", "[page_pool]") {
  PagePool::OfProcess().Clear();
  const auto shape = std::make_shared<const Shape>(ParseShape("u8[5242880]").value());
  const std::byte* data;
  {
    const auto budget = std::make_shared<MemoryBudget>(6 * kMiB);
    Literal value = Literal::Make(shape, budget, true).value();
    data = value.data();
    std::memset(value.MutableBytes().data(), 0xee, value.bytes().size());
    budget->StopRecycling();  // the run ends before its result is freed
  }
  CHECK(PagePool::OfProcess().kept() == 5 * kMiB);
  {
    const auto small = std::make_shared<MemoryBudget>(4 * kMiB);
    CHECK_FALSE(Literal::Make(shape, small, true).ok());  // what is kept is not given beyond the limit
    CHECK(small->live() == 0);
    CHECK(PagePool::OfProcess().kept() == 5 * kMiB);
  }
  const auto budget = std::make_shared<MemoryBudget>(6 * kMiB);
  const Literal value = Literal::Make(shape, budget, true).value();
  CHECK(value.data() == data);
  CHECK(budget->live() == 5 * kMiB);
  CHECK(PagePool::OfProcess().kept() == 0);
  CHECK(value.bytes().front() == std::byte{0});
  CHECK(value.bytes().back() == std::byte{0});
}

TEST_CASE("page pool: what a run may not keep beyond its peak is found again", "[page_pool]") {
  PagePool::OfProcess().Clear();
  const auto budget = std::make_shared<MemoryBudget>(10 * kMiB);
  const auto make = [&](const char* shape) {
    return Literal::Make(std::make_shared<const Shape>(ParseShape(shape).value()), budget, false).value();
  };
  Literal a = make("u8[1048576]"), b = make("u8[1048576]");
  const std::byte *const first = a.data(), *const second = b.data();
  a = b = Literal();
  CHECK(budget->recycled() == 2 * kMiB);
  const Literal small = make("u8[4096]");
  CHECK(budget->recycled() == kMiB);
  CHECK(PagePool::OfProcess().kept() == kMiB);
  a = make("u8[1048576]");
  b = make("u8[1048576]");
  CHECK(((a.data() == first && b.data() == second) || (a.data() == second && b.data() == first)));
  CHECK(PagePool::OfProcess().kept() == 0);
}

TEST_CASE("page pool: small arrays of two sizes in turn keep their pages", "[page_pool]") {
  PagePool::OfProcess().Clear();
  const auto run = [](const char* shape) {
    const auto budget = std::make_shared<MemoryBudget>(10 * kMiB);
    const auto made = std::make_shared<const Shape>(ParseShape(shape).value());
    const std::byte* const data = Literal::Make(made, budget, false).value().data();
    budget->StopRecycling();
    return data;
  };
  const std::byte *const first = run("u8[1048576]"), *const second = run("u8[524288]");
  CHECK(PagePool::OfProcess().kept() == kMiB + kMiB / 2);
  CHECK(run("u8[1048576]") == first);
  CHECK(run("u8[524288]") == second);
  PagePool::OfProcess().Clear();
}

TEST_CASE("page pool: arrays too small for a 2 MiB page lie at the start of their mapping", "[page_pool]") {
  PagePool::OfProcess().Clear();
  void* const mapping = MapArray(kMappedBytes);
  REQUIRE(mapping != nullptr);
  CHECK(ArrayIn(mapping, kMappedBytes) == mapping);
  CHECK(MappingLength(kMappedBytes) == kMappedBytes);
  CHECK(MappingLength(2 * kMiB) == 4 * kMiB);
  UnmapArray(mapping, kMappedBytes);
  const auto shape = std::make_shared<const Shape>(ParseShape("u8[262144]").value());
  const std::byte* data;
  {
    const auto budget = std::make_shared<MemoryBudget>(kMiB);
    data = Literal::Make(shape, budget, true).value().data();
    budget->StopRecycling();
  }
  CHECK(PagePool::OfProcess().kept() == kMappedBytes);
  const Literal value = Literal::Make(shape, std::make_shared<MemoryBudget>(kMiB), true).value();
  CHECK(value.data() == data);
}

}  // namespace
}  // namespace assay
