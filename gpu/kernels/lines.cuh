// Reductions of the middle dimension of [outer][length][inner], by any Op, in one launch: where several
// blocks have parts of a result, the last of them to finish combines the parts. That is an order of time,
// but not one of results, as these do not depend on the order.
//
// An Op is made of the arguments. A thread adds elements to Terms(a), whose Finish(count) is a State; Combine
// makes one State of two, Empty() is that of no elements, and Store(state, result, depth) ends it, where no
// element passed more than `depth` combinations.
#ifndef ASSAY_GPU_KERNELS_LINES_CUH_
#define ASSAY_GPU_KERNELS_LINES_CUH_

#include "gpu/kernels/device.cuh"
#include "gpu/kernels/index.cuh"
#include "gpu/kernels/reduce_arguments.h"
#include "gpu/kernels/states.cuh"

namespace assay::gpu {

// Of all threads of a block of whole warps, in its first warp; `shared` has room for a state a warp.
template <typename Op>
__device__ __forceinline__ typename Op::State CombineBlock(typename Op::State state,
                                                           typename Op::State* shared) {
  state = Op::CombineLanes(state, 32);
  SyncThreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = state;
  SyncThreads();
  if (threadIdx.x < 32) {
    state = threadIdx.x < blockDim.x / 32 ? shared[threadIdx.x] : Op::Empty();
    state = Op::CombineLanes(state, 32);
  }
  return state;
}

// Adds lane `lane` of `lanes` its share of `count` neighbouring elements: vectors of 16 bytes where they are
// aligned, kVectors of them under way at once. Returns how many they are.
template <int kVectors, typename Terms, typename Element>
__device__ __forceinline__ double AddNeighbours(Terms& terms, const Element* from, int64_t count,
                                                uint32_t lane, uint32_t lanes) {
  constexpr int kPerVector = 16 / sizeof(Element);
  const auto misaligned = static_cast<int64_t>(reinterpret_cast<uintptr_t>(from) % 16 / sizeof(Element));
  const int64_t before = misaligned == 0 ? 0 : kPerVector - misaligned,
                head = before < count ? before : count;
  const int64_t full = (count - head) / kPerVector;
  const auto* const vectors = reinterpret_cast<const Vector16*>(from + head);
  uint32_t added = 0;
  for (int64_t i = lane; i < head; i += lanes, ++added) terms.Add(from[i]);
  int64_t i = lane;
  for (; i + (kVectors - 1) * static_cast<int64_t>(lanes) < full;
       i += kVectors * static_cast<int64_t>(lanes)) {
    Vector16 v[kVectors];
#pragma unroll
    for (int j = 0; j < kVectors; ++j) v[j] = LoadStreaming(vectors + i + j * static_cast<int64_t>(lanes));
#pragma unroll
    for (int j = 0; j < kVectors; ++j) terms.AddVector(v[j]);
    added += kVectors * kPerVector;
  }
  for (; i < full; i += lanes, added += kPerVector) terms.AddVector(LoadStreaming(vectors + i));
  for (i = head + full * kPerVector + lane; i < count; i += lanes, ++added) terms.Add(from[i]);
  return added;
}
// The most that AddNeighbours adds to one lane.
template <typename Element>
__device__ __forceinline__ double MostNeighbours(int64_t count, int64_t lanes) {
  constexpr int kPerVector = 16 / sizeof(Element);
  return static_cast<double>((count / kPerVector / lanes + 1) * kPerVector + 2 * (kPerVector / lanes + 1));
}

// The state of what `add` adds to terms; added again with care where the first terms say that they are not
// exact.
template <typename Op, typename Add>
__device__ OUTLINE typename Op::State CarefulState(const LineArguments& a, const Add& add) {
  typename Op::Careful terms(a);
  const double count = add(terms);
  return terms.Finish(count);
}
template <typename Op, typename Add>
__device__ __forceinline__ typename Op::State StateOf(const LineArguments& a, const Add& add) {
  typename Op::Terms terms(a);
  const double count = add(terms);
  if constexpr (Op::kHasCareful) {
    if (!terms.IsExact(count)) return CarefulState<Op>(a, add);
  }
  return terms.Finish(count);
}

// A group of lanes has a line.
template <typename Op, int kVectors>
__device__ __forceinline__ void ReduceRows(const LineArguments& a) {
  using Element = typename Op::Element;
  const auto group = static_cast<uint32_t>(a.group);
  const int64_t line = GridThread() / group;
  const uint32_t lane = threadIdx.x % group;
  const auto add = [&](auto& terms) {
    if (line >= a.outer) return 0.0;
    return AddNeighbours<kVectors>(terms, reinterpret_cast<const Element*>(a.input) + line * a.length,
                                   a.length, lane, group);
  };
  const typename Op::State state = Op::CombineLanes(StateOf<Op>(a, add), group);
  if (lane == 0 && line < a.outer) Op::Store(a, state, line, MostNeighbours<Element>(a.length, group) + 6);
}

// Blocks have parts of a line.
template <typename Op, int kVectors>
__device__ __forceinline__ void ReduceLong(const LineArguments& a) {
  using Element = typename Op::Element;
  using State = typename Op::State;
  auto* const shared = reinterpret_cast<State*>(SharedMemory());
  const auto parts = static_cast<uint32_t>(a.parts);
  const int64_t line = blockIdx.x / parts, part = blockIdx.x % parts;
  // Parts begin where vectors of the line do.
  constexpr int64_t kVector = 16 / sizeof(Element);
  const auto* const from = reinterpret_cast<const Element*>(a.input) + line * a.length;
  const auto misaligned = static_cast<int64_t>(reinterpret_cast<uintptr_t>(from) % 16 / sizeof(Element));
  const int64_t vectors = (a.length + misaligned + kVector - 1) / kVector;
  const auto begin_of = [&](int64_t p) {
    const int64_t at = vectors * p / a.parts * kVector - misaligned;
    return at < 0 ? 0 : at < a.length ? at : a.length;
  };
  const int64_t begin = begin_of(part), end = begin_of(part + 1);
  const auto add = [&](auto& terms) {
    return AddNeighbours<kVectors>(terms, from + begin, end - begin, threadIdx.x, kReduceThreads);
  };
  State state = CombineBlock<Op>(StateOf<Op>(a, add), shared);
  const double depth = MostNeighbours<Element>((vectors / a.parts + 1) * kVector, kReduceThreads) + 11;
  if (parts == 1) {
    if (threadIdx.x == 0) Op::Store(a, state, line, depth);
    return;
  }
  auto* const partial = reinterpret_cast<State*>(a.partial) + line * a.parts;
  if (threadIdx.x == 0) partial[part] = state;
  if (!IsLastBlock(reinterpret_cast<uint32_t*>(a.counters) + line, parts,
                   reinterpret_cast<uint32_t*>(SharedMemory() + 32 * sizeof(State))))
    return;
  state = Op::Empty();
  for (uint32_t p = threadIdx.x; p < parts; p += kReduceThreads)
    state = Op::Combine(state, LoadPastState(partial + p));
  state = CombineBlock<Op>(state, shared);
  if (threadIdx.x == 0) Op::Store(a, state, line, depth + 11 + static_cast<double>(parts / kReduceThreads));
}

// kColumns neighbouring elements, aligned as one.
template <typename Element, int kColumns>
struct alignas(sizeof(Element) * kColumns) Neighbours {
  Element of[kColumns];
};

// Every eighth of `count` elements of kColumns neighbouring columns, `apart` elements from one to the next.
template <int kColumns, int kUnroll, typename Terms, typename Element>
__device__ __forceinline__ void AddColumns(Terms (&terms)[kColumns], const Element* at, int64_t apart,
                                           uint32_t count) {
  using Group = Neighbours<Element, kColumns>;
  uint32_t r = 0;
  for (; r + kUnroll <= count; r += kUnroll, at += kUnroll * apart) {
    Group v[kUnroll];
#pragma unroll
    for (int j = 0; j < kUnroll; ++j) v[j] = *reinterpret_cast<const Group*>(at + j * apart);
#pragma unroll
    for (int j = 0; j < kUnroll; ++j) {
#pragma unroll
      for (int c = 0; c < kColumns; ++c) terms[c].Add(v[j].of[c]);
    }
  }
  for (; r < count; ++r, at += apart) {
    const Group v = *reinterpret_cast<const Group*>(at);
#pragma unroll
    for (int c = 0; c < kColumns; ++c) terms[c].Add(v.of[c]);
  }
}
// One column after the other, so that it takes few registers; states are 33 apart.
template <typename Op, int kColumns>
__device__ OUTLINE void CarefulColumns(const LineArguments& a, const typename Op::Element* at, int64_t apart,
                                       uint32_t count, typename Op::State* to) {
  for (int c = 0; c < kColumns; ++c) {
    typename Op::Careful careful[1] = {typename Op::Careful(a)};
    AddColumns<1, 4>(careful, at + c, apart, count);
    to[33 * c] = careful[0].Finish(count);
  }
}

// The state of a column, of which each of 8 warps has a part; states of warps are 33 * kColumns apart.
template <typename Op>
__device__ __forceinline__ typename Op::State CombineWarps(const typename Op::State* states, int apart) {
  typename Op::State state = states[0];
  for (int w = 1; w < kReduceThreads / 32; ++w) state = Op::Combine(state, states[w * apart]);
  return state;
}

// A thread has kColumns neighbouring columns of every eighth element of a block's part.
template <typename Op, int kColumns, int kUnroll>
__device__ __forceinline__ void ReduceColumns(const LineArguments& a) {
  using State = typename Op::State;
  using Element = typename Op::Element;
  constexpr int kWarps = kReduceThreads / 32, kApart = 33 * kColumns;
  auto* const shared = reinterpret_cast<State*>(SharedMemory());
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const auto across = static_cast<uint32_t>(LineBlocksAcross(a, kColumns)),
             parts = static_cast<uint32_t>(a.parts);
  const uint32_t block = blockIdx.x / across % parts, of_parts = blockIdx.x / across / parts;
  const int64_t first = static_cast<int64_t>(blockIdx.x % across) * 32 * kColumns;
  const int64_t column = first + lane * kColumns;
  const int64_t begin = a.length * block / parts, end = a.length * (block + 1) / parts;
  const auto* const at = reinterpret_cast<const Element*>(a.input) +
                         (static_cast<int64_t>(of_parts) * a.length + begin + warp) * a.inner + column;
  const bool has_any = column < a.inner && begin + warp < end;
  const auto mine = static_cast<uint32_t>(has_any ? (end - begin - warp + kWarps - 1) / kWarps : 0);
  State* const own = shared + warp * kApart + lane;
  bool exact = true;
  {
    typename Op::Terms terms[kColumns];
#pragma unroll
    for (int c = 0; c < kColumns; ++c) terms[c] = typename Op::Terms(a);
    AddColumns<kColumns, kUnroll>(terms, at, kWarps * a.inner, mine);
    if constexpr (Op::kHasCareful) {
#pragma unroll
      for (int c = 0; c < kColumns; ++c) exact = exact && terms[c].IsExact(mine);
    }
    if (exact) {
#pragma unroll
      for (int c = 0; c < kColumns; ++c) own[33 * c] = terms[c].Finish(mine);
    }
  }
  if constexpr (Op::kHasCareful) {
    if (!exact) CarefulColumns<Op, kColumns>(a, at, kWarps * a.inner, mine, own);
  }
  SyncThreads();
  auto* const partial = reinterpret_cast<State*>(a.partial);
  const int64_t results = a.outer * a.inner, row = static_cast<int64_t>(of_parts) * a.inner;
  const double depth = static_cast<double>((end - begin) / kWarps) + 10;
  // A warp has 32 columns at a time.
  for (int c = static_cast<int>(warp); c < kColumns; c += kWarps) {
    const State state = CombineWarps<Op>(shared + 33 * c + lane, kApart);
    const int64_t result = first + lane * kColumns + c;
    if (result >= a.inner) continue;
    if (parts == 1) {
      Op::Store(a, state, row + result, depth);
    } else {
      partial[block * results + row + result] = state;
    }
  }
  if (parts == 1) return;
  const int64_t counter = static_cast<int64_t>(of_parts) * across + blockIdx.x % across;
  if (!IsLastBlock(reinterpret_cast<uint32_t*>(a.counters) + counter, parts,
                   reinterpret_cast<uint32_t*>(SharedMemory() + kWarps * kApart * sizeof(State))))
    return;
  // All warps share the parts of a column.
  for (int c = 0; c < kColumns; ++c) {
    const int64_t result = first + lane * kColumns + c;
    State state = Op::Empty();
    if (result < a.inner) {
      for (uint32_t p = warp; p < parts; p += kWarps)
        state = Op::Combine(state, LoadPastState(partial + p * results + row + result));
    }
    own[33 * c] = state;
  }
  SyncThreads();
  for (int c = static_cast<int>(warp); c < kColumns; c += kWarps) {
    const State state = CombineWarps<Op>(shared + 33 * c + lane, kApart);
    const int64_t result = first + lane * kColumns + c;
    if (result < a.inner) Op::Store(a, state, row + result, depth + 10 + parts);
  }
}

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_LINES_CUH_
