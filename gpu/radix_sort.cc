#include "gpu/radix_sort.h"

#include "gpu/kernel_function.h"

namespace assay::gpu {
namespace {

int BitsOf(int64_t most) {
  int bits = 0;
  while (most >> bits != 0) ++bits;
  return bits;
}

}  // namespace

absl::StatusOr<SortMemory> SortMemory::Make(Device& device, int64_t count, int64_t key_bytes) {
  SortMemory memory;
  memory.count_ = count;
  const auto rounded = [](int64_t bytes) { return (bytes + 255) / 256 * 256; };
  const int64_t order = rounded(count * 4), keys = rounded(count * key_bytes),
                counts = rounded(kSortDigits * SortBlocks(count) * 4);
  ASSAY_ASSIGN_OR_RETURN(memory.memory_,
                         device.Allocate(2 * order + 2 * keys + counts + int64_t{kSortDigits} * 4));
  DeviceAddress at = memory.memory_->address();
  const auto take = [&](int64_t bytes) { return std::exchange(at, at + static_cast<uint64_t>(bytes)); };
  memory.order_ = take(order);
  memory.next_order_ = take(order);
  memory.keys_ = take(keys);
  memory.next_keys_ = take(keys);
  memory.counts_ = take(counts);
  memory.totals_ = at;
  return memory;
}

absl::StatusOr<RadixSort> RadixSort::Make(Device& device) {
  RadixSort sort;
  ASSAY_ASSIGN_OR_RETURN(sort.start_, KernelFunction(device, "sort", "sort_start"));
  ASSAY_ASSIGN_OR_RETURN(sort.scan_, KernelFunction(device, "sort", "sort_scan"));
  ASSAY_ASSIGN_OR_RETURN(sort.count_[0], KernelFunction(device, "sort", "sort_count_4"));
  ASSAY_ASSIGN_OR_RETURN(sort.count_[1], KernelFunction(device, "sort", "sort_count_8"));
  ASSAY_ASSIGN_OR_RETURN(sort.scatter_[0], KernelFunction(device, "sort", "sort_scatter_4"));
  ASSAY_ASSIGN_OR_RETURN(sort.scatter_[1], KernelFunction(device, "sort", "sort_scatter_8"));
  return sort;
}

absl::Status RadixSort::Start(Device& device, const SortMemory& memory, int64_t length, bool reversed) const {
  const SortStartArguments arguments{
      .order = memory.order_, .count = memory.count_, .length = length, .reversed = reversed ? 1 : 0};
  const LaunchShape shape{.blocks = {BlocksFor(device, memory.count_, kSortThreads), 1, 1},
                          .threads = {kSortThreads, 1, 1}};
  return device.Launch(*start_, shape, arguments);
}

absl::Status RadixSort::SortByKeys(Device& device, SortMemory& memory, int64_t key_bytes, int bits) const {
  for (int shift = 0; shift < bits; shift += 8) {
    ASSAY_RETURN_IF_ERROR(Pass(device, memory,
                               {.keys_from = memory.keys_, .keys_to = memory.next_keys_, .shift = shift},
                               key_bytes == 8));
    std::swap(memory.keys_, memory.next_keys_);
  }
  return absl::OkStatus();
}

absl::Status RadixSort::SortByLines(Device& device, SortMemory& memory, int64_t length) const {
  const int bits = BitsOf((memory.count_ - 1) / length);
  for (int shift = 0; shift < bits; shift += 8)
    ASSAY_RETURN_IF_ERROR(Pass(device, memory, {.length = length, .shift = shift}, false));
  return absl::OkStatus();
}

absl::Status RadixSort::Pass(Device& device, SortMemory& memory, SortPassArguments pass, bool is_wide) const {
  pass.order_from = memory.order_;
  pass.order_to = memory.next_order_;
  pass.counts = memory.counts_;
  pass.totals = memory.totals_;
  pass.count = memory.count_;
  pass.blocks = SortBlocks(memory.count_);
  const LaunchShape tiles{.blocks = {static_cast<uint32_t>(pass.blocks), 1, 1},
                          .threads = {kSortThreads, 1, 1},
                          .shared_bytes = kSortSharedBytes};
  const LaunchShape digits{.blocks = {static_cast<uint32_t>(SortScanBlocks(pass.blocks)), 1, 1},
                           .threads = {kSortThreads, 1, 1},
                           .shared_bytes = kSortSharedBytes};
  ASSAY_RETURN_IF_ERROR(device.Launch(*count_[is_wide ? 1 : 0], tiles, pass));
  ASSAY_RETURN_IF_ERROR(device.Launch(*scan_, digits, pass));
  ASSAY_RETURN_IF_ERROR(device.Launch(*scatter_[is_wide ? 1 : 0], tiles, pass));
  std::swap(memory.order_, memory.next_order_);
  return absl::OkStatus();
}

}  // namespace assay::gpu
