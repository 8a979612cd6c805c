// Arguments of the kernels of residues.cu and residue_product.cu: dots by residues, on devices of compute
// capability 9.0. result[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, n, k], exact and rounded once.
//
// Rows are scaled by powers of two to integers; these are taken modulo some of the moduli of ResidueSystem;
// one product of bytes for each modulus gives the integers' sums modulo that; the Chinese remainder theorem
// gives the sums. What was cut off when rows became integers has a bound, and the rounding test decides. What
// it leaves open is mended by adding what was cut off, decided by a second level of more moduli, or summed
// again by dot_repair_f32 and dot_repair_f64 (dot_arguments.h).
//
// A dot runs, in this order: dot_scales_* for either operand, residue_choose, then a level: residue_slice_*
// for either operand, residue_finish, residue_product, residue_sum_*; residue_mend, of f32 alone;
// residue_again, which may wake the second level, of the same kernels; dot_repair_*. How many moduli a level
// has is in memory; none: its kernels do nothing.
#ifndef ASSAY_GPU_KERNELS_RESIDUE_ARGUMENTS_H_
#define ASSAY_GPU_KERNELS_RESIDUE_ARGUMENTS_H_

#include <cstdint>

#include "gpu/kernels/dot_arguments.h"
#include "gpu/kernels/dot_i8_arguments.h"
#include "gpu/kernels/strides.h"

namespace assay::gpu {

constexpr int kMostModuli = 23;
constexpr int kPartBits = 40;  // of a weight's part
constexpr int kMostParts = 5;
// Parts of the weights of so many moduli: the integers of one row are below 2^44, 2^64, 2^80 and 2^90 then.
constexpr int PartsOfModuli(int moduli) { return moduli <= 11 ? 2 : moduli <= 16 ? 3 : moduli <= 20 ? 4 : 5; }

// What belongs to a number of moduli: p_i, their product P, the weights M_i = P / p_i and q_i = M_i^-1 mod
// p_i.
struct ResidueSystem {
  int32_t moduli, parts;
  double most;                 // P / 2 (1 - 2^-10), rounded down
  double limit;                // its square root, rounded down
  double inverse;              // 2^(40 (parts - 1)) / P
  double product[kMostParts];  // P, of 2^(40 part), the highest part first
  double start[kMostParts];    // -128 times the sum of the weights, likewise
  double weight[kMostModuli][kMostParts];
  // Of lhs with f = q_i, and of rhs with f = 1: f / p_i where there are two parts, else 1 / p_i; and f, f
  // 2^30 and f 2^60 modulo p_i, with magnitudes up to p_i / 2.
  double ratio[2][kMostModuli];
  int32_t low[2][kMostModuli], high[2][kMostModuli], higher[2][kMostModuli];
  int32_t modulus[kMostModuli];
  int32_t fold[kMostModuli];  // 2^16 modulo p_i, likewise
  float modulus_inverse[kMostModuli];
};

// What the device decides: how many moduli, 0 for none, and whether rows are multiples of their units, so
// that nothing is cut off. The most units that a row's norm has, of either side.
struct ResidueControl {
  int32_t moduli;
  int32_t exact;
  double units[2];
  int32_t special;  // whether a norm is infinite: sums of signs are wanted
  int32_t unused;
};

// Of slices that are kept with their operand: what they were made for, and whether residue_slice_* is to make
// them again. How often they were made.
struct KeptControl {
  int32_t moduli, exact;
  int32_t wanted, count;
  int32_t special;  // whether planes of signs were made
};

// The product of bytes: a block has a tile of 128 x 256, a cluster two of them, one below the other. Operands
// lie in memory as shared memory wants them, so that a stage of a tile is one piece: [matrix][row / R][k /
// 128][row % R][128 bytes], R = 128 for lhs and 256 for rhs, the 16-byte pieces of 128 bytes in the order of
// BytePlace.
constexpr int kResidueRows = 128, kResidueColumns = 256, kResidueDepth = 128;
constexpr int kResidueStages = 4, kResidueCluster = 2, kResidueConsumers = 2;
constexpr int kResidueThreads = 128 * (kResidueConsumers + 1);
constexpr int kResidueStageBytes = (kResidueRows + kResidueColumns) * kResidueDepth;
constexpr uint32_t kResidueSharedBytes = kResidueStages * kResidueStageBytes + 1024 + 256;
constexpr int kResidueTileBytes = kResidueRows * kResidueColumns;
// Rows of lhs come in whole clusters.
constexpr int64_t kPaddedRows = kResidueRows * kResidueCluster, kPaddedColumns = kResidueColumns;

constexpr int64_t BytePlace(int64_t row, int64_t k, int64_t block_rows, int64_t depth_steps) {
  return ((row / block_rows * depth_steps + k / kResidueDepth) * block_rows + row % block_rows) *
             kResidueDepth +
         ((k % kResidueDepth / 16) ^ (row % 8)) * 16 + k % 16;
}
// Steps of k whose products of bytes stay within 2^30: 65,536 terms.
constexpr int kResiduePieceSteps = 65536 / kResidueDepth;

// Tiles and steps of the padded operands.
struct ResidueTiles {
  int32_t batch, row_tiles, column_tiles, depth_steps;
};
constexpr int64_t PaddedRows(const ResidueTiles& t, int side) {
  return side == 0 ? int64_t{t.row_tiles} * kResidueRows : int64_t{t.column_tiles} * kResidueColumns;
}

// Entries beside an infinity or a NaN have no sum. With s the sign of an element (of a NaN 0) and t that of
// one that is infinite (elsewhere 0), the sum over k of t_lhs s_rhs + s_lhs t_rhs counts the infinite
// products with their signs, each as often as it has infinite factors. Its magnitude is the number of all
// elements of the two rows that are not finite exactly where all of them make infinities of that one sign;
// elsewhere a product is a NaN or the signs differ, and the entry is a NaN. Where lhs has padding, those
// beside padding are none of these: a second sum counts them.
//
// So there are these planes of bytes beside those of residues: t; s; and, where lhs has padding, whether an
// element of lhs is padding and whether one of rhs is not finite.
constexpr int kSignPlanes = 2, kMostSignPlanes = 3;
constexpr int SignSumsOf(int lhs_has_padding) { return lhs_has_padding != 0 ? 2 : 1; }
constexpr int SignPlanesOf(int lhs_has_padding) {
  return lhs_has_padding != 0 ? kMostSignPlanes : kSignPlanes;
}

// residue_product: any even number of blocks of kResidueThreads threads. Matrix b N + i is batch b modulo
// p_i. A tile's bytes are residues in [-p / 2, p / 2] plus 128, [half][warp][chunk][lane][16]: byte 4 j + 2 h
// + i of a lane's chunk c is row 64 half + 16 warp + lane / 4 + 8 h, column 32 c + 8 j + lane % 4 * 2 + i.
// After these matrices come those of signs, whose sums are 32-bit integers, [half][warp][chunk][j][lane][4]:
// sum s batch + b is that of batch b.
struct ResidueProductArguments {
  uint64_t lhs, rhs, residues;
  uint64_t systems;    // ResidueSystem [kMostModuli + 1]
  uint64_t control;    // ResidueControl
  uint64_t sign_sums;  // int32_t
  ResidueTiles tiles;
  int32_t piece_steps;  // after so many steps sums become residues: at most kResiduePieceSteps
  int32_t of_signs;     // sums of signs, where some are wanted: SignSumsOf, or none
};
// byte_product, and byte_product_wide of results of 64 bits: likewise, of the bytes of integers as they are,
// by the passes of `dot`; the result's low bytes. Matrix i batch + b is byte i of the elements of batch b.
struct ByteProductArguments {
  uint64_t lhs, rhs;
  ByteDotArguments dot;
  ResidueTiles tiles;
};

// Of a row, in units of its integers: bounds of the Euclidean norm and the greatest magnitude, and of the
// Euclidean norm and the sum of magnitudes of what was cut off; element = integer * 2^exponent. Infinite: its
// entries are open, but for those that signs decide.
struct ResidueRow {
  float norm, largest, lost, lost_sum;
  int32_t exponent;
  uint32_t cuts;     // that are listed, the first kMostCuts of them; the top bit: others are not
  uint32_t special;  // elements that are not finite
  uint32_t unused;
  double lost_squares, lost_magnitudes;
};
static_assert(sizeof(ResidueRow) % 8 == 0);
struct ResidueCut {
  int32_t index;
  float lost;
};
constexpr uint32_t kMostCuts = 64;

// residue_slice_f32, residue_slice_f32_wide and residue_slice_f64, which take integers below 2^44, 2^64 and
// 2^90: SliceBlocks blocks. byte_slice_1, byte_slice_2, byte_slice_4 and byte_slice_8: likewise, of operands
// of integers of so many bytes.
struct ResidueSliceArguments {
  DotOperand operand;
  uint64_t to;    // int8_t [batch * moduli + sign planes * batch][padded rows * depth]
  uint64_t rows;  // ResidueRow [batch * padded rows], zeros before
  uint64_t cuts;  // ResidueCut [batch * padded rows][kMostCuts]; null: not wanted
  uint64_t systems, control;
  uint64_t kept;  // KeptControl; null: they are made
  ResidueTiles tiles;
  double half_root;     // sqrt(k) / 2 + 1, rounded up
  int32_t side;         // 0: lhs, 1: rhs
  int32_t sign_planes;  // where some are wanted: SignPlanesOf, or none
};
struct ByteSliceArguments {
  ByteOperand operand;
  uint64_t to;
  ResidueTiles tiles;
  int32_t side;
  int32_t count;  // of the bytes of an element that are wanted, the lowest first
};
constexpr int kSliceThreads = 256, kSliceRows = 32;
constexpr int kSlicePitch = kResidueDepth + 4;
constexpr int ByteSlicePitch(int element_bytes) { return kResidueDepth + 16 / element_bytes; }
constexpr uint32_t SliceSharedBytes(int element_bytes, int pitch) {
  return static_cast<uint32_t>(kSliceRows * (pitch * element_bytes + 8));
}
constexpr int64_t SliceBlocks(const ResidueTiles& t, int side) {
  return int64_t{t.batch} * (PaddedRows(t, side) / kSliceRows) * t.depth_steps;
}

// residue_choose: one block. residue_again: one block of 32 threads. residue_finish: a thread for each padded
// row of both sides. residue_sum_2, _3, _4 and _5, by the number of parts: ResidueSumBlocks blocks.
// residue_mend: any number.
struct ResidueArguments {
  DotArguments dot;
  uint64_t rows[2];  // as above
  uint64_t cuts[2];
  uint64_t residues, sign_sums;  // as above
  uint64_t systems, control;
  uint64_t kept[2];        // KeptControl of rows, cuts and slices that are kept; null: they are not
  uint64_t other_control;  // residue_again: of the second level
  // What mending left, as dot.open and dot.open_count; without mending: those. What the second level leaves
  // open replaces it.
  uint64_t still_open, still_open_count;
  ResidueTiles tiles;
  // Numbers of moduli. residue_choose: of the first level, which has `usual` where no number from `least` to
  // `most` is exact. residue_again: of the second one, which has `most` then.
  int32_t least, usual, most;
  // More open entries than these are neither mended nor repaired, but wake the second level.
  uint32_t most_mended, most_repaired;
};
constexpr int kResidueRowThreads = 256;
constexpr uint32_t kChooseSharedBytes = 2 * kResidueRowThreads * 8 + 16;
constexpr int kResidueSumThreads = 256, kEntriesOfThread = 8;
constexpr int64_t ResidueSumBlocks(const ResidueTiles& t) {
  return int64_t{t.batch} * t.row_tiles * t.column_tiles *
         (kResidueTileBytes / kEntriesOfThread / kResidueSumThreads);
}
constexpr uint32_t kResidueSumSharedBytes = 8;
constexpr int kMendThreads = 256, kMendLanes = 16;
// The second level starts where more than a part of the entries is open. Mending one takes about what 70
// moduli take of an entry, and the repair what 30,000 take: of the 2^26 entries of a dot of 8192^3, mending
// took 0.41 ms for 633,000, and the repair 18.9 s for all of them, one modulus 0.65 ms.
constexpr int64_t kMendedPart = 16, kRepairedPart = 2048, kFewRepaired = 16;

}  // namespace assay::gpu

#endif  // ASSAY_GPU_KERNELS_RESIDUE_ARGUMENTS_H_
