// Products, windows, transforms, normalization, and collectives that change sizes.
#include <algorithm>

#include "fmt/format.h"
#include "hlo/mlir/import/einsum.h"
#include "hlo/mlir/refine/size_attributes.h"
#include "hlo/mlir/refine/size_rules.h"

namespace assay::mlir {
namespace {

ResultSizes Declared(const SizeSite& site) { return ResultSizes(site.op.results.size()); }

bool AreIn(const Ints& dimensions, size_t rank) {
  return std::ranges::all_of(dimensions, [&](int64_t d) { return d >= 0 && d < static_cast<int64_t>(rank); });
}

bool Has(const Ints& dimensions, size_t d) {
  return std::ranges::find(dimensions, static_cast<int64_t>(d)) != dimensions.end();
}

// Batch, then what is left of lhs, then what is left of rhs.
absl::StatusOr<ResultSizes> Product(const SizeSite& site, const Ints& lhs_batch, const Ints& rhs_batch,
                                    const Ints& lhs_summed, const Ints& rhs_summed) {
  if (lhs_batch.size() != rhs_batch.size() || lhs_summed.size() != rhs_summed.size() ||
      !AreIn(lhs_batch, site.rank(0)) || !AreIn(lhs_summed, site.rank(0)) ||
      !AreIn(rhs_batch, site.rank(1)) || !AreIn(rhs_summed, site.rank(1)))
    return Declared(site);
  const Type &lhs = *site.operands[0].type, &rhs = *site.operands[1].type;
  const auto common = [&](int64_t l, int64_t r) -> absl::StatusOr<int64_t> {
    const int64_t a = lhs.sizes[static_cast<size_t>(l)], b = rhs.sizes[static_cast<size_t>(r)];
    if (a == b || b == kDynamicSize) return a;
    if (a == kDynamicSize) return b;
    return SizesContradict(fmt::format("dimension {} of {} has size {}, and dimension {} of {} size {}", l,
                                       ToString(lhs), a, r, ToString(rhs), b));
  };
  Sizes sizes;
  for (size_t i = 0; i < lhs_batch.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(sizes.emplace_back(), common(lhs_batch[i], rhs_batch[i]));
  }
  for (size_t i = 0; i < lhs_summed.size(); ++i)
    ASSAY_RETURN_IF_ERROR(common(lhs_summed[i], rhs_summed[i]).status());
  for (size_t d = 0; d < lhs.sizes.size(); ++d) {
    if (!Has(lhs_batch, d) && !Has(lhs_summed, d)) sizes.push_back(lhs.sizes[d]);
  }
  for (size_t d = 0; d < rhs.sizes.size(); ++d) {
    if (!Has(rhs_batch, d) && !Has(rhs_summed, d)) sizes.push_back(rhs.sizes[d]);
  }
  return ResultSizes(site.op.results.size(), sizes);
}

absl::StatusOr<ResultSizes> DotGeneral(const SizeSite& site) {
  return Product(
      site, IntsOfField(site.op, "lhs_batching_dimensions"), IntsOfField(site.op, "rhs_batching_dimensions"),
      IntsOfField(site.op, "lhs_contracting_dimensions"), IntsOfField(site.op, "rhs_contracting_dimensions"));
}

// The last dimension of lhs with the first of rhs.
absl::StatusOr<ResultSizes> Dot(const SizeSite& site) {
  if (site.rank(0) == 0 || site.rank(1) == 0) return Product(site, {}, {}, {}, {});
  return Product(site, {}, {}, {static_cast<int64_t>(site.rank(0)) - 1}, {0});
}

// Like dot_general, but that rhs' group dimension is in no result; where the ragged dimension is summed the
// groups come first.
absl::StatusOr<ResultSizes> RaggedDot(const SizeSite& site) {
  const Ints ragged = IntsOfField(site.op, "lhs_ragged_dimensions"),
             group = IntsOfField(site.op, "rhs_group_dimensions");
  const Ints batch = IntsOfField(site.op, "rhs_batching_dimensions"),
             summed = IntsOfField(site.op, "rhs_contracting_dimensions");
  const auto is_free = [&](size_t d) { return !Has(batch, d) && !Has(summed, d); };
  if (ragged.size() != 1 || site.rank(2) == 0 || group.size() > 1 || !AreIn(group, site.rank(1)) ||
      (!group.empty() && !is_free(static_cast<size_t>(group[0]))))
    return Declared(site);
  ASSAY_ASSIGN_OR_RETURN(ResultSizes results, DotGeneral(site));
  if (results.empty() || !results[0]) return results;
  Sizes& sizes = *results[0];
  const int64_t groups = site.sizes(2).back();
  if (!group.empty()) {
    const int64_t size = site.sizes(1)[static_cast<size_t>(group[0])];
    if (size != kDynamicSize && groups != kDynamicSize && size != groups) {
      return SizesContradict(fmt::format("dimension {} of {} has size {}, and there are {} groups in {}",
                                         group[0], ToString(*site.operands[1].type), size, groups,
                                         ToString(*site.operands[2].type)));
    }
    int64_t behind = 0;  // free dimensions of rhs from the group's on
    for (auto d = static_cast<size_t>(group[0]); d < site.rank(1); ++d) behind += is_free(d) ? 1 : 0;
    sizes.erase(sizes.end() - behind);
  }
  if (Has(IntsOfField(site.op, "lhs_contracting_dimensions"), static_cast<size_t>(ragged[0])))
    sizes.insert(sizes.begin(), groups);
  return results;
}

// Operands have the sizes of their letters, and so has the result.
absl::StatusOr<ResultSizes> EinsumSizes(const SizeSite& site) {
  const std::string_view config = TextOfField(site.op, "einsum_config");
  const std::optional<Einsum> einsum = ParseEinsum(config, site.op.name == "stablehlo.einsum" ? 2 : 1);
  if (!einsum) return NotSupported({}, NoProductText(config));
  if (site.rank(0) != einsum->lhs.size() || (site.operands.size() > 1 && site.rank(1) != einsum->rhs.size()))
    return Declared(site);
  ResultSizes results;
  if (site.operands.size() > 1) {
    ASSAY_ASSIGN_OR_RETURN(results, Product(site, einsum->lhs_batch, einsum->rhs_batch,
                                            einsum->lhs_contracting, einsum->rhs_contracting));
  } else {
    results.assign(site.op.results.size(), Sizes(site.sizes(0).begin(), site.sizes(0).end()));
  }
  for (std::optional<Sizes>& result : results) {
    if (!result || result->size() != einsum->permutation.size()) return Declared(site);
    const Sizes product = *result;
    for (size_t d = 0; d < product.size(); ++d)
      (*result)[d] = product[static_cast<size_t>(einsum->permutation[d])];
  }
  return results;
}

struct WindowLists {
  Sizes sizes, strides, base_dilations, window_dilations, padding;  // padding: low and high of each dimension
};

Sizes ListOr(const SizeSite& site, std::string_view name, size_t count, int64_t absent) {
  const Ints values = IntsOfField(site.op, name);
  if (values.empty()) return Sizes(count, absent);
  return {values.begin(), values.end()};
}

// How often a dilated window fits into a dilated and padded base.
absl::StatusOr<int64_t> Placements(const WindowLists& window, size_t d, int64_t base) {
  const auto dilated = [](int64_t size, int64_t dilation) {
    if (size == kDynamicSize || dilation == kDynamicSize) return SizeNumber(kDynamicSize);
    return size == 0 ? SizeNumber(0) : SizeNumber(size - 1) * dilation + 1;
  };
  const SizeNumber padded =
      dilated(base, window.base_dilations[d]) + window.padding[2 * d] + window.padding[2 * d + 1];
  const SizeNumber width = dilated(window.sizes[d], window.window_dilations[d]);
  const int64_t stride = window.strides[d];
  if (!padded.is_known() || !width.is_known() || stride == kDynamicSize) return kDynamicSize;
  return CeilOfQuotient(padded - width + 1, stride).Size();
}

bool Fits(const WindowLists& window, size_t rank) {
  return window.sizes.size() == rank && window.strides.size() == rank &&
         window.base_dilations.size() == rank && window.window_dilations.size() == rank &&
         window.padding.size() == 2 * rank;
}

// Of padding, a splat in dense<0> of N times 2 reads as so many.
absl::StatusOr<ResultSizes> ReduceWindow(const SizeSite& site) {
  const size_t rank = site.rank(0), inputs = site.operands.size() / 2;
  const WindowLists window = {
      ListOr(site, "window_dimensions", rank, 1), ListOr(site, "window_strides", rank, 1),
      ListOr(site, "base_dilations", rank, 1), ListOr(site, "window_dilations", rank, 1),
      ListOr(site, "padding", 2 * rank, 0)};
  if (inputs == 0 || !Fits(window, rank)) return Declared(site);
  ASSAY_ASSIGN_OR_RETURN(Sizes sizes, CommonSizes(site, 0, inputs));
  for (size_t d = 0; d < rank; ++d) {
    ASSAY_ASSIGN_OR_RETURN(sizes[d], Placements(window, d, sizes[d]));
  }
  return ResultSizes(site.op.results.size(), sizes);
}

absl::StatusOr<ResultSizes> Convolved(const SizeSite& site, const Sizes& padding) {
  const auto list = [&](std::string_view name) { return IntsOfField(site.op, name); };
  const Ints in = list("input_spatial_dimensions"), kernel = list("kernel_spatial_dimensions"),
             out = list("output_spatial_dimensions");
  const size_t spatial = in.size();
  const auto number = [&](std::string_view name) { return IntOfField(site.op, name).value_or(-1); };
  const int64_t batch = number("input_batch_dimension"), features = number("kernel_output_feature_dimension"),
                out_batch = number("output_batch_dimension"),
                out_features = number("output_feature_dimension"),
                groups = IntOfField(site.op, "batch_group_count").value_or(1);
  const size_t rank = site.rank(0);
  if (rank != spatial + 2 || site.rank(1) != rank || kernel.size() != spatial || out.size() != spatial ||
      !AreIn(in, rank) || !AreIn(kernel, rank) || !AreIn(out, rank) ||
      !AreIn({batch, features, out_batch, out_features}, rank))
    return Declared(site);
  WindowLists window;
  for (const int64_t d : kernel) window.sizes.push_back(site.sizes(1)[static_cast<size_t>(d)]);
  window.strides = ListOr(site, "window_strides", spatial, 1);
  window.base_dilations = ListOr(site, "lhs_dilation", spatial, 1);
  window.window_dilations = ListOr(site, "rhs_dilation", spatial, 1);
  window.padding = padding.empty() ? Sizes(2 * spatial, 0) : padding;
  if (!Fits(window, spatial)) return Declared(site);
  Sizes sizes(rank, kDynamicSize);
  const int64_t images = site.sizes(0)[static_cast<size_t>(batch)];
  sizes[static_cast<size_t>(out_batch)] = images == kDynamicSize || groups < 1 ? images : images / groups;
  sizes[static_cast<size_t>(out_features)] = site.sizes(1)[static_cast<size_t>(features)];
  for (size_t d = 0; d < spatial; ++d) {
    ASSAY_ASSIGN_OR_RETURN(sizes[static_cast<size_t>(out[d])],
                           Placements(window, d, site.sizes(0)[static_cast<size_t>(in[d])]));
  }
  return ResultSizes(site.op.results.size(), sizes);
}

absl::StatusOr<ResultSizes> Convolution(const SizeSite& site) {
  const Ints padding = IntsOfField(site.op, "padding");
  return Convolved(site, {padding.begin(), padding.end()});
}

// The padding is operand 2, [N, 2].
absl::StatusOr<ResultSizes> DynamicConvolution(const SizeSite& site) {
  const size_t spatial = IntsOfField(site.op, "input_spatial_dimensions").size();
  if (site.operands[2].known != nullptr) return Convolved(site, *site.operands[2].known);
  return Convolved(site, Sizes(2 * spatial, kDynamicSize));
}

absl::StatusOr<ResultSizes> LikeOperand(const SizeSite& site) {
  return ResultSizes(site.op.results.size(), Sizes(site.sizes(0).begin(), site.sizes(0).end()));
}

// RFFT keeps n/2 + 1 of the last dimension, IRFFT gives fft_length back.
absl::StatusOr<ResultSizes> Fft(const SizeSite& site) {
  const std::string_view type = TextOfField(site.op, "fft_type");
  const Ints length = IntsOfField(site.op, "fft_length");
  Sizes sizes(site.sizes(0).begin(), site.sizes(0).end());
  if (length.empty() || length.size() > sizes.size()) return Declared(site);
  if (type == "RFFT") sizes.back() = length.back() == 0 ? 0 : length.back() / 2 + 1;
  if (type == "IRFFT") {
    for (size_t i = 0; i < length.size(); ++i) sizes[sizes.size() - length.size() + i] = length[i];
  }
  return ResultSizes(site.op.results.size(), sizes);
}

// The operand, then statistics of the features.
absl::StatusOr<ResultSizes> BatchNorm(const SizeSite& site) {
  ResultSizes results(site.op.results.size(), Sizes(site.sizes(1).begin(), site.sizes(1).end()));
  if (!results.empty()) results[0] = Sizes(site.sizes(0).begin(), site.sizes(0).end());
  return results;
}

// How many devices are in a group: the columns of replica_groups.
int64_t GroupSize(const SizeSite& site) {
  const Attribute* const groups = site.op.Find("replica_groups");
  const bool is_matrix = groups != nullptr && groups->kind == Attribute::Kind::kDense &&
                         groups->type != nullptr && groups->type->sizes.size() == 2;
  return is_matrix ? groups->type->sizes[1] : kDynamicSize;
}

absl::StatusOr<ResultSizes> AllGather(const SizeSite& site) {
  const int64_t dimension = IntOfField(site.op, "all_gather_dim").value_or(-1);
  ResultSizes results = Declared(site);
  for (size_t i = 0; i < std::min(results.size(), site.operands.size()); ++i) {
    Sizes sizes(site.sizes(i).begin(), site.sizes(i).end());
    if (!AreIn({dimension}, sizes.size())) return Declared(site);
    int64_t& size = sizes[static_cast<size_t>(dimension)];
    ASSAY_ASSIGN_OR_RETURN(size, (SizeNumber(size) * GroupSize(site)).Size());
    results[i] = sizes;
  }
  return results;
}

absl::StatusOr<int64_t> Part(const SizeSite& site, int64_t size, int64_t parts) {
  if (size == kDynamicSize || parts == kDynamicSize || parts < 1) return kDynamicSize;
  if (size % parts != 0)
    return SizesContradict(fmt::format("a dimension of {} does not split into {} equal parts",
                                       ToString(*site.operands[0].type), parts));
  return size / parts;
}

absl::StatusOr<ResultSizes> ReduceScatter(const SizeSite& site) {
  const int64_t dimension = IntOfField(site.op, "scatter_dimension").value_or(-1);
  Sizes sizes(site.sizes(0).begin(), site.sizes(0).end());
  if (!AreIn({dimension}, sizes.size())) return Declared(site);
  int64_t& size = sizes[static_cast<size_t>(dimension)];
  ASSAY_ASSIGN_OR_RETURN(size, Part(site, size, GroupSize(site)));
  return ResultSizes(site.op.results.size(), sizes);
}

absl::StatusOr<ResultSizes> AllToAll(const SizeSite& site) {
  const int64_t split = IntOfField(site.op, "split_dimension").value_or(-1),
                concat = IntOfField(site.op, "concat_dimension").value_or(-1),
                count = IntOfField(site.op, "split_count").value_or(-1);
  Sizes sizes(site.sizes(0).begin(), site.sizes(0).end());
  if (!AreIn({split, concat}, sizes.size()) || count < 1) return Declared(site);
  int64_t& from = sizes[static_cast<size_t>(split)];
  ASSAY_ASSIGN_OR_RETURN(from, Part(site, from, count));
  int64_t& to = sizes[static_cast<size_t>(concat)];
  ASSAY_ASSIGN_OR_RETURN(to, (SizeNumber(to) * count).Size());
  return ResultSizes(site.op.results.size(), sizes);
}

constexpr SizeRow kWindowRows[] = {
    {"stablehlo.dot_general", DotGeneral, 2},
    {"stablehlo.dot", Dot, 2},
    {"chlo.ragged_dot", RaggedDot, 3},
    {"stablehlo.einsum", EinsumSizes, 2},
    {"stablehlo.unary_einsum", EinsumSizes},
    {"stablehlo.reduce_window", ReduceWindow, 2},
    {"stablehlo.select_and_scatter", LikeOperand, 3},
    {"stablehlo.convolution", Convolution, 2},
    {"stablehlo.dynamic_conv", DynamicConvolution, 3},
    {"stablehlo.fft", Fft},
    {"stablehlo.batch_norm_training", BatchNorm, 3},
    {"stablehlo.batch_norm_inference", BatchNorm, 5},
    {"stablehlo.batch_norm_grad", BatchNorm, 5},
    {"stablehlo.all_gather", AllGather},
    {"stablehlo.reduce_scatter", ReduceScatter},
    {"stablehlo.all_to_all", AllToAll},
};

}  // namespace

absl::Span<const SizeRow> WindowSizeRows() { return kWindowRows; }

}  // namespace assay::mlir
