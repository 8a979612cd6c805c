#include "tests/gpu/emulator/heap.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>

namespace assay::emulated {
namespace {

constexpr uint64_t kAlignment = 256;
// As floats large negative numbers, as integers indices far out of any array.
constexpr int kUnknown = 0xFB;
constexpr int kFreedByte = 0xDE;

// No byte repeats its neighbour, so that what was moved by an element is seen.
const std::array<unsigned char, Heap::kZone>& ZonePattern() {
  static const std::array<unsigned char, Heap::kZone> pattern = [] {
    std::array<unsigned char, Heap::kZone> made;
    for (size_t i = 0; i < made.size(); ++i) made[i] = static_cast<unsigned char>(i * 167 + 91 + i / 256);
    return made;
  }();
  return pattern;
}

std::string Format(const char* format, auto... values) {
  char text[256];
  std::snprintf(text, sizeof(text), format, values...);
  return text;
}

std::byte* Bytes(uint64_t address) { return reinterpret_cast<std::byte*>(address); }

void PaintZone(uint64_t zone) { std::memcpy(Bytes(zone), ZonePattern().data(), Heap::kZone); }

std::optional<uint64_t> FirstChangeInZone(uint64_t zone) {
  if (std::memcmp(Bytes(zone), ZonePattern().data(), Heap::kZone) == 0) return std::nullopt;
  uint64_t i = 0;
  while (static_cast<unsigned char>(Bytes(zone)[i]) == ZonePattern()[i]) ++i;
  return i;
}

std::string CheckZones(uint64_t address, uint64_t bytes) {
  if (const auto before = FirstChangeInZone(address - Heap::kZone)) {
    PaintZone(address - Heap::kZone);
    return Format("wrote %" PRIu64 " bytes before the allocation of %" PRIu64 " bytes at 0x%" PRIx64,
                  Heap::kZone - *before, bytes, address);
  }
  if (const auto behind = FirstChangeInZone(address + bytes)) {
    PaintZone(address + bytes);
    return Format("wrote %" PRIu64 " bytes behind the end of the allocation of %" PRIu64
                  " bytes at 0x%" PRIx64,
                  *behind, bytes, address);
  }
  return {};
}

std::string CheckFreed(uint64_t address, uint64_t bytes) {
  std::byte* const begin = Bytes(address);
  // All bytes are alike exactly where the first is right and each is like the one before.
  const bool same =
      bytes == 0 || (begin[0] == std::byte{kFreedByte} && std::memcmp(begin, begin + 1, bytes - 1) == 0);
  if (same) return CheckZones(address, bytes);
  uint64_t i = 0;
  while (begin[i] == std::byte{kFreedByte}) ++i;
  std::memset(begin, kFreedByte, bytes);
  return Format("wrote byte %" PRIu64 " of the freed allocation of %" PRIu64 " bytes at 0x%" PRIx64, i, bytes,
                address);
}

std::atomic<uint64_t> all_changes = 0;

}  // namespace

uint64_t Heap::Allocate(uint64_t bytes) {
  const uint64_t room = bytes + 2 * kZone + 2 * kAlignment;
  if (room < bytes) return 0;
  Block block{bytes, std::unique_ptr<std::byte[]>(new (std::nothrow) std::byte[room])};
  if (block.storage == nullptr) return 0;
  uint64_t address = reinterpret_cast<uint64_t>(block.storage.get()) + kZone;
  address = (address + kAlignment - 1) / kAlignment * kAlignment;
  if (address % (2 * kAlignment) == 0) address += kAlignment;
  std::memset(Bytes(address), kUnknown, bytes);
  PaintZone(address - kZone);
  PaintZone(address + bytes);
  blocks_.emplace(address, std::move(block));
  bytes_ += bytes;
  changes_ = ++all_changes;
  return address;
}

std::string Heap::Unuse(uint64_t address) {
  const auto found = blocks_.find(address);
  if (found == blocks_.end()) return Format("0x%" PRIx64 " is no allocation in use", address);
  const uint64_t bytes = found->second.bytes;
  std::string trouble = CheckZones(address, bytes);
  std::memset(Bytes(address), kFreedByte, bytes);
  unused_.insert(blocks_.extract(found));
  changes_ = ++all_changes;
  return trouble;
}

std::string Heap::Reuse(uint64_t address) {
  const auto found = unused_.find(address);
  if (found == unused_.end()) return Format("0x%" PRIx64 " is no unused allocation", address);
  const uint64_t bytes = found->second.bytes;
  std::string trouble = CheckFreed(address, bytes);
  std::memset(Bytes(address), kUnknown, bytes);
  blocks_.insert(unused_.extract(found));
  changes_ = ++all_changes;
  return trouble;
}

std::string Heap::Free(uint64_t address) {
  if (unused_.contains(address)) {
    std::string trouble = Reuse(address);
    if (!trouble.empty()) return trouble;
  }
  const auto found = blocks_.find(address);
  Block block = std::move(found->second);
  blocks_.erase(found);
  bytes_ -= block.bytes;
  changes_ = ++all_changes;
  std::string trouble = CheckZones(address, block.bytes);
  if (block.bytes > kFreed) return trouble;
  std::memset(Bytes(address), kFreedByte, block.bytes);
  freed_bytes_ += block.bytes;
  freed_.push_back({address, std::move(block)});
  while (freed_bytes_ > kFreed) {
    if (trouble.empty()) trouble = CheckFreed(freed_.front().address, freed_.front().block.bytes);
    freed_bytes_ -= freed_.front().block.bytes;
    freed_.pop_front();
  }
  return trouble;
}

bool Heap::Contains(uint64_t address, uint64_t bytes) const {
  // Kernels ask for one allocation many times in a row.
  struct Last {
    uint64_t changes = 0, begin = 0, end = 0;
  };
  thread_local Last last;
  if (last.changes != changes_ || address < last.begin || address > last.end) {
    auto block = blocks_.upper_bound(address);
    if (block == blocks_.begin()) return false;
    --block;
    last = {changes_, block->first, block->first + block->second.bytes};
  }
  return address >= last.begin && address <= last.end && bytes <= last.end - address;
}

std::string Heap::Describe(uint64_t address, uint64_t bytes) const {
  for (const FreedBlock& freed : freed_) {
    if (address >= freed.address && address - freed.address <= freed.block.bytes)
      return Format("%" PRIu64 " bytes at 0x%" PRIx64 ", %" PRIu64 " bytes into an allocation of %" PRIu64
                    " bytes that was freed",
                    bytes, address, address - freed.address, freed.block.bytes);
  }
  if (auto unused = unused_.upper_bound(address); unused != unused_.begin()) {
    --unused;
    if (address - unused->first <= unused->second.bytes)
      return Format("%" PRIu64 " bytes at 0x%" PRIx64 ", %" PRIu64 " bytes into an allocation of %" PRIu64
                    " bytes that was freed",
                    bytes, address, address - unused->first, unused->second.bytes);
  }
  auto block = blocks_.upper_bound(address);
  if (block == blocks_.begin())
    return Format("%" PRIu64 " bytes at 0x%" PRIx64 ", where nothing is", bytes, address);
  --block;
  return Format("%" PRIu64 " bytes at 0x%" PRIx64 ", %" PRIu64
                " bytes behind the begin of an allocation of %" PRIu64 " bytes",
                bytes, address, address - block->first, block->second.bytes);
}

std::string Heap::Check() {
  std::string trouble;
  for (const auto& [address, block] : blocks_) {
    std::string found = CheckZones(address, block.bytes);
    if (trouble.empty()) trouble = std::move(found);
  }
  uint64_t looked_at = 0;  // Reuse looks at the others
  for (const auto& [address, block] : unused_) {
    if ((looked_at += block.bytes) > kFreed) break;
    std::string found = CheckFreed(address, block.bytes);
    if (trouble.empty()) trouble = std::move(found);
  }
  for (const FreedBlock& freed : freed_) {
    std::string found = CheckFreed(freed.address, freed.block.bytes);
    if (trouble.empty()) trouble = std::move(found);
  }
  return trouble;
}

}  // namespace assay::emulated
