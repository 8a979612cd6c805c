#include "tests/gpu/emulator/settings.h"

#include "catch2/catch.hpp"
#include "tests/gpu/emulator/heap.h"

namespace assay::emulated {

using gpu::cuda::Result;

TEST_CASE("emulated driver: settings that make no sense are refused", "[gpu][emulator]") {
  Settings settings;
  for (const auto& [name, value] : std::vector<std::pair<const char*, const char*>>{{"MEMORIES", "1"},
                                                                                    {"MEMORY", ""},
                                                                                    {"MEMORY", "-1"},
                                                                                    {"MEMORY", "1k"},
                                                                                    {"CAPABILITY", "9"},
                                                                                    {"CAPABILITY", "9.a"},
                                                                                    {"FAIL", "cuInit"},
                                                                                    {"FAIL", "cuInit:1"},
                                                                                    {"FAIL", "cuInit:0:1"},
                                                                                    {"FAIL", "cuInit:1:0"},
                                                                                    {"FAIL", "cuInit:+:1"}}) {
    INFO(name << " " << value);
    CHECK(!settings.Set(name, value));
  }
  CHECK(settings.Set("MEMORY", "77"));
  CHECK(settings.memory == 77);
  CHECK(settings.Set("MEMORY", nullptr));
  CHECK(settings.memory == int64_t{2} << 30);
}

TEST_CASE("emulated driver: calls fail where they are to", "[gpu][emulator]") {
  Settings settings;
  REQUIRE(settings.Set("FAIL", "cuInit:2:3,*:5:1,cuDeviceGet:2+:2"));
  const auto next = [&](const char* function) { return NextFailure(function, &settings.fail); };
  CHECK(next("cuInit") == Result::kSuccess);
  CHECK(next("cuInit") == Result::kNotInitialized);
  CHECK(next("cuInit") == Result::kSuccess);
  CHECK(next("cuDeviceGet") == Result::kSuccess);
  CHECK(next("cuStreamCreate") == Result::kInvalidValue);
  CHECK(next("cuStreamCreate") == Result::kSuccess);
  CHECK(next("cuDeviceGet") == Result::kOutOfMemory);
  CHECK(next("cuDeviceGet") == Result::kOutOfMemory);
  REQUIRE(settings.Set("FAIL", nullptr));
  CHECK(next("cuDeviceGet") == Result::kSuccess);
}

TEST_CASE("emulated driver: memory ends where its allocation ends", "[gpu][emulator]") {
  Heap heap;
  const uint64_t first = heap.Allocate(100), second = heap.Allocate(5000);
  CHECK(first % 512 == 256);
  CHECK(heap.Contains(first, 100));
  CHECK(heap.Contains(first + 99, 1));
  CHECK(heap.Contains(first + 100, 0));
  CHECK(!heap.Contains(first, 101));
  CHECK(!heap.Contains(first + 100, 1));
  CHECK(!heap.Contains(first - 1, 1));
  CHECK(!heap.Contains(first - 1, 2));
  CHECK(!heap.Contains(first, ~uint64_t{0}));
  CHECK(heap.Contains(second + 4000, 1000));
  CHECK(heap.Free(second).empty());
  CHECK(!heap.Contains(second + 4000, 1000));
  CHECK(heap.Contains(first, 100));
  CHECK(heap.bytes() == 100);
  CHECK(heap.Check().empty());
}

TEST_CASE("emulated driver: freed memory is looked at when it goes for good", "[gpu][emulator]") {
  Heap heap;
  const uint64_t early = heap.Allocate(1000);
  CHECK(heap.Free(early).empty());
  *reinterpret_cast<char*>(early + 999) = 0;
  const uint64_t large = heap.Allocate(Heap::kFreed);
  CHECK(heap.Free(large).find("wrote byte 999 of the freed allocation of 1000 bytes") == 0);
}

}  // namespace assay::emulated
