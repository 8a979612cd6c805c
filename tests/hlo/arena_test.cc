// Memory of an arena: no piece lies on another, whichever chunk either is in and
// whoever had the chunk before.
#include "hlo/arena.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace assay {
namespace {

// Pieces of many sizes, each filled with a byte of its own: none may overlap another,
// whatever chunk it lies in.
void FillAndCheck(Arena& arena, size_t count, uint32_t seed) {
  struct Piece {
    unsigned char* data;
    size_t size;
    unsigned char fill;
  };
  std::vector<Piece> pieces;
  uint32_t random = seed;
  for (size_t i = 0; i < count; ++i) {
    random = random * 1664525 + 1013904223;
    const bool is_large = (random >> 24) == 0;
    const size_t size = is_large ? 20'000 + (random >> 8 & 0xffff) : 1 + (random >> 8 & 0x3f);
    const size_t alignment = size_t{1} << (random >> 20 & 3);
    auto* const data = static_cast<unsigned char*>(arena.Take(size, alignment));
    if (reinterpret_cast<uintptr_t>(data) % alignment != 0) FAIL("a piece is not aligned");
    const auto fill = static_cast<unsigned char>(random >> 13);
    std::memset(data, fill, size);
    pieces.push_back({data, size, fill});
  }
  for (const Piece& piece : pieces) {
    for (size_t i = 0; i < piece.size; ++i) {
      if (piece.data[i] != piece.fill) FAIL("a piece was overwritten");
    }
  }
}

TEST_CASE("pieces of an arena do not overlap", "[hlo]") {
  Arena arena;
  FillAndCheck(arena, 40'000, 1);  // beyond the first chunks
}

TEST_CASE("an arena takes up the chunks of one before, and several are open at once", "[hlo]") {
  for (uint32_t round = 0; round < 20; ++round) {
    Arena a, b, c;
    FillAndCheck(a, 300, round);
    FillAndCheck(b, 3'000, round + 100);
    FillAndCheck(c, 30, round + 200);
    FillAndCheck(a, 300, round + 300);
  }
}

TEST_CASE("an arena is freed by another thread", "[hlo]") {
  auto* const arena = new Arena();
  FillAndCheck(*arena, 5'000, 7);
  std::thread([arena] { delete arena; }).join();
  Arena next;
  FillAndCheck(next, 5'000, 8);
}

TEST_CASE("texts and arrays of an arena are copies", "[hlo]") {
  Arena arena;
  std::string text = "abc";
  const std::string_view copy = arena.Copy(std::string_view(text));
  const std::vector<int64_t> numbers = {1, 2, 3};
  const std::span<int64_t> copied = arena.Copy(numbers);
  text = "xyz";
  CHECK(copy == "abc");
  CHECK(std::vector<int64_t>(copied.begin(), copied.end()) == numbers);
  CHECK(arena.Array<int64_t>(0).empty());
  for (const int64_t zero : arena.Array<int64_t>(1000)) REQUIRE(zero == 0);
}

}  // namespace
}  // namespace assay
