#include "jit/code_cache.h"

#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "jit/loop.h"

namespace assay::jit {
namespace {

absl::StatusOr<GeneratedCode> SomeCode(uint8_t byte) {
  const uint8_t code[] = {byte, 0xc3};
  GeneratedCode generated;
  ASSAY_ASSIGN_OR_RETURN(generated.memory, CodeMemory::Make(code));
  return generated;
}

// z = x op y
Segment Binary(Opcode opcode, ElementType type) {
  Segment segment;
  segment.streams = {{type}, {type}, {type}};
  segment.nodes = {{.opcode = Opcode::kParameter, .type = type, .a = 0},
                   {.opcode = Opcode::kParameter, .type = type, .a = 1},
                   {.opcode = opcode, .type = type, .operands = {0, 1, -1}}};
  segment.stores = {{2, 2}};
  return segment;
}

TEST_CASE("code cache: makes what it lacks, keeps what was used last", "[jit]") {
  CodeCache cache(2);
  int made = 0;
  const auto get = [&](const std::string& key) {
    return cache.Get(key, [&] { return ++made, SomeCode(0x90); }).value();
  };
  const auto a = get("a");
  CHECK(get("a") == a);
  const auto b = get("b");
  CHECK(a != b);
  get("a");
  get("c");  // b goes
  CHECK(cache.size() == 2);
  CHECK(made == 3);
  CHECK(get("a") == a);
  CHECK(get("b") != b);
  CHECK(made == 4);
  CHECK(*static_cast<const uint8_t*>(b->memory.entry()) == 0x90);  // its holder has it still
}

TEST_CASE("code cache: errors are not kept", "[jit]") {
  CodeCache cache(2);
  CHECK_FALSE(cache.Get("a", [] { return absl::StatusOr<GeneratedCode>(NotSupported({}, "no")); }).ok());
  CHECK(cache.size() == 0);
  CHECK(cache.Get("a", [] { return SomeCode(0x90); }).ok());
}

TEST_CASE("code cache: the key tells apart whatever the code depends on", "[jit]") {
  const Segment segment = Binary(Opcode::kAdd, ElementType::kF32);
  const std::string key = KeyOf(segment, Isa::kAvx2, 8, -1);
  CHECK(KeyOf(Binary(Opcode::kAdd, ElementType::kF32), Isa::kAvx2, 8, -1) == key);
  std::vector<std::string> keys = {key,
                                   KeyOf(segment, Isa::kAvx512, 8, -1),
                                   KeyOf(segment, Isa::kAvx2, 4, -1),
                                   KeyOf(segment, Isa::kAvx2, 8, 2),
                                   KeyOf(Binary(Opcode::kMultiply, ElementType::kF32), Isa::kAvx2, 8, -1),
                                   KeyOf(Binary(Opcode::kAdd, ElementType::kS32), Isa::kAvx2, 8, -1)};
  const auto with = [&](auto change) {
    Segment other = segment;
    change(other);
    keys.push_back(KeyOf(other, Isa::kAvx2, 8, -1));
  };
  with([](Segment& s) { s.streams[1].repeated = true; });
  with([](Segment& s) { s.streams[1].single = true; });
  with([](Segment& s) { s.streams[1].type = ElementType::kF64; });
  with([](Segment& s) { s.nodes[2].operands = {1, 0, -1}; });
  with([](Segment& s) { s.nodes[2].a = 1; });
  with([](Segment& s) { s.nodes[2].flag = true; });
  with([](Segment& s) { s.stores[0].stream = 0; });
  with([](Segment& s) { s.stores[0].node = 1; });
  with([](Segment& s) { s.stores.push_back({1, 0}); });
  std::sort(keys.begin(), keys.end());
  CHECK(std::adjacent_find(keys.begin(), keys.end()) == keys.end());
}

TEST_CASE("code cache: many threads make loops of few kinds", "[jit]") {
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const bool adds = (i + t) % 2 == 0;
        const absl::StatusOr<Loop> loop =
            Loop::Make(Binary(adds ? Opcode::kAdd : Opcode::kMultiply, ElementType::kF32), Isa::kAvx2);
        float x[8] = {3, 3, 3, 3, 3, 3, 3, 3}, y[8] = {4, 4, 4, 4, 4, 4, 4, 4}, z[8] = {};
        void* const streams[] = {x, y, z};
        if (loop.ok()) loop->Run(streams, 8);
        wrong += z[7] != (adds ? 7 : 12);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace assay::jit
