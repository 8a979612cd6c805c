// The kernels of sort.cu over several tiles against a stable sort of the library, with blocks in several
// orders.
#include <algorithm>
#include <numeric>
#include <random>

#include "gpu/kernels/sort_arguments.h"
#include "tests/gpu/kernels/kernel_run.h"

namespace assay::gpu {
namespace {

template <typename Word>
struct Sorted {
  std::vector<Word> keys;
  std::vector<uint32_t> order;
};

// A sort of elements, which are their own keys, by all passes.
template <typename Word>
Sorted<Word> RunSort(const char* pass_kernel, int items, const std::vector<Word>& elements, uint64_t order) {
  TestMemory memory;
  const auto count = static_cast<int64_t>(elements.size()), tiles = SortTiles(count, items);
  constexpr int kPasses = sizeof(Word);
  Word *keys = memory.Allocate<Word>(count), *next_keys = memory.Allocate<Word>(count);
  uint32_t *positions = memory.Allocate<uint32_t>(count), *next_positions = memory.Allocate<uint32_t>(count);
  uint32_t* const bases = memory.Allocate<uint32_t>(kPasses * kSortDigits);
  SortKeyArguments make{};
  make.from = AddressOf(memory.Copy(elements));
  make.positions = {1, {count}, {1}};
  make.keys = AddressOf(keys);
  make.count = count;
  make.counts = {AddressOf(memory.Copy(std::vector<uint32_t>(kPasses * kSortDigits))),
                 AddressOf(memory.Copy<uint32_t>({0})), AddressOf(bases), kPasses};
  RunKernel("sort", sizeof(Word) == 8 ? "sort_keys_8" : "sort_keys_4", 3, kSortThreads,
            SortCountSharedBytes(kPasses), make, memory, order);
  for (int pass = 0; pass < kPasses; ++pass) {
    SortPassArguments a{};
    a.keys_from = AddressOf(keys);
    a.keys_to = AddressOf(next_keys);
    a.order_from = pass == 0 ? 0 : AddressOf(positions);
    a.order_to = AddressOf(next_positions);
    a.bases = AddressOf(bases + pass * kSortDigits);
    a.states = AddressOf(memory.Copy(std::vector<uint64_t>(tiles * kSortDigits)));
    a.ticket = AddressOf(memory.Copy<uint32_t>({0}));
    a.count = count;
    a.shift = 8 * pass;
    RunKernel("sort", pass_kernel, tiles, kSortPassThreads, SortPassSharedBytes(items, sizeof(Word)), a,
              memory, order == 0 ? 0 : order + static_cast<uint64_t>(pass));
    std::swap(keys, next_keys);
    std::swap(positions, next_positions);
  }
  return {{keys, keys + count}, {positions, positions + count}};
}

template <typename Word>
void CheckSort(const char* pass_kernel, int items, int64_t count, int bits, uint64_t order) {
  INFO(pass_kernel << " of " << count << " elements of " << bits << " bits, order " << order);
  std::mt19937_64 generator(static_cast<uint64_t>(count) + order);
  std::vector<Word> elements(static_cast<size_t>(count));
  for (Word& element : elements) {
    element = static_cast<Word>(generator() >> (64 - bits));
    if (generator() % 8 == 0) element = static_cast<Word>(~Word{0});  // as what is beyond the end
  }
  std::vector<uint32_t> wanted(elements.size());
  std::iota(wanted.begin(), wanted.end(), 0);
  std::stable_sort(wanted.begin(), wanted.end(),
                   [&](uint32_t x, uint32_t y) { return elements[x] < elements[y]; });
  const Sorted<Word> found = RunSort(pass_kernel, items, elements, order);
  CHECK(found.order == wanted);
  std::sort(elements.begin(), elements.end());
  CHECK(found.keys == elements);
}

}  // namespace

TEST_CASE("stable radix sorts, whichever tiles come first", "[kernels][sort]") {
  for (const uint64_t order : {1, 6}) {
    CheckSort<uint32_t>("sort_pass_small_4", kSortItemsSmall, 33000, 32, order);
    CheckSort<uint64_t>("sort_pass_8", kSortItems8, 13000, order == 1 ? 64 : 11, order);
  }
  CheckSort<uint32_t>("sort_pass_small_4", kSortItemsSmall, 16384, 5, 3);
  CheckSort<uint32_t>("sort_pass_4", kSortItems, 25001, 32, 2);
  CheckSort<uint32_t>("sort_pass_4", kSortItems, 1, 32, 0);
}

}  // namespace assay::gpu
