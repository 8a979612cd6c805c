// Products of bytes with 32-bit sums on tensor cores of sm_90a, persistent and warp-specialized: one thread
// lets bulk copies fill the stages, two warpgroups multiply 64 x 256 each.
#include "gpu/kernels/cluster.cuh"
#include "gpu/kernels/index.cuh"
#include "gpu/kernels/residues/residue_arguments.h"

namespace assay::gpu {

struct Stages {
  uint32_t index = 0, parity = 0;
  __device__ __forceinline__ void Next() {
    if (++index == kResidueStages) {
      index = 0;
      parity ^= 1;
    }
  }
};

// Tiles of clusters, one matrix after the other; in a matrix, groups of 8 rows of them go through the columns
// together, so that what runs at one time shares its operands in the L2 cache.
struct TileOrder {
  int rows, columns, of_matrix, all;
  __device__ __forceinline__ TileOrder(const ResidueTiles& tiles, int matrices)
      : rows(tiles.row_tiles / kResidueCluster),
        columns(tiles.column_tiles),
        of_matrix(rows * columns),
        all(of_matrix * matrices) {}
  // The row is that of the cluster.
  __device__ __forceinline__ void Place(int tile, int* matrix, int* row, int* column) const {
    constexpr int kGroup = 8;
    *matrix = tile / of_matrix;
    const int in_matrix = tile - *matrix * of_matrix;
    const int group = in_matrix / (kGroup * columns), in_group = in_matrix - group * kGroup * columns;
    const int height = rows - kGroup * group < kGroup ? rows - kGroup * group : kGroup;
    *column = in_group / height;
    *row = group * kGroup + in_group - *column * height;
  }
};

struct Pipeline {
  uint32_t base, rank;
  __device__ __forceinline__ uint32_t stage(uint32_t i) const { return base + i * kResidueStageBytes; }
  __device__ __forceinline__ uint32_t full(uint32_t i) const { return stage(kResidueStages) + 8 * i; }
  __device__ __forceinline__ uint32_t empty(uint32_t i) const { return full(kResidueStages + i); }

  __device__ __forceinline__ Pipeline()
      : base((SharedAddress(SharedMemory()) + 1023) & ~uint32_t{1023}), rank(ClusterRank()) {}
  __device__ __forceinline__ void Init() const {
    for (uint32_t i = 0; i < kResidueStages; ++i) {
      BarrierInit(full(i), 1);
      // All warpgroups of both blocks, which get a part of this block's copies.
      BarrierInit(empty(i), kResidueConsumers * kResidueCluster);
    }
    BarrierInitFence();
  }
};

// The matrices of both sides that a tile of a matrix of the result multiplies, one pair after the other. Of
// residues each matrix has its own two; then come those of signs, planes 0 and 1, 1 and 0, and 2 and 2.
struct ResidueMatrices {
  int residues, batch;
  __device__ __forceinline__ bool is_residues(int matrix) const { return matrix < residues; }
  __device__ __forceinline__ int count(int matrix) const {
    return matrix >= residues && matrix < residues + batch ? 2 : 1;
  }
  __device__ __forceinline__ int left(int matrix, int pass) const {
    return matrix < residues + batch ? matrix + pass * batch : matrix + batch;
  }
  __device__ __forceinline__ int right(int matrix, int pass) const {
    return is_residues(matrix) ? matrix : left(matrix, 1 - pass);
  }
};
struct PassMatrices {
  const BytePasses& passes;
  int batch;
  __device__ __forceinline__ int count(int /*matrix*/) const { return passes.count; }
  __device__ __forceinline__ int left(int matrix, int pass) const {
    return passes.list[pass].lhs * batch + matrix;
  }
  __device__ __forceinline__ int right(int matrix, int pass) const {
    return passes.list[pass].rhs * batch + matrix;
  }
};

// Each block copies its own rows of lhs, and its half of the columns of rhs to both.
template <typename Matrices>
__device__ __forceinline__ void Produce(const Pipeline& line, const ResidueTiles& tiles,
                                        const TileOrder& order, uint64_t lhs, uint64_t rhs,
                                        const Matrices& matrices) {
  constexpr uint32_t kLeft = kResidueRows * kResidueDepth,
                     kHalf = kResidueColumns / kResidueCluster * kResidueDepth;
  Stages at;
  for (int tile = blockIdx.x / kResidueCluster; tile < order.all; tile += gridDim.x / kResidueCluster) {
    int matrix, row, column;
    order.Place(tile, &matrix, &row, &column);
    row = row * kResidueCluster + static_cast<int>(line.rank);
    const int passes = matrices.count(matrix);
    for (int pass = 0; pass < passes; ++pass) {
      const int64_t left = matrices.left(matrix, pass), right = matrices.right(matrix, pass);
      const auto* x =
          reinterpret_cast<const uint8_t*>(lhs) + (left * tiles.row_tiles + row) * tiles.depth_steps * kLeft;
      const auto* y = reinterpret_cast<const uint8_t*>(rhs) +
                      (right * tiles.column_tiles + column) * tiles.depth_steps * (kHalf * kResidueCluster) +
                      line.rank * kHalf;
      for (int k = 0; k < tiles.depth_steps; ++k) {
        BarrierWait(line.empty(at.index), at.parity ^ 1);
        BarrierExpect(line.full(at.index), kResidueStageBytes);
        const uint32_t to = line.stage(at.index);
        CopyBlock(to, x, kLeft, line.full(at.index));
        CopyBlockToAll(to + kLeft + line.rank * kHalf, y, kHalf, line.full(at.index),
                       (1 << kResidueCluster) - 1);
        x += kLeft;
        y += kHalf * kResidueCluster;
        at.Next();
      }
    }
  }
  // No block ends while the other one may still arrive at its barriers.
  for (uint32_t i = 0; i < kResidueStages; ++i) {
    BarrierWait(line.empty(at.index), at.parity ^ 1);
    at.Next();
  }
}

// The products of one stage; step 0 begins the sums.
template <bool kASigned, bool kBSigned>
__device__ __forceinline__ void MultiplyStage(uint64_t left, uint64_t right, int step, int32_t (&sums)[128]) {
#pragma unroll
  for (int i = 0; i < kResidueDepth / 32; ++i)
    MmaBytes<kASigned, kBSigned>(sums, left + 2 * i, right + 2 * i, (step | i) != 0);
}

// `multiply` adds the products of the stages of steps [first, end).
template <typename Multiply>
__device__ __forceinline__ void MultiplySteps(const Pipeline& line, Stages& at, int first, int end,
                                              uint32_t half, const Multiply& multiply, int32_t (&sums)[128]) {
  const uint32_t in_group = threadIdx.x % 128;
  // A stage is free: one thread for each block that copies to this one says so there.
  const auto release = [&](uint32_t stage) {
    if (in_group < kResidueCluster) BarrierArriveAt(line.empty(stage), in_group);
  };
  uint32_t before = 0;
  for (int k = first; k < end; ++k) {
    BarrierWait(line.full(at.index), at.parity);
    const uint64_t left = SharedMatrix(line.stage(at.index) + half * 64 * kResidueDepth),
                   right = SharedMatrix(line.stage(at.index) + kResidueRows * kResidueDepth);
    MmaFence();
    multiply(left, right, k, sums);
    MmaCommit();
    // The stage before has been read.
    MmaWait<1>();
    if (k != first) release(before);
    before = at.index;
    at.Next();
  }
  MmaWait<0>();
  release(before);
}

// `multiply` makes the sums of a piece of a tile, which begins at one of the steps of all its passes, and
// says where it ends; `finish` takes them, and what it leaves in the sums is the start of the next piece;
// `last` says that there is none.
template <typename Matrices, typename Multiply, typename Finish>
__device__ __forceinline__ void Consume(const ResidueTiles& tiles, const TileOrder& order, uint32_t rank,
                                        const Matrices& matrices, const Multiply& multiply,
                                        const Finish& finish) {
  const uint32_t half = threadIdx.x / 128 - 1;
  Stages at;
  int32_t sums[128];
  for (int tile = blockIdx.x / kResidueCluster; tile < order.all; tile += gridDim.x / kResidueCluster) {
    int matrix, row, column;
    order.Place(tile, &matrix, &row, &column);
    const int steps = tiles.depth_steps * matrices.count(matrix);
    for (int first = 0; first < steps;) {
      first = multiply(at, matrix, first, half, sums);
      finish(matrix, row * kResidueCluster + static_cast<int>(rank), column, static_cast<int>(half),
             first == steps, sums);
    }
  }
}

template <typename Matrices, typename Multiply, typename Finish>
__device__ __forceinline__ void MultiplyMatrices(const ResidueTiles& tiles, uint64_t lhs, uint64_t rhs,
                                                 int count, const Matrices& matrices,
                                                 const Multiply& multiply, const Finish& finish) {
  const Pipeline line;
  if (threadIdx.x == 0) line.Init();
  ClusterSync();
  const TileOrder order(tiles, count);
  if (threadIdx.x < 128) {
    FewerRegisters<72>();
    if (threadIdx.x == 0) Produce(line, tiles, order, lhs, rhs, matrices);
  } else {
    MoreRegisters<216>();
    Consume(
        tiles, order, line.rank, matrices,
        [&](Stages& at, int matrix, int first, uint32_t half, int32_t(&sums)[128]) {
          return multiply(line, at, matrix, first, half, sums);
        },
        finish);
  }
  ClusterSync();
}

// Sums modulo p, with magnitudes up to p / 2 (128 for p = 256). |sum| <= 2^30 + 2^7: with its upper half
// folded it is below 2^22, so that floats hold it, beside 1.5 * 2^23 as the integer in their low bits too.
// The quotient is off by less than 1/2 + 2^-9, hence the rest lies within +-127, or is 128 of either sign for
// p = 256.
struct Reduction {
  int modulus, fold;
  float inverse;
  __device__ __forceinline__ int operator()(int sum) const {
    constexpr float kRound = 12582912.0f;
    constexpr uint32_t kRoundBits = 0x4b400000;
    const int folded = static_cast<int>(static_cast<uint32_t>((sum >> 16) * fold) +
                                        BytePermute(static_cast<uint32_t>(sum), kRoundBits, 0x7610));
    const float quotient = FmaNearest(BitsAs<float>(folded) - kRound, inverse, kRound);
    return static_cast<int>(static_cast<uint32_t>(folded) -
                            BitsAs<uint32_t>(quotient) * static_cast<uint32_t>(modulus));
  }
};

struct alignas(16) Bytes16 {
  uint32_t words[4];
};

struct StoreResidues {
  const ResidueProductArguments& a;
  const ResidueSystem& system;
  const ResidueMatrices& matrices;
  __device__ __forceinline__ void operator()(int matrix, int row_tile, int column_tile, int half, bool last,
                                             int32_t (&sums)[128]) const {
    if (!matrices.is_residues(matrix)) {
      StoreSigns(matrix - matrices.residues, row_tile, column_tile, half, sums);
      return;
    }
    const int i = matrix % system.moduli;
    const Reduction reduce{system.modulus[i], system.fold[i], system.modulus_inverse[i]};
    if (!last) {
#pragma unroll
      for (int j = 0; j < 128; ++j) sums[j] = static_cast<int8_t>(reduce(sums[j]));
      return;
    }
    const int64_t tile =
        (static_cast<int64_t>(matrix) * a.tiles.row_tiles + row_tile) * a.tiles.column_tiles + column_tile;
    const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
    auto* const to = reinterpret_cast<Bytes16*>(a.residues) + tile * (kResidueTileBytes / 16) +
                     (half * 4 + warp) * 8 * 32 + lane;
#pragma unroll
    for (int chunk = 0; chunk < 8; ++chunk) {
      Bytes16 bytes;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        uint32_t r[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) r[e] = static_cast<uint32_t>(reduce(sums[16 * chunk + 4 * j + e]));
        bytes.words[j] =
            BytePermute(BytePermute(r[0], r[1], 0x0040), BytePermute(r[2], r[3], 0x0040), 0x5410) ^
            0x80808080;
      }
      to[chunk * 32] = bytes;
    }
  }
  __device__ __forceinline__ void StoreSigns(int matrix, int row_tile, int column_tile, int half,
                                             const int32_t (&sums)[128]) const {
    const int64_t tile =
        (static_cast<int64_t>(matrix) * a.tiles.row_tiles + row_tile) * a.tiles.column_tiles + column_tile;
    const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
    auto* const to = reinterpret_cast<Bytes16*>(a.sign_sums) + tile * (kResidueTileBytes / 4) +
                     (half * 4 + warp) * 8 * 4 * 32 + lane;
#pragma unroll
    for (int j = 0; j < 32; ++j) {
      Bytes16 four;
#pragma unroll
      for (int e = 0; e < 4; ++e) four.words[e] = static_cast<uint32_t>(sums[4 * j + e]);
      to[j * 32] = four;
    }
  }
};

CLUSTER_KERNEL(residue_product, ResidueProductArguments, kResidueThreads, kResidueCluster) {
  const ResidueControl& control = *reinterpret_cast<const ResidueControl*>(a.control);
  const int moduli = control.moduli;
  if (moduli == 0) return;
  const ResidueSystem& system = reinterpret_cast<const ResidueSystem*>(a.systems)[moduli];
  const int steps = a.tiles.depth_steps;
  const ResidueMatrices matrices{a.tiles.batch * moduli, a.tiles.batch};
  MultiplyMatrices(
      a.tiles, a.lhs, a.rhs, a.tiles.batch * (moduli + (control.special != 0 ? a.of_signs : 0)), matrices,
      [&](const Pipeline& line, Stages& at, int matrix, int first, uint32_t half, int32_t(&sums)[128]) {
        // Sums of signs stay below 2^30.
        const int end = !matrices.is_residues(matrix)   ? steps * matrices.count(matrix)
                        : steps - first < a.piece_steps ? steps
                                                        : first + a.piece_steps;
        MultiplySteps(
            line, at, first, end, half,
            [](uint64_t left, uint64_t right, int step, int32_t(&of)[128]) {
              MultiplyStage<true, true>(left, right, step, of);
            },
            sums);
        return end;
      },
      StoreResidues{a, system, matrices});
}

// kWide: of results of 64 bits, of which all but the first are added, at a place.
template <bool kWide>
struct StoreSums {
  const ByteDotArguments& a;
  const int* place = nullptr;
  const bool* is_first = nullptr;
  __device__ __forceinline__ void operator()(int batch, int row_tile, int column_tile, int half,
                                             bool /*last*/, int32_t (&sums)[128]) const {
    const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
    const int row = row_tile * kResidueRows + half * 64 + warp * 16 + lane / 4;
    const int column = column_tile * kResidueColumns + lane % 4 * 2;
    const int64_t rows = SizeOf(a.lhs.rows), columns = SizeOf(a.rhs.rows);
    const int64_t start = OffsetOf(a.lhs.batch, a.batch_strides, batch);
    int64_t row_offsets[2];
#pragma unroll
    for (int h = 0; h < 2; ++h)
      row_offsets[h] = row + 8 * h < rows ? start + OffsetOf(a.lhs.rows, a.row_strides, row + 8 * h) : 0;
#pragma unroll
    for (int j = 0; j < 32; ++j) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        if (column + 8 * j + i >= columns) continue;
        const int64_t offset = OffsetOf(a.rhs.rows, a.column_strides, column + 8 * j + i);
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          if (row + 8 * h < rows) Store(row_offsets[h] + offset, sums[4 * j + 2 * h + i]);
        }
      }
    }
  }
  __device__ __forceinline__ void Store(int64_t at, int32_t sum) const {
    if constexpr (kWide) {
      uint64_t& to = reinterpret_cast<uint64_t*>(a.result)[at];
      const auto added = static_cast<uint64_t>(static_cast<int64_t>(sum)) << *place;
      to = *is_first ? added : to + added;
    } else if (a.result_bytes == 4) {
      reinterpret_cast<int32_t*>(a.result)[at] = sum;
    } else if (a.result_bytes == 2) {
      reinterpret_cast<int16_t*>(a.result)[at] = static_cast<int16_t>(sum);
    } else {
      const auto word = static_cast<uint32_t>(sum) << a.unused_bits;
      const int32_t value = a.result_is_signed != 0 ? static_cast<int32_t>(word) >> a.unused_bits
                                                    : static_cast<int32_t>(word >> a.unused_bits);
      reinterpret_cast<int8_t*>(a.result)[at] = static_cast<int8_t>(value);
    }
  }
};

// By the signs of a pass. The choice is made in each stage: with a loop for each of the four, the assembler
// lets all products wait for each other (C7515).
struct MultiplyPass {
  const BytePass& pass;
  __device__ __forceinline__ void operator()(uint64_t left, uint64_t right, int step,
                                             int32_t (&sums)[128]) const {
    if (pass.lhs_signed != 0) {
      if (pass.rhs_signed != 0) {
        MultiplyStage<true, true>(left, right, step, sums);
      } else {
        MultiplyStage<true, false>(left, right, step, sums);
      }
    } else if (pass.rhs_signed != 0) {
      MultiplyStage<false, true>(left, right, step, sums);
    } else {
      MultiplyStage<false, false>(left, right, step, sums);
    }
  }
};

__device__ __forceinline__ void ShiftSums(int32_t (&sums)[128]) {
#pragma unroll
  for (int32_t& sum : sums) sum = static_cast<int32_t>(static_cast<uint32_t>(sum) << kByteShift);
}

// Sums wrap, so that all passes over all of k are one piece.
CLUSTER_KERNEL(byte_product, ByteProductArguments, kResidueThreads, kResidueCluster) {
  const int steps = a.tiles.depth_steps;
  const BytePasses& passes = a.dot.passes;
  MultiplyMatrices(
      a.tiles, a.lhs, a.rhs, a.tiles.batch, PassMatrices{passes, a.tiles.batch},
      [&](const Pipeline& line, Stages& at, int /*matrix*/, int /*first*/, uint32_t half,
          int32_t(&sums)[128]) {
        for (int i = 0; i < passes.count; ++i) {
          if (passes.list[i].shift != 0) ShiftSums(sums);
          MultiplySteps(line, at, i * steps, (i + 1) * steps, half, MultiplyPass{passes.list[i]}, sums);
        }
        return steps * passes.count;
      },
      StoreSums<false>{a.dot});
}

// Of results of 64 bits. A piece ends where sums are added to the result.
CLUSTER_KERNEL(byte_product_wide, ByteProductArguments, kResidueThreads, kResidueCluster) {
  const int steps = a.tiles.depth_steps;
  const BytePasses& passes = a.dot.passes;
  int place = 0;
  bool is_first = true;
  MultiplyMatrices(
      a.tiles, a.lhs, a.rhs, a.tiles.batch, PassMatrices{passes, a.tiles.batch},
      [&](const Pipeline& line, Stages& at, int /*matrix*/, int first, uint32_t half, int32_t(&sums)[128]) {
        is_first = first == 0;
        int pass = first / steps, begin = first - pass * steps, step = 0;
        for (;;) {
          const BytePass& of = passes.list[pass];
          place = of.place;
          int end = steps;
          if (place >= 0 && place < kExactPlaces && end - begin > kExactTerms / kResidueDepth)
            end = begin + kExactTerms / kResidueDepth;
          if (of.shift != 0) ShiftSums(sums);
          MultiplySteps(line, at, step, step + end - begin, half, MultiplyPass{of}, sums);
          if (place >= 0) return pass * steps + end;
          ++pass;
          step = 1;
          begin = 0;
        }
      },
      StoreSums<true>{a.dot, &place, &is_first});
}

}  // namespace assay::gpu
