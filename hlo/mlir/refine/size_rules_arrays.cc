// Elementwise operations, data movement, sort, gather, scatter, reduce, and the dynamic forms of these.
#include <algorithm>

#include "base/counted.h"
#include "base/hash_map.h"
#include "fmt/format.h"
#include "hlo/mlir/refine/size_attributes.h"
#include "hlo/mlir/refine/size_rules.h"

namespace assay::mlir {
namespace {

Sizes SizesOf(const SizeSite& site, size_t i) { return {site.sizes(i).begin(), site.sizes(i).end()}; }

ResultSizes AllOf(const SizeSite& site, const Sizes& sizes) {
  return ResultSizes(site.op.results.size(), sizes);
}

// What is not as it must be is left to the verifier of the refined program.
ResultSizes AsDeclared(const SizeSite& site) { return ResultSizes(site.op.results.size()); }

bool IsDimension(int64_t dimension, size_t rank) {
  return dimension >= 0 && dimension < static_cast<int64_t>(rank);
}

bool AreDimensions(const Ints& dimensions, size_t rank) {
  return std::ranges::all_of(dimensions, [&](int64_t d) { return IsDimension(d, rank); });
}

absl::StatusOr<ResultSizes> Elementwise(const SizeSite& site) {
  ASSAY_ASSIGN_OR_RETURN(const Sizes sizes, CommonSizes(site, 0, site.operands.size()));
  return AllOf(site, sizes);
}

// select and clamp: what is rank 0 among the first or last operands is broadcast.
absl::StatusOr<ResultSizes> ElementwiseOrScalars(const SizeSite& site) {
  ASSAY_ASSIGN_OR_RETURN(const Sizes sizes,
                         CommonSizes(site, 0, site.operands.size(), /*with_scalars=*/true));
  return AllOf(site, sizes);
}

// Result i is like operand i.
absl::StatusOr<ResultSizes> EachLikeItsOperand(const SizeSite& site) {
  ResultSizes results = AsDeclared(site);
  for (size_t i = 0; i < std::min(results.size(), site.operands.size()); ++i) results[i] = SizesOf(site, i);
  return results;
}

// sort, map: operands are alike.
absl::StatusOr<ResultSizes> AlikeOperands(const SizeSite& site) {
  ASSAY_ASSIGN_OR_RETURN(const Sizes sizes, CommonSizes(site, 0, site.operands.size()));
  return AllOf(site, sizes);
}

absl::StatusOr<ResultSizes> LikeFirst(const SizeSite& site) { return AllOf(site, SizesOf(site, 0)); }

absl::StatusOr<ResultSizes> LikeSecond(const SizeSite& site) { return AllOf(site, SizesOf(site, 1)); }

// Two widths: the wider one has no last dimension, which is as large as the quotient.
absl::StatusOr<ResultSizes> BitcastConvert(const SizeSite& site) {
  const Type& to = *site.op.results[0].type;
  const Type& from = *site.operands[0].type;
  if (to.kind != Type::Kind::kTensor || to.element_type->kind != Type::Kind::kElement ||
      from.element_type->kind != Type::Kind::kElement)
    return AsDeclared(site);
  Sizes sizes = SizesOf(site, 0);
  const int64_t wide = Bits(from.element_type->element), narrow = Bits(to.element_type->element);
  if (wide > narrow) {
    sizes.push_back(wide / narrow);
  } else if (narrow > wide && !sizes.empty()) {
    sizes.pop_back();
  }
  return AllOf(site, sizes);
}

absl::StatusOr<ResultSizes> Transpose(const SizeSite& site) {
  const Ints permutation = IntsOfField(site.op, "permutation");
  if (permutation.size() != site.rank(0) || !AreDimensions(permutation, site.rank(0)))
    return AsDeclared(site);
  Sizes sizes;
  for (const int64_t d : permutation) sizes.push_back(site.sizes(0)[static_cast<size_t>(d)]);
  return AllOf(site, sizes);
}

// The sizes that operand i holds; where it is not known, as many unknown ones as its type says.
std::optional<Sizes> SizesHeldBy(const SizeSite& site, size_t i) {
  if (site.operands[i].known != nullptr) return *site.operands[i].known;
  if (site.rank(i) == 1 && site.sizes(i)[0] >= 0 && site.sizes(i)[0] <= 64)
    return Sizes(static_cast<size_t>(site.sizes(i)[0]), kDynamicSize);
  return std::nullopt;
}

absl::Status CheckHeld(const Sizes& sizes) {
  for (const int64_t size : sizes) {
    if (size < 0 && size != kDynamicSize)
      return SizesContradict(fmt::format("the sizes [{}] hold a negative one", fmt::join(sizes, ",")));
  }
  return absl::OkStatus();
}

// dynamic_iota(sizes), and rng(a, b, sizes) and the like, with sizes in the last operand.
absl::StatusOr<ResultSizes> HeldByLast(const SizeSite& site) {
  const std::optional<Sizes> sizes = SizesHeldBy(site, site.operands.size() - 1);
  if (!sizes) return AsDeclared(site);
  ASSAY_RETURN_IF_ERROR(CheckHeld(*sizes));
  return AllOf(site, *sizes);
}

// x's dimension d becomes dimension dims[d], where it is as large as the result's, or 1.
absl::StatusOr<ResultSizes> DynamicBroadcastInDim(const SizeSite& site) {
  const std::optional<Sizes> sizes = SizesHeldBy(site, 1);
  const Ints dimensions = IntsOfField(site.op, "broadcast_dimensions");
  if (!sizes || dimensions.size() != site.rank(0) || !AreDimensions(dimensions, sizes->size()))
    return AsDeclared(site);
  ASSAY_RETURN_IF_ERROR(CheckHeld(*sizes));
  for (size_t d = 0; d < dimensions.size(); ++d) {
    const int64_t from = site.sizes(0)[d], to = (*sizes)[static_cast<size_t>(dimensions[d])];
    if (from == kDynamicSize || to == kDynamicSize || from == 1 || from == to) continue;
    return SizesContradict(
        fmt::format("operand {} has size {} in dimension {}, and the shape [{}] size {} in "
                    "dimension {}",
                    ToString(*site.operands[0].type), from, d, fmt::join(*sizes, ","), to, dimensions[d]));
  }
  return AllOf(site, *sizes);
}

absl::StatusOr<ResultSizes> BroadcastInDim(const SizeSite& site) {
  const Type& to = *site.op.results[0].type;
  const Ints dimensions = IntsOfField(site.op, "broadcast_dimensions");
  if (to.kind != Type::Kind::kTensor || dimensions.size() != site.rank(0) ||
      !AreDimensions(dimensions, to.sizes.size()))
    return AsDeclared(site);
  Sizes sizes(to.sizes.begin(), to.sizes.end());
  for (size_t d = 0; d < dimensions.size(); ++d) {
    int64_t& size = sizes[static_cast<size_t>(dimensions[d])];
    const int64_t from = site.sizes(0)[d];
    if (from == kDynamicSize || from == 1 || from == size) continue;
    if (size != kDynamicSize) {
      return SizesContradict(
          fmt::format("operand {} has size {} in dimension {}, and the result {} size {} in "
                      "dimension {}",
                      ToString(*site.operands[0].type), from, d, ToString(to), size, dimensions[d]));
    }
    size = from;
  }
  return AllOf(site, sizes);
}

// broadcast_sizes, then those of the operand.
absl::StatusOr<ResultSizes> Broadcast(const SizeSite& site) {
  const Ints added = IntsOfField(site.op, "broadcast_sizes");
  Sizes sizes(added.begin(), added.end());
  sizes.insert(sizes.end(), site.sizes(0).begin(), site.sizes(0).end());
  return AllOf(site, sizes);
}

SizeNumber NumElements(std::span<const int64_t> sizes) {
  SizeNumber count = 1;
  for (const int64_t size : sizes) {
    if (size == 0) return 0;
  }
  for (const int64_t size : sizes) count = count * size;
  return count;
}

// The element counts of both types agree; a single unknown size of the result follows from them.
absl::StatusOr<ResultSizes> Reshaped(const SizeSite& site, Sizes sizes) {
  const SizeNumber from = NumElements(site.sizes(0));
  if (!from.is_known()) return AllOf(site, sizes);
  const auto unknown = std::ranges::find(sizes, kDynamicSize);
  if (unknown != sizes.end() && std::find(unknown + 1, sizes.end(), kDynamicSize) == sizes.end()) {
    *unknown = 1;
    const SizeNumber others = NumElements(sizes);
    if (others.value() == 0 || from.value() % others.value() != 0) {
      *unknown = kDynamicSize;
      if (others.value() == 0) return AllOf(site, sizes);
    } else {
      *unknown = from.value() / others.value();
    }
  }
  const SizeNumber to = NumElements(sizes);
  if (to.is_known() && to.value() != from.value()) {
    return SizesContradict(fmt::format("the operand {} has {}, and the result [{}] has {}",
                                       ToString(*site.operands[0].type), Counted(from.value(), "element"),
                                       fmt::join(sizes, ","), to.value()));
  }
  return AllOf(site, sizes);
}

absl::StatusOr<ResultSizes> Reshape(const SizeSite& site) {
  const Type& to = *site.op.results[0].type;
  if (to.kind != Type::Kind::kTensor || !to.bounds.empty()) return AsDeclared(site);
  return Reshaped(site, {to.sizes.begin(), to.sizes.end()});
}

absl::StatusOr<ResultSizes> DynamicReshape(const SizeSite& site) {
  const std::optional<Sizes> sizes = SizesHeldBy(site, 1);
  if (!sizes) return AsDeclared(site);
  ASSAY_RETURN_IF_ERROR(CheckHeld(*sizes));
  return Reshaped(site, *sizes);
}

absl::StatusOr<ResultSizes> Concatenate(const SizeSite& site) {
  const std::optional<int64_t> dimension = IntOfField(site.op, "dimension");
  if (!dimension || !IsDimension(*dimension, site.rank(0))) return AsDeclared(site);
  const auto along = static_cast<size_t>(*dimension);
  Sizes sizes = SizesOf(site, 0);
  SizeNumber sum = 0;
  for (size_t i = 0; i < site.operands.size(); ++i) {
    if (site.rank(i) != sizes.size()) return AsDeclared(site);
    sum = sum + site.sizes(i)[along];
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (d == along) continue;
      ASSAY_ASSIGN_OR_RETURN(sizes[d], CommonSize(sizes[d], site.sizes(i)[d], d, *site.operands[0].type,
                                                  *site.operands[i].type));
    }
  }
  ASSAY_ASSIGN_OR_RETURN(sizes[along], sum.Size());
  return AllOf(site, sizes);
}

// low + high + n + max(n - 1, 0) * interior
absl::StatusOr<ResultSizes> Padded(const SizeSite& site, const Sizes& low, const Sizes& high,
                                   const Sizes& interior) {
  if (low.size() != site.rank(0) || high.size() != low.size() || interior.size() != low.size())
    return AsDeclared(site);
  Sizes sizes;
  for (size_t d = 0; d < low.size(); ++d) {
    const int64_t size = site.sizes(0)[d];
    const int64_t gaps = size == kDynamicSize ? size : std::max<int64_t>(size - 1, 0);
    const SizeNumber padded = SizeNumber(low[d]) + high[d] + size + SizeNumber(gaps) * interior[d];
    ASSAY_ASSIGN_OR_RETURN(sizes.emplace_back(), padded.Size());
  }
  return AllOf(site, sizes);
}

Sizes ListOf(const SizeSite& site, std::string_view name, size_t count, int64_t absent) {
  const Ints values = IntsOfField(site.op, name);
  if (values.empty()) return Sizes(count, absent);
  return {values.begin(), values.end()};
}

absl::StatusOr<ResultSizes> Pad(const SizeSite& site) {
  const size_t rank = site.rank(0);
  return Padded(site, ListOf(site, "edge_padding_low", rank, 0), ListOf(site, "edge_padding_high", rank, 0),
                ListOf(site, "interior_padding", rank, 0));
}

absl::StatusOr<ResultSizes> DynamicPad(const SizeSite& site) {
  const auto low = SizesHeldBy(site, 2), high = SizesHeldBy(site, 3), interior = SizesHeldBy(site, 4);
  if (!low || !high || !interior) return AsDeclared(site);
  return Padded(site, *low, *high, *interior);
}

// ceil((limit - start) / stride)
absl::StatusOr<ResultSizes> Sliced(const SizeSite& site, const Sizes& starts, const Sizes& limits,
                                   const Sizes& strides) {
  if (starts.size() != site.rank(0) || limits.size() != starts.size() || strides.size() != starts.size())
    return AsDeclared(site);
  Sizes sizes;
  for (size_t d = 0; d < starts.size(); ++d) {
    const int64_t size = site.sizes(0)[d];
    if (starts[d] == kDynamicSize || limits[d] == kDynamicSize || strides[d] == kDynamicSize) {
      sizes.push_back(kDynamicSize);
      continue;
    }
    if (starts[d] < 0 || limits[d] < starts[d] || strides[d] <= 0 ||
        (size != kDynamicSize && limits[d] > size)) {
      return SizesContradict(fmt::format("the slice [{}:{}:{}] of dimension {} is not inside of {}",
                                         starts[d], limits[d], strides[d], d,
                                         ToString(*site.operands[0].type)));
    }
    ASSAY_ASSIGN_OR_RETURN(sizes.emplace_back(),
                           CeilOfQuotient(SizeNumber(limits[d]) - starts[d], strides[d]).Size());
  }
  return AllOf(site, sizes);
}

absl::StatusOr<ResultSizes> Slice(const SizeSite& site) {
  const size_t rank = site.rank(0);
  return Sliced(site, ListOf(site, "start_indices", rank, 0), ListOf(site, "limit_indices", rank, 0),
                ListOf(site, "strides", rank, 1));
}

absl::StatusOr<ResultSizes> RealDynamicSlice(const SizeSite& site) {
  const auto starts = SizesHeldBy(site, 1), limits = SizesHeldBy(site, 2), strides = SizesHeldBy(site, 3);
  if (!starts || !limits || !strides) return AsDeclared(site);
  return Sliced(site, *starts, *limits, *strides);
}

absl::StatusOr<ResultSizes> DynamicSlice(const SizeSite& site) {
  const Ints written = IntsOfField(site.op, "slice_sizes");
  const Sizes sizes(written.begin(), written.end());
  if (sizes.size() != site.rank(0)) return AsDeclared(site);
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int64_t size = site.sizes(0)[d];
    if (size == kDynamicSize || sizes[d] <= size) continue;
    return SizesContradict(fmt::format("slice_sizes[{}] is {}, the operand is {}", d, sizes[d],
                                       ToString(*site.operands[0].type)));
  }
  return AllOf(site, sizes);
}

absl::StatusOr<ResultSizes> DynamicUpdateSlice(const SizeSite& site) {
  for (size_t d = 0; d < std::min(site.rank(0), site.rank(1)); ++d) {
    const int64_t size = site.sizes(0)[d], update = site.sizes(1)[d];
    if (size == kDynamicSize || update == kDynamicSize || update <= size) continue;
    return SizesContradict(fmt::format("the update {} is larger than the operand {} in dimension {}",
                                       ToString(*site.operands[1].type), ToString(*site.operands[0].type),
                                       d));
  }
  return LikeFirst(site);
}

// The batch dimensions are those of the indices but for index_vector_dim; offset_dims say where the slices'
// own go.
absl::StatusOr<ResultSizes> Gathered(const SizeSite& site, const Sizes& slice_sizes) {
  const Ints offset_dims = IntsOfField(site.op, "offset_dims");
  const Ints collapsed = IntsOfField(site.op, "collapsed_slice_dims");
  const Ints batching = IntsOfField(site.op, "operand_batching_dims");
  const int64_t vector_dim = IntOfField(site.op, "index_vector_dim").value_or(0);
  Sizes batch, own;
  for (size_t d = 0; d < site.rank(1); ++d) {
    if (static_cast<int64_t>(d) != vector_dim) batch.push_back(site.sizes(1)[d]);
  }
  for (size_t d = 0; d < slice_sizes.size(); ++d) {
    const auto at = static_cast<int64_t>(d);
    if (std::ranges::count(collapsed, at) + std::ranges::count(batching, at) == 0)
      own.push_back(slice_sizes[d]);
  }
  if (own.size() != offset_dims.size()) return AsDeclared(site);
  Sizes sizes;
  auto next_batch = batch.begin(), next_own = own.begin();
  for (size_t d = 0; d < batch.size() + own.size(); ++d) {
    const bool is_offset = std::ranges::count(offset_dims, static_cast<int64_t>(d)) > 0;
    if (is_offset ? next_own == own.end() : next_batch == batch.end()) return AsDeclared(site);
    sizes.push_back(is_offset ? *next_own++ : *next_batch++);
  }
  return AllOf(site, sizes);
}

absl::StatusOr<ResultSizes> Gather(const SizeSite& site) {
  const Ints sizes = IntsOfField(site.op, "slice_sizes");
  return Gathered(site, {sizes.begin(), sizes.end()});
}

absl::StatusOr<ResultSizes> DynamicGather(const SizeSite& site) {
  const std::optional<Sizes> sizes = SizesHeldBy(site, 2);
  if (!sizes) return AsDeclared(site);
  ASSAY_RETURN_IF_ERROR(CheckHeld(*sizes));
  return Gathered(site, *sizes);
}

// The inputs, the first half of the operands, without the dimensions.
absl::StatusOr<ResultSizes> Reduce(const SizeSite& site) {
  const Ints dimensions = IntsOfField(site.op, "dimensions");
  const size_t inputs = site.operands.size() / 2;
  if (inputs == 0 || !AreDimensions(dimensions, site.rank(0))) return AsDeclared(site);
  ASSAY_ASSIGN_OR_RETURN(const Sizes sizes, CommonSizes(site, 0, inputs));
  Sizes kept;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (std::ranges::count(dimensions, static_cast<int64_t>(d)) == 0) kept.push_back(sizes[d]);
  }
  return AllOf(site, kept);
}

// numpy's rule for shapes of different rank, or broadcast_dimensions of the one of lower rank.
absl::StatusOr<ResultSizes> ChloBroadcasting(const SizeSite& site) {
  size_t rank = 0;
  for (size_t i = 0; i < site.operands.size(); ++i) rank = std::max(rank, site.rank(i));
  const Ints dimensions = IntsOfField(site.op, "broadcast_dimensions");
  Sizes sizes(rank, 1);
  std::vector<const Type*> said(rank, nullptr);
  for (size_t i = 0; i < site.operands.size(); ++i) {
    const bool listed = !dimensions.empty() && dimensions.size() == site.rank(i) && site.rank(i) < rank;
    for (size_t d = 0; d < site.rank(i); ++d) {
      const int64_t to = listed ? dimensions[d] : static_cast<int64_t>(d + rank - site.rank(i));
      if (!IsDimension(to, rank)) return AsDeclared(site);
      int64_t& size = sizes[static_cast<size_t>(to)];
      const int64_t own = site.sizes(i)[d];
      const Type*& by = said[static_cast<size_t>(to)];
      if (own == 1) continue;
      if (size == 1 || by == nullptr) {
        size = own;
      } else {
        ASSAY_ASSIGN_OR_RETURN(size,
                               CommonSize(size, own, static_cast<size_t>(to), *by, *site.operands[i].type));
      }
      by = site.operands[i].type;
    }
  }
  return AllOf(site, sizes);
}

absl::StatusOr<ResultSizes> TopK(const SizeSite& site) {
  const std::optional<int64_t> k = IntOfField(site.op, "k");
  Sizes sizes = SizesOf(site, 0);
  if (!k || sizes.empty()) return AsDeclared(site);
  if (sizes.back() != kDynamicSize && *k > sizes.back())
    return SizesContradict(fmt::format("k is {}, the operand is {}", *k, ToString(*site.operands[0].type)));
  sizes.back() = *k;
  return AllOf(site, sizes);
}

// torch_index_select(x, indices): dimension `dim` of x becomes those of indices, behind the batch dimensions.
absl::StatusOr<ResultSizes> IndexSelect(const SizeSite& site) {
  const int64_t dim = IntOfField(site.op, "dim").value_or(-1),
                batch = IntOfField(site.op, "batch_dims").value_or(0);
  if (!IsDimension(dim, site.rank(0)) || batch < 0 || batch > dim ||
      batch > static_cast<int64_t>(site.rank(1)))
    return AsDeclared(site);
  const std::span<const int64_t> x = site.sizes(0), indices = site.sizes(1);
  Sizes sizes(x.begin(), x.begin() + dim);
  sizes.insert(sizes.end(), indices.begin() + batch, indices.end());
  sizes.insert(sizes.end(), x.begin() + dim + 1, x.end());
  return AllOf(site, sizes);
}

constexpr SizeRow kElementwise = {"", Elementwise, 1};

constexpr std::string_view kElementwiseNames[] = {"stablehlo.abs",
                                                  "stablehlo.add",
                                                  "stablehlo.and",
                                                  "stablehlo.atan2",
                                                  "stablehlo.cbrt",
                                                  "stablehlo.ceil",
                                                  "stablehlo.compare",
                                                  "stablehlo.complex",
                                                  "stablehlo.convert",
                                                  "stablehlo.cosine",
                                                  "stablehlo.count_leading_zeros",
                                                  "stablehlo.divide",
                                                  "stablehlo.exponential",
                                                  "stablehlo.exponential_minus_one",
                                                  "stablehlo.floor",
                                                  "stablehlo.imag",
                                                  "stablehlo.is_finite",
                                                  "stablehlo.log",
                                                  "stablehlo.log_plus_one",
                                                  "stablehlo.logistic",
                                                  "stablehlo.maximum",
                                                  "stablehlo.minimum",
                                                  "stablehlo.multiply",
                                                  "stablehlo.negate",
                                                  "stablehlo.not",
                                                  "stablehlo.or",
                                                  "stablehlo.popcnt",
                                                  "stablehlo.power",
                                                  "stablehlo.real",
                                                  "stablehlo.reduce_precision",
                                                  "stablehlo.remainder",
                                                  "stablehlo.round_nearest_afz",
                                                  "stablehlo.round_nearest_even",
                                                  "stablehlo.rsqrt",
                                                  "stablehlo.shift_left",
                                                  "stablehlo.shift_right_arithmetic",
                                                  "stablehlo.shift_right_logical",
                                                  "stablehlo.sign",
                                                  "stablehlo.sine",
                                                  "stablehlo.sqrt",
                                                  "stablehlo.subtract",
                                                  "stablehlo.tan",
                                                  "stablehlo.tanh",
                                                  "stablehlo.uniform_dequantize",
                                                  "stablehlo.uniform_quantize",
                                                  "stablehlo.xor",
                                                  "chlo.acos",
                                                  "chlo.acosh",
                                                  "chlo.asin",
                                                  "chlo.asinh",
                                                  "chlo.atan",
                                                  "chlo.atanh",
                                                  "chlo.bessel_i1e",
                                                  "chlo.conj",
                                                  "chlo.cosh",
                                                  "chlo.digamma",
                                                  "chlo.erf",
                                                  "chlo.erf_inv",
                                                  "chlo.erfc",
                                                  "chlo.is_inf",
                                                  "chlo.is_neg_inf",
                                                  "chlo.is_pos_inf",
                                                  "chlo.lgamma",
                                                  "chlo.mulhi",
                                                  "chlo.next_after",
                                                  "chlo.polygamma",
                                                  "chlo.sinh",
                                                  "chlo.square",
                                                  "chlo.tan",
                                                  "chlo.zeta",
                                                  "chlo.constant_like"};

constexpr SizeRow kArrayRows[] = {
    {"stablehlo.select", ElementwiseOrScalars, 3},
    {"stablehlo.clamp", ElementwiseOrScalars, 3},
    {"stablehlo.bitcast_convert", BitcastConvert},
    {"stablehlo.transpose", Transpose},
    {"stablehlo.reverse", LikeFirst},
    {"stablehlo.broadcast_in_dim", BroadcastInDim},
    {"stablehlo.broadcast", Broadcast},
    {"stablehlo.dynamic_broadcast_in_dim", DynamicBroadcastInDim, 2},
    {"stablehlo.reshape", Reshape},
    {"stablehlo.dynamic_reshape", DynamicReshape, 2},
    {"chlo.dynamic_reshape", DynamicReshape, 2},
    {"stablehlo.dynamic_iota", HeldByLast},
    {"stablehlo.rng", HeldByLast, 3},
    {"stablehlo.concatenate", Concatenate},
    {"stablehlo.pad", Pad, 2},
    {"stablehlo.dynamic_pad", DynamicPad, 5},
    {"stablehlo.slice", Slice},
    {"stablehlo.real_dynamic_slice", RealDynamicSlice, 4},
    {"stablehlo.dynamic_slice", DynamicSlice},
    {"stablehlo.dynamic_update_slice", DynamicUpdateSlice, 2},
    {"stablehlo.gather", Gather, 2},
    {"stablehlo.dynamic_gather", DynamicGather, 3},
    {"stablehlo.scatter", EachLikeItsOperand},
    {"stablehlo.sort", AlikeOperands},
    {"stablehlo.map", AlikeOperands},
    {"stablehlo.reduce", Reduce, 2},
    {"stablehlo.torch_index_select", IndexSelect, 2},
    {"stablehlo.cholesky", LikeFirst},
    {"stablehlo.triangular_solve", LikeSecond, 2},
    {"stablehlo.all_reduce", EachLikeItsOperand},
    {"stablehlo.collective_permute", EachLikeItsOperand},
    {"stablehlo.collective_broadcast", EachLikeItsOperand},
    {"stablehlo.cross-replica-sum", LikeFirst},
    {"sdy.sharding_constraint", LikeFirst},
    {"sdy.reshard", LikeFirst},
    {"sdy.propagation_barrier", LikeFirst},
    {"chlo.top_k", TopK},
    {"chlo.broadcast_add", ChloBroadcasting, 2},
    {"chlo.broadcast_and", ChloBroadcasting, 2},
    {"chlo.broadcast_atan2", ChloBroadcasting, 2},
    {"chlo.broadcast_compare", ChloBroadcasting, 2},
    {"chlo.broadcast_complex", ChloBroadcasting, 2},
    {"chlo.broadcast_divide", ChloBroadcasting, 2},
    {"chlo.broadcast_maximum", ChloBroadcasting, 2},
    {"chlo.broadcast_minimum", ChloBroadcasting, 2},
    {"chlo.broadcast_multiply", ChloBroadcasting, 2},
    {"chlo.broadcast_next_after", ChloBroadcasting, 2},
    {"chlo.broadcast_or", ChloBroadcasting, 2},
    {"chlo.broadcast_polygamma", ChloBroadcasting, 2},
    {"chlo.broadcast_power", ChloBroadcasting, 2},
    {"chlo.broadcast_remainder", ChloBroadcasting, 2},
    {"chlo.broadcast_select", ChloBroadcasting, 3},
    {"chlo.broadcast_shift_left", ChloBroadcasting, 2},
    {"chlo.broadcast_shift_right_arithmetic", ChloBroadcasting, 2},
    {"chlo.broadcast_shift_right_logical", ChloBroadcasting, 2},
    {"chlo.broadcast_subtract", ChloBroadcasting, 2},
    {"chlo.broadcast_xor", ChloBroadcasting, 2},
    {"chlo.broadcast_zeta", ChloBroadcasting, 2},
};

}  // namespace

absl::Span<const SizeRow> ArraySizeRows() {
  static const auto* const kAll = [] {
    auto* rows = new std::vector<SizeRow>(std::begin(kArrayRows), std::end(kArrayRows));
    for (const std::string_view name : kElementwiseNames) {
      rows->push_back(kElementwise);
      rows->back().name = name;
    }
    return rows;
  }();
  return *kAll;
}

}  // namespace assay::mlir
