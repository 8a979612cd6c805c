#include "gpu/radix_sort.h"

#include <algorithm>

#include "gpu/kernel_function.h"

namespace assay::gpu {
namespace {

int BitsOf(int64_t most) {
  int bits = 0;
  while (most >> bits != 0) ++bits;
  return bits;
}

int PassesOf(int bits) { return (bits + 7) / 8; }

// What is zero before keys are made: a word a pass and one more (tickets, the counter of blocks), the counts,
// and the states of the tiles of each pass.
constexpr int64_t kMostPasses = 8;
constexpr int64_t kTicketBytes = 64, kCountBytes = kMostPasses * kSortDigits * 4;
static_assert((kMostPasses + 1) * 4 <= kTicketBytes);

// How the tiles of a pass are.
struct Tiling {
  int items;
  int64_t tiles;
  int64_t state_bytes() const { return tiles * kSortDigits * 8; }
};
Tiling TilingOf(int64_t count, int64_t key_bytes) {
  constexpr int64_t kLarge = int64_t{1} << 22;  // from so many elements on there are tiles for every device
  const int items = key_bytes == 8 ? kSortItems8 : count >= kLarge ? kSortItems : kSortItemsSmall;
  return {items, SortTiles(count, items)};
}

LaunchShape AnyBlocks(const Device& device, int64_t count, uint32_t shared_bytes) {
  return {.blocks = {BlocksFor(device, count, kSortThreads), 1, 1},
          .threads = {kSortThreads, 1, 1},
          .shared_bytes = shared_bytes};
}

}  // namespace

absl::StatusOr<SortMemory> SortMemory::Make(Device& device, int64_t count, int64_t key_bytes) {
  SortMemory memory;
  memory.count_ = count;
  memory.key_bytes_ = key_bytes;
  const auto rounded = [](int64_t bytes) { return (bytes + 255) / 256 * 256; };
  // Words of 8 bytes are sorted in 8 passes, of tiles of their own.
  const int64_t order = rounded(count * 4), keys = rounded(count * key_bytes);
  const int64_t states = key_bytes * std::max(TilingOf(count, 4).state_bytes(),
                                              key_bytes == 8 ? TilingOf(count, 8).state_bytes() : 0);
  ASSAY_ASSIGN_OR_RETURN(memory.memory_,
                         device.Allocate(2 * order + 2 * keys + kTicketBytes + 2 * kCountBytes + states));
  DeviceAddress at = memory.memory_->address();
  const auto take = [&](int64_t bytes) { return std::exchange(at, at + static_cast<uint64_t>(bytes)); };
  memory.order_ = take(order);
  memory.next_order_ = take(order);
  memory.keys_ = take(keys);
  memory.next_keys_ = take(keys);
  memory.bases_ = take(kCountBytes);
  memory.zeroed_ = at;
  return memory;
}

absl::StatusOr<RadixSort> RadixSort::Make(Device& device) {
  RadixSort sort;
  ASSAY_ASSIGN_OR_RETURN(sort.start_, KernelFunction(device, "sort", "sort_start"));
  ASSAY_ASSIGN_OR_RETURN(sort.lines_, KernelFunction(device, "sort", "sort_lines"));
  ASSAY_ASSIGN_OR_RETURN(sort.pass_, KernelFunction(device, "sort", "sort_pass_4"));
  ASSAY_ASSIGN_OR_RETURN(sort.pass_small_, KernelFunction(device, "sort", "sort_pass_small_4"));
  ASSAY_ASSIGN_OR_RETURN(sort.pass_wide_, KernelFunction(device, "sort", "sort_pass_8"));
  return sort;
}

absl::Status RadixSort::StartReversed(Device& device, SortMemory& memory, int64_t length) const {
  memory.has_order_ = true;
  const SortStartArguments arguments{
      .order = memory.order_, .count = memory.count_, .length = length, .reversed = 1};
  return device.Launch(*start_, AnyBlocks(device, memory.count_, 0), arguments);
}

absl::StatusOr<SortCounts> RadixSort::BeginKeys(Device& device, const SortMemory& memory, int bits) const {
  const int passes = PassesOf(bits);
  // Keys of more than 32 bits have 8 bytes.
  const int64_t states = passes * TilingOf(memory.count_, passes > 4 ? 8 : 4).state_bytes();
  ASSAY_RETURN_IF_ERROR(device.Zero(memory.zeroed_, kTicketBytes + kCountBytes + states));
  return SortCounts{.counts = memory.zeroed_ + kTicketBytes,
                    .counter = memory.zeroed_ + kMostPasses * 4,
                    .bases = memory.bases_,
                    .passes = passes};
}

absl::Status RadixSort::SortByKeys(Device& device, SortMemory& memory, int64_t key_bytes, int bits) const {
  const Tiling tiling = TilingOf(memory.count_, key_bytes);
  const DeviceFunction& function = key_bytes == 8               ? *pass_wide_
                                   : tiling.items == kSortItems ? *pass_
                                                                : *pass_small_;
  const LaunchShape shape{.blocks = {static_cast<uint32_t>(tiling.tiles), 1, 1},
                          .threads = {kSortPassThreads, 1, 1},
                          .shared_bytes = SortPassSharedBytes(tiling.items, static_cast<int>(key_bytes))};
  for (int pass = 0; pass < PassesOf(bits); ++pass) {
    const auto p = static_cast<uint64_t>(pass);
    const SortPassArguments arguments{.keys_from = memory.keys_,
                                      .keys_to = memory.next_keys_,
                                      .order_from = memory.order(),
                                      .order_to = memory.next_order_,
                                      .bases = memory.bases_ + p * kSortDigits * 4,
                                      .states = memory.zeroed_ + kTicketBytes + kCountBytes +
                                                p * static_cast<uint64_t>(tiling.state_bytes()),
                                      .ticket = memory.zeroed_ + p * 4,
                                      .count = memory.count_,
                                      .shift = 8 * pass};
    ASSAY_RETURN_IF_ERROR(device.Launch(function, shape, arguments));
    std::swap(memory.keys_, memory.next_keys_);
    std::swap(memory.order_, memory.next_order_);
    memory.has_order_ = true;
  }
  return absl::OkStatus();
}

absl::Status RadixSort::SortByLines(Device& device, SortMemory& memory, int64_t length) const {
  const int bits = BitsOf((memory.count_ - 1) / length);
  ASSAY_ASSIGN_OR_RETURN(const SortCounts counts, BeginKeys(device, memory, bits));
  const SortLineArguments arguments{.order = memory.order(),
                                    .keys = memory.keys_,
                                    .counts = counts,
                                    .count = memory.count_,
                                    .length = length};
  const LaunchShape shape = AnyBlocks(device, memory.count_, SortCountSharedBytes(counts.passes));
  ASSAY_RETURN_IF_ERROR(device.Launch(*lines_, shape, arguments));
  return SortByKeys(device, memory, 4, bits);
}

}  // namespace assay::gpu
