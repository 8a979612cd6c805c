#include "gpu/residue_dot.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "fmt/format.h"
#include "gpu/kernel_function.h"
#include "gpu/residue_systems.h"

namespace assay::gpu {
namespace {

// The numbers of moduli that the kernels of a level take, which are those of one number of parts.
struct ModuliRange {
  int least, most;
};
constexpr ModuliRange kF32Moduli{kLeastModuli, 11}, kF32AgainModuli{12, 16}, kF64Moduli{17, 20},
    kF64AgainModuli{21, kMostModuli};
constexpr bool HasOneNumberOfParts(const ModuliRange& range) {
  return PartsOfModuli(range.least) == PartsOfModuli(range.most);
}
static_assert(HasOneNumberOfParts(kF32Moduli) && HasOneNumberOfParts(kF32AgainModuli) &&
              HasOneNumberOfParts(kF64Moduli) && HasOneNumberOfParts(kF64AgainModuli));
// The planes of signs, which belong to the first level, lie where the second one has its slices.
static_assert(kF32Moduli.most + kMostSignPlanes <= kF32AgainModuli.most &&
              kF64Moduli.most + kMostSignPlanes <= kF64AgainModuli.most);

int64_t Up(int64_t x, int64_t to) { return std::max<int64_t>(1, (x + to - 1) / to) * to; }

// Whether a dot is worth it.
absl::Status CheckWork(const Device& device, int64_t batch, int64_t m, int64_t n, int64_t k,
                       int64_t threshold, int64_t least) {
  if (const Capability found = device.properties().capability; found != Capability{9, 0})
    return NotSupported(
        {}, fmt::format("residues: compute capability {}.{}, wanted 9.0", found.major, found.minor));
  const double work =
      static_cast<double>(batch) * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const int64_t wanted = least >= 0 ? least : threshold;
  if (work < static_cast<double>(wanted) || work == 0)
    return NotSupported({}, fmt::format("residues: {} products, wanted at least {}", work, wanted));
  const double padded = static_cast<double>(batch) * static_cast<double>(Up(m, kPaddedRows)) *
                        static_cast<double>(Up(n, kPaddedColumns)) *
                        static_cast<double>(Up(k, kResidueDepth));
  // Tiles that are mostly padding do work for nothing.
  if (least < 0 && padded > 2 * work)
    return NotSupported({}, fmt::format("residues: {} products in tiles for {}", work, padded));
  return absl::OkStatus();
}

ResidueTiles TilesOf(int64_t batch, int64_t m, int64_t n, int64_t k) {
  return ResidueTiles{static_cast<int32_t>(batch), static_cast<int32_t>(Up(m, kPaddedRows) / kResidueRows),
                      static_cast<int32_t>(Up(n, kPaddedColumns) / kResidueColumns),
                      static_cast<int32_t>(Up(k, kResidueDepth) / kResidueDepth)};
}

// Whether every launch has few enough blocks, and `bytes` are at most half of the device's memory.
bool Fits(const Device& device, const ResidueTiles& tiles, double bytes) {
  constexpr int64_t kBlocksOfTile = kResidueTileBytes / kEntriesOfThread / kResidueSumThreads;
  const double count = static_cast<double>(tiles.batch) * tiles.row_tiles * tiles.column_tiles *
                       std::max(kMostModuli, tiles.depth_steps);
  return count * static_cast<double>(kBlocksOfTile) <= std::numeric_limits<int32_t>::max() &&
         bytes <= static_cast<double>(device.properties().memory) / 2;
}

// The bytes of elements of lhs, rhs and the result.
struct ElementBytes {
  int64_t lhs, rhs, result;
};

// Some dimension, and how much of it the first half has.
struct Cut {
  int d;
  int64_t first;
};
std::optional<Cut> CutOf(const Strides& dimensions, int64_t tile) {
  if (SizeOf(dimensions) <= tile) return std::nullopt;
  int d = 0;
  while (dimensions.sizes[d] == 1) ++d;
  const int64_t size = dimensions.sizes[d], half = (size + 1) / 2;
  // Whole tiles where they are those of this dimension.
  if (d + 1 == dimensions.rank && Up(half, tile) < size) return Cut{d, Up(half, tile)};
  return Cut{d, half};
}

bool HaveEqualSizes(const Strides& a, const Strides& b) {
  return a.rank == b.rank && std::equal(a.sizes, a.sizes + a.rank, b.sizes);
}

// Two halves of a dot by its batch, or by the side that has more rows; none where it is one tile.
template <typename Arguments>
std::optional<std::array<Arguments, 2>> HalvesOf(const Arguments& dot, const ElementBytes& bytes) {
  std::array halves{dot, dot};
  const auto halve = [&](const Cut& cut, auto of, int64_t element_bytes) {
    Strides &first = of(halves[0]), &second = of(halves[1]);
    first.sizes[cut.d] = cut.first;
    second.sizes[cut.d] -= cut.first;
    return static_cast<uint64_t>(cut.first * second.strides[cut.d] * element_bytes);
  };
  const auto result = [&](const Cut& cut, const int64_t(&strides)[kMaxDimensions]) {
    halves[1].result += static_cast<uint64_t>(cut.first * strides[cut.d] * bytes.result);
  };
  if (const std::optional<Cut> cut = CutOf(dot.lhs.batch, 1);
      cut && HaveEqualSizes(dot.lhs.batch, dot.rhs.batch)) {
    halves[1].lhs.address += halve(
        *cut, [](Arguments& a) -> Strides& { return a.lhs.batch; }, bytes.lhs);
    halves[1].rhs.address += halve(
        *cut, [](Arguments& a) -> Strides& { return a.rhs.batch; }, bytes.rhs);
    result(*cut, dot.batch_strides);
    return halves;
  }
  const std::optional<Cut> rows = CutOf(dot.lhs.rows, kPaddedRows),
                           columns = CutOf(dot.rhs.rows, kPaddedColumns);
  if (rows && (!columns || SizeOf(dot.lhs.rows) >= SizeOf(dot.rhs.rows))) {
    halves[1].lhs.address += halve(
        *rows, [](Arguments& a) -> Strides& { return a.lhs.rows; }, bytes.lhs);
    result(*rows, dot.row_strides);
    return halves;
  }
  if (!columns) return std::nullopt;
  halves[1].rhs.address += halve(
      *columns, [](Arguments& a) -> Strides& { return a.rhs.rows; }, bytes.rhs);
  result(*columns, dot.column_strides);
  return halves;
}

// Adds the panels of a dot, in their order. `fit` gives the kernels of one, where it fits.
template <typename Arguments, typename Panels, typename Fit>
absl::Status AddPanels(const Arguments& dot, const ElementBytes& bytes, const Fit& fit, Panels& panels) {
  if (auto kernels = fit(dot); kernels.has_value()) {
    panels.push_back({dot, *std::move(kernels)});
    return absl::OkStatus();
  }
  const std::optional<std::array<Arguments, 2>> halves = HalvesOf(dot, bytes);
  if (!halves)
    return NotSupported({}, "residues: the slices of a tile take more than half of the device's memory");
  for (const Arguments& half : *halves) ASSAY_RETURN_IF_ERROR(AddPanels(half, bytes, fit, panels));
  return absl::OkStatus();
}

// What the slices of an operand depend on.
template <typename Operand>
KeptOperands::Key KeyOf(const Operand& operand, const ResidueTiles& tiles, int side) {
  KeptOperands::Key key{side, tiles.batch, PaddedRows(tiles, side), tiles.depth_steps,
                        static_cast<int64_t>(operand.address)};
  for (const Strides* strides : {&operand.batch, &operand.rows, &operand.depth}) {
    key.push_back(strides->rank);
    key.insert(key.end(), strides->sizes, strides->sizes + strides->rank);
    key.insert(key.end(), strides->strides, strides->strides + strides->rank);
  }
  return key;
}

// As many blocks as can run at one time, in whole clusters.
LaunchShape ProductShape(const Device& device, const ResidueTiles& tiles, int64_t matrices) {
  const int64_t blocks = matrices * tiles.row_tiles * tiles.column_tiles,
                most = std::max(1, device.properties().multiprocessors / kResidueCluster) * kResidueCluster;
  return {.blocks = {static_cast<uint32_t>(std::min(blocks, most)), 1, 1},
          .threads = {kResidueThreads, 1, 1},
          .shared_bytes = kResidueSharedBytes};
}

int64_t SliceBytesOf(const ResidueTiles& tiles, int side) {
  return tiles.batch * PaddedRows(tiles, side) * tiles.depth_steps * kResidueDepth;
}
int64_t ResidueBytesOf(const ResidueTiles& tiles) {
  return int64_t{tiles.batch} * tiles.row_tiles * tiles.column_tiles * kResidueTileBytes;
}

}  // namespace

absl::StatusOr<ResidueDot::Panels> ResidueDot::Make(Device& device, const DotArguments& dot, bool is_double,
                                                    int operand_precision, int64_t least) {
  if (!is_double && dot.result_type == Float::kF64)
    return NotSupported({}, "residues: products of f32 to f64");
  ASSAY_RETURN_IF_ERROR(CheckWork(device, SizeOf(dot.lhs.batch), SizeOf(dot.lhs.rows), SizeOf(dot.rhs.rows),
                                  SizeOf(dot.lhs.depth),
                                  is_double ? kResidueThresholds.f64 : kResidueThresholds.f32, least));
  ResidueDot made;
  made.is_double_ = is_double;
  ASSAY_RETURN_IF_ERROR(made.Find(device));
  const auto fit = [&](const DotArguments& part) -> std::optional<ResidueDot> {
    made.Fit(part, operand_precision);
    if (!Fits(device, made.tiles_, static_cast<double>(made.Place().bytes))) return std::nullopt;
    return made;
  };
  const std::vector<ResidueSystem>& systems = ResidueSystems();
  ASSAY_ASSIGN_OR_RETURN(made.systems_,
                         device.Allocate(static_cast<int64_t>(systems.size() * sizeof(ResidueSystem))));
  ASSAY_RETURN_IF_ERROR(device.CopyIn(made.systems_->address(), std::as_bytes(std::span(systems))));
  const int64_t width = is_double ? 8 : 4;
  Panels panels;
  ASSAY_RETURN_IF_ERROR(AddPanels(dot, {width, width, ShapeOf(dot.result_type).bits / 8}, fit, panels));
  return panels;
}

void ResidueDot::Fit(const DotArguments& dot, int operand_precision) {
  const int64_t batch = SizeOf(dot.lhs.batch), m = SizeOf(dot.lhs.rows), n = SizeOf(dot.rhs.rows),
                k = SizeOf(dot.lhs.depth);
  tiles_ = TilesOf(batch, m, n, k);
  results_ = batch * m * n;
  sign_sums_ = SignSumsOf(dot.lhs_has_padding);
  sign_planes_ = SignPlanesOf(dot.lhs_has_padding);
  half_root_ = (std::sqrt(static_cast<double>(k)) / 2 + 1) * (1 + 0x1p-40);
  const int precision = ShapeOf(dot.result_type).precision;
  const ModuliRange range = is_double_ ? kF64Moduli : kF32Moduli;
  const int guard = GuardBits(is_double_, operand_precision, precision);
  least_ = range.least;
  usual_ = std::max(range.least, UsualModuli(precision, k, guard, range.most));
  most_ = std::min(range.most, usual_ + 1);
}

absl::Status ResidueDot::Find(Device& device) {
  const auto find = [&](const DeviceFunction*& to, std::string_view module, const std::string& name) {
    const absl::StatusOr<const DeviceFunction*> found = KernelFunction(device, module, name);
    if (found.ok()) to = *found;
    return found.status();
  };
  ASSAY_RETURN_IF_ERROR(find(functions_.product, "residue_product", "residue_product"));
  ASSAY_RETURN_IF_ERROR(find(functions_.choose, "residues", "residue_choose"));
  ASSAY_RETURN_IF_ERROR(find(functions_.finish, "residues", "residue_finish"));
  ASSAY_RETURN_IF_ERROR(
      find(functions_.slice, "residues", is_double_ ? "residue_slice_f64" : "residue_slice_f32"));
  ASSAY_RETURN_IF_ERROR(find(functions_.sum, "residues", is_double_ ? "residue_sum_4" : "residue_sum_2"));
  ASSAY_RETURN_IF_ERROR(find(functions_.again, "residues", "residue_again"));
  ASSAY_RETURN_IF_ERROR(
      find(functions_.slice_again, "residues", is_double_ ? "residue_slice_f64" : "residue_slice_f32_wide"));
  ASSAY_RETURN_IF_ERROR(
      find(functions_.sum_again, "residues", is_double_ ? "residue_sum_5" : "residue_sum_3"));
  return is_double_ ? absl::OkStatus() : find(functions_.mend, "residues", "residue_mend");
}

ResidueDot::Layout ResidueDot::Place() const {
  Layout at{};
  uint64_t end = 0;
  const auto place = [&](int64_t bytes) {
    const uint64_t begin = end;
    end += static_cast<uint64_t>((bytes + 255) / 256 * 256);
    return begin;
  };
  const int moduli = is_double_ ? kF64AgainModuli.most : kF32AgainModuli.most;
  at.control = place(2 * sizeof(ResidueControl));
  at.rows_begin = end;
  at.counts = place(8);
  for (int level = 0; level < 2; ++level) {
    for (int side = 0; side < 2; ++side)
      at.rows[level][side] =
          place(tiles_.batch * PaddedRows(tiles_, side) * static_cast<int64_t>(sizeof(ResidueRow)));
  }
  at.rows_end = end;
  for (int side = 0; side < 2; ++side) {
    const int64_t rows = tiles_.batch * PaddedRows(tiles_, side);
    if (!is_double_) at.cuts[side] = place(rows * kMostCuts * static_cast<int64_t>(sizeof(ResidueCut)));
    at.slices[side] = place(moduli * SliceBytesOf(tiles_, side));
  }
  at.residues = place(moduli * ResidueBytesOf(tiles_));
  at.sign_sums = place(sign_sums_ * ResidueBytesOf(tiles_) * 4);
  if (!is_double_) at.still_open = place(4 * results_);
  at.bytes = end;
  return at;
}

ResidueDot::KeptLayout ResidueDot::PlaceKept(int side) const {
  KeptLayout at{};
  uint64_t end = kKeptScales;
  const auto place = [&](int64_t bytes) {
    const uint64_t begin = end;
    end += static_cast<uint64_t>((bytes + 255) / 256 * 256);
    return begin;
  };
  const int64_t rows = tiles_.batch * PaddedRows(tiles_, side);
  place(rows * static_cast<int64_t>(sizeof(RowScale)));
  at.rows = place(rows * static_cast<int64_t>(sizeof(ResidueRow)));
  if (!is_double_) at.cuts = place(rows * kMostCuts * static_cast<int64_t>(sizeof(ResidueCut)));
  at.slices = place((most_ + sign_planes_) * SliceBytesOf(tiles_, side));
  at.bytes = end;
  return at;
}

KeptOperands::Key ResidueDot::KeptKey(const DotArguments& dot, int side, ElementType type) const {
  KeptOperands::Key key = KeyOf(side == 0 ? dot.lhs : dot.rhs, tiles_, side);
  key.insert(key.end(), {static_cast<int64_t>(type), is_double_ ? 1 : 0, most_, sign_planes_});
  return key;
}

absl::Status ResidueDot::ClearKept(Device& device, const KeptOperand& kept) {
  return device.Zero(kept.memory->address(), sizeof(KeptControl));
}

absl::Status ResidueDot::EnqueueLevel(Device& device, const ResidueArguments& a, const uint64_t (&slices)[2],
                                      const DeviceFunction& slice, const DeviceFunction& sum) const {
  // Sums of signs are those of the first level.
  const bool is_first = a.control != a.other_control;
  for (int side = 0; side < 2; ++side) {
    const ResidueSliceArguments arguments{.operand = side == 0 ? a.dot.lhs : a.dot.rhs,
                                          .to = slices[side],
                                          .rows = a.rows[side],
                                          .cuts = a.cuts[side],
                                          .systems = a.systems,
                                          .control = a.control,
                                          .kept = a.kept[side],
                                          .tiles = tiles_,
                                          .half_root = half_root_,
                                          .side = side,
                                          .sign_planes = is_first ? SignPlanesOf(a.dot.lhs_has_padding) : 0};
    const LaunchShape shape{.blocks = {static_cast<uint32_t>(SliceBlocks(tiles_, side)), 1, 1},
                            .threads = {kSliceThreads, 1, 1},
                            .shared_bytes = SliceSharedBytes(is_double_ ? 8 : 4, kSlicePitch)};
    ASSAY_RETURN_IF_ERROR(device.Launch(slice, shape, arguments));
  }
  const int64_t rows = tiles_.batch * (PaddedRows(tiles_, 0) + PaddedRows(tiles_, 1));
  const LaunchShape finish{
      .blocks = {static_cast<uint32_t>((rows + kResidueRowThreads - 1) / kResidueRowThreads), 1, 1},
      .threads = {kResidueRowThreads, 1, 1}};
  ASSAY_RETURN_IF_ERROR(device.Launch(*functions_.finish, finish, a));
  const ResidueProductArguments product{.lhs = slices[0],
                                        .rhs = slices[1],
                                        .residues = a.residues,
                                        .systems = a.systems,
                                        .control = a.control,
                                        .sign_sums = a.sign_sums,
                                        .tiles = tiles_,
                                        .piece_steps = kResiduePieceSteps,
                                        .of_signs = is_first ? SignSumsOf(a.dot.lhs_has_padding) : 0};
  ASSAY_RETURN_IF_ERROR(device.Launch(
      *functions_.product, ProductShape(device, tiles_, int64_t{tiles_.batch} * kMostModuli), product));
  const LaunchShape entries{.blocks = {static_cast<uint32_t>(ResidueSumBlocks(tiles_)), 1, 1},
                            .threads = {kResidueSumThreads, 1, 1},
                            .shared_bytes = kResidueSumSharedBytes};
  return device.Launch(sum, entries, a);
}

absl::Status ResidueDot::Enqueue(Device& device, const DotArguments& dot,
                                 const std::array<KeptOperand*, 2>& kept,
                                 std::shared_ptr<DeviceMemory>* memory, uint64_t* open,
                                 uint64_t* open_count) const {
  const Layout at = Place();
  ASSAY_ASSIGN_OR_RETURN(*memory, device.Allocate(static_cast<int64_t>(at.bytes)));
  const uint64_t begin = (*memory)->address();
  ASSAY_RETURN_IF_ERROR(
      device.Zero(begin + at.rows_begin, static_cast<int64_t>(at.rows_end - at.rows_begin)));
  ResidueArguments first{.dot = dot,
                         .residues = begin + at.residues,
                         .sign_sums = begin + at.sign_sums,
                         .systems = systems_->address(),
                         .control = begin + at.control,
                         .other_control = begin + at.control + sizeof(ResidueControl),
                         .still_open = begin + at.still_open,
                         .still_open_count = begin + at.counts,
                         .tiles = tiles_,
                         .least = least_,
                         .usual = usual_,
                         .most = most_,
                         .most_mended = static_cast<uint32_t>(is_double_ ? results_ : results_ / kMendedPart),
                         .most_repaired = static_cast<uint32_t>(kFewRepaired + results_ / kRepairedPart)};
  if (is_double_) {
    // Nothing is mended.
    first.still_open = dot.open;
    first.still_open_count = dot.open_count;
  }
  ResidueArguments second = first;
  second.control = first.other_control;
  second.dot.open = first.still_open;
  second.dot.open_count = first.still_open_count;
  uint64_t slices[2], first_slices[2];
  for (int side = 0; side < 2; ++side) {
    first_slices[side] = slices[side] = begin + at.slices[side];
    first.rows[side] = begin + at.rows[0][side];
    second.rows[side] = begin + at.rows[1][side];
    first.cuts[side] = is_double_ ? 0 : begin + at.cuts[side];
    const KeptOperand* const of_side = kept[static_cast<size_t>(side)];
    if (of_side == nullptr) continue;
    const KeptLayout in_kept = PlaceKept(side);
    const uint64_t kept_begin = of_side->memory->address();
    first.kept[side] = kept_begin;
    first.rows[side] = kept_begin + in_kept.rows;
    if (!is_double_) first.cuts[side] = kept_begin + in_kept.cuts;
    first_slices[side] = kept_begin + in_kept.slices;
  }
  const LaunchShape one{.threads = {kResidueRowThreads, 1, 1}, .shared_bytes = kChooseSharedBytes};
  ASSAY_RETURN_IF_ERROR(device.Launch(*functions_.choose, one, first));
  ASSAY_RETURN_IF_ERROR(EnqueueLevel(device, first, first_slices, *functions_.slice, *functions_.sum));
  if (!is_double_) {
    const LaunchShape mend{.blocks = {BlocksFor(device, results_ * kMendLanes, kMendThreads), 1, 1},
                           .threads = {kMendThreads, 1, 1}};
    ASSAY_RETURN_IF_ERROR(device.Launch(*functions_.mend, mend, first));
  }
  ResidueArguments again = first;
  const ModuliRange range = is_double_ ? kF64AgainModuli : kF32AgainModuli;
  again.least = range.least;
  again.most = range.most;
  ASSAY_RETURN_IF_ERROR(device.Launch(*functions_.again, LaunchShape{.threads = {32, 1, 1}}, again));
  *open = first.still_open;
  *open_count = first.still_open_count;
  return EnqueueLevel(device, second, slices, *functions_.slice_again, *functions_.sum_again);
}

absl::StatusOr<ByteProduct::Panels> ByteProduct::Make(Device& device, const ByteDotArguments& dot,
                                                      const std::array<int, 2>& element_bytes,
                                                      int64_t least) {
  ASSAY_RETURN_IF_ERROR(CheckWork(device, SizeOf(dot.lhs.batch), SizeOf(dot.lhs.rows), SizeOf(dot.rhs.rows),
                                  SizeOf(dot.lhs.depth), kResidueThresholds.bytes, least));
  ByteProduct made;
  made.element_bytes_ = element_bytes;
  for (const BytePass& pass : std::span(dot.passes.list).first(static_cast<size_t>(dot.passes.count))) {
    made.slices_[0] = std::max(made.slices_[0], pass.lhs + 1);
    made.slices_[1] = std::max(made.slices_[1], pass.rhs + 1);
  }
  for (size_t side = 0; side < 2; ++side) {
    ASSAY_ASSIGN_OR_RETURN(
        made.slice_[side],
        KernelFunction(device, "residues", fmt::format("byte_slice_{}", element_bytes[side])));
  }
  ASSAY_ASSIGN_OR_RETURN(made.product_,
                         KernelFunction(device, "residue_product",
                                        dot.result_bytes == 8 ? "byte_product_wide" : "byte_product"));
  const auto fit = [&](const ByteDotArguments& part) -> std::optional<ByteProduct> {
    made.tiles_ =
        TilesOf(SizeOf(part.lhs.batch), SizeOf(part.lhs.rows), SizeOf(part.rhs.rows), SizeOf(part.lhs.depth));
    const double bytes = static_cast<double>(made.SliceBytes(0)) + static_cast<double>(made.SliceBytes(1));
    if (!Fits(device, made.tiles_, bytes)) return std::nullopt;
    return made;
  };
  Panels panels;
  ASSAY_RETURN_IF_ERROR(AddPanels(dot, {element_bytes[0], element_bytes[1], dot.result_bytes}, fit, panels));
  return panels;
}

int64_t ByteProduct::SliceBytes(int side) const {
  return slices_[static_cast<size_t>(side)] * SliceBytesOf(tiles_, side);
}

KeptOperands::Key ByteProduct::KeptKey(const ByteDotArguments& dot, int side) const {
  KeptOperands::Key key = KeyOf(side == 0 ? dot.lhs : dot.rhs, tiles_, side);
  const auto k = static_cast<size_t>(side);
  key.insert(key.end(), {-1, element_bytes_[k], slices_[k]});
  return key;
}

absl::Status ByteProduct::Enqueue(Device& device, const ByteDotArguments& dot,
                                  const std::array<KeptOperand*, 2>& kept) const {
  std::array<std::shared_ptr<DeviceMemory>, 2> memory;
  std::array<uint64_t, 2> slices{};
  for (size_t k = 0; k < 2; ++k) {
    if (kept[k] == nullptr) {
      ASSAY_ASSIGN_OR_RETURN(memory[k], device.Allocate(SliceBytes(static_cast<int>(k))));
    }
    slices[k] = (kept[k] == nullptr ? memory[k] : kept[k]->memory)->address();
  }
  for (int side = 0; side < 2; ++side) {
    const auto k = static_cast<size_t>(side);
    if (kept[k] != nullptr && kept[k]->is_made) continue;
    const LaunchShape shape{
        .blocks = {static_cast<uint32_t>(SliceBlocks(tiles_, side)), 1, 1},
        .threads = {kSliceThreads, 1, 1},
        .shared_bytes = SliceSharedBytes(element_bytes_[k], ByteSlicePitch(element_bytes_[k]))};
    ASSAY_RETURN_IF_ERROR(device.Launch(
        *slice_[k], shape,
        ByteSliceArguments{side == 0 ? dot.lhs : dot.rhs, slices[k], tiles_, side, slices_[k]}));
  }
  return device.Launch(*product_, ProductShape(device, tiles_, tiles_.batch),
                       ByteProductArguments{slices[0], slices[1], dot, tiles_});
}

}  // namespace assay::gpu
