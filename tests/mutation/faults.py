"""Faults in engines' index arithmetic and tails: (family, file, what stands there, what is
planted in its place).

Each changes one place (the text stands once in its file), compiles, and must be found by the goldens with
`--crosscheck full` (tools/mutate)."""

N = "engines/native/"
MOVES, IOTA = N + "elementwise/moves.cc", N + "elementwise/iota.cc"
GATHER, SCATTER = N + "scatter_gather/gather_plan.cc", N + "scatter_gather/scatter_windows.cc"
DOT, CONVOLUTION = N + "contraction/dot_box.cc", N + "contraction/convolution.cc"
LINES, GRID, AXIS = N + "reduce/window_lines.cc", N + "window/window_grid.cc", N + "walk/window_axis.cc"
LOOPS, REDUCE = N + "walk/loops.cc", N + "reduce/reduce_loops.h"
SOLVE, SORT, TOPK = N + "linalg/triangular_solve.cc", N + "sort/line_sorter.cc", N + "sort/top_k.cc"
SOURCE = "engines/jit/tile_source.cc"
BOUNDED, LU = "custom/lapack/bounded_sum.cc", "custom/lapack/exact_lu.cc"
BATCH = "custom/lapack/lapack_kernel.cc"
TAPS, TAP_WINDOW = N + "walk/window_taps.cc", N + "window/tap_window.cc"
TAP_KERNELS, DEPTHWISE = N + "window/tap_kernels_body.h", N + "contraction/depthwise.cc"

FAULTS = [
    # moves: wrong strides, off-by-one bounds, a dropped last part
    ("moves", MOVES, "to.base += operand.size(along) * to.strides[along];",
     "to.base += operand.size(along);"),
    ("moves", MOVES, "from.base += (size - 1) * from.strides[d];",
     "from.base += (size - 2) * from.strides[d];"),
    ("moves", MOVES, "low < 0 ? (-low + step - 1) / step : 0", "low < 0 ? -low / step + 1 : 0"),
    ("moves", MOVES, "last / step + 1)", "last / step)"),
    ("moves", MOVES, "to.base += static_cast<int64_t>(low + first * step) * to.strides[d];",
     "to.base += static_cast<int64_t>(low) * to.strides[d];"),
    ("moves", MOVES, "from.strides[dimensions[i]] = operand_strides_[i];",
     "from.strides[dimensions[i]] = operand_strides_[0];"),
    ("moves", MOVES, "std::clamp<int64_t>(start, 0, limits_[d]) * strides_[d]",
     "std::clamp<int64_t>(start, 0, limits_[d]) * strides_[0]"),
    ("moves", MOVES, "    stride *= shape.size(d);", "    stride *= shape.size(d) + 1;"),
    ("window", N + "window/window.cc", "results > 1 ? w.stride * from[d] : 0",
     "results > 1 ? w.size * from[d] : 0"),
    ("window", TAP_WINDOW, "p.first == before.first && p.count == before.count", "p.count == before.count"),
    ("window", TAP_WINDOW, "at % plan.stride * plan.pitch + at / plan.stride", "at / plan.stride"),
    ("window", TAP_KERNELS, "out[p * pitch + k] = x[k * stride + p];", "out[p * pitch + k] = x[k * stride];"),
    ("window", TAPS, "tap.base += base_step;", "tap.base += i == 0 ? 0 : base_step;"),
    ("convolution", TAPS, "tap.window += window_step;", "tap.window += i == 0 ? 0 : window_step;"),
    ("convolution", DEPTHWISE, "first += (window[d].size - 1) *", "first += window[d].size *"),
    ("convolution", DEPTHWISE, "row = arrays.result + batch * result_batch_ +", "row = arrays.result +"),
    ("iota", IOTA, "StoreCounts(type_, i, count, elements);",
     "StoreCounts(type_, i == 0 ? 0 : i - 1, count, elements);"),
    ("iota", IOTA, "for (int64_t o = 1; o < outer_; ++o) {", "for (int64_t o = 1; o + 1 < outer_; ++o) {"),
    ("iota", IOTA, "out + (i + k) * inner_ * bytes, inner_);",
     "out + (i + k) * inner_ * bytes, inner_ - 1);"),
    # gather
    ("gather", GATHER, "std::max<int64_t>(operand.dynamic_size(d) - slice_size(d), 0)",
     "std::max<int64_t>(operand.dynamic_size(d) - 1, 0)"),
    ("gather", GATHER, "plan.strides.push_back(operand_strides[d]);",
     "plan.strides.push_back(operand_strides.back());"),
    ("gather", GATHER, "plan.from_strides.push_back(operand_strides[d]);", "plan.from_strides.push_back(operand_strides[operand_strides.size() - 1 - d]);"),
    ("gather", GATHER, "operand_strides[g.operand_batching_dims[k]];",
     "operand_strides[g.operand_batching_dims[0]];"),
    # scatter
    ("scatter", SCATTER, "geometry.limits.push_back(operand.dynamic_size(d) - extents[d]);",
     "geometry.limits.push_back(operand.dynamic_size(d) - 1);"),
    ("scatter", SCATTER, "geometry.window_to.push_back(operand_strides[d]);",
     "geometry.window_to.push_back(operand_strides.back());"),
    ("scatter", SCATTER, "geometry.window_from.push_back(update_strides[i]);",
     "geometry.window_from.push_back(update_strides.back());"),
    ("scatter", SCATTER, "geometry.strides.push_back(operand_strides[d]);",
     "geometry.strides.push_back(operand_strides[0]);"),
    ("scatter", SCATTER, "operand_strides[s.input_batching_dims[k]];",
     "operand_strides[s.input_batching_dims[0]];"),
    # dot
    ("dot", DOT, "{lhs.sizes[d], {lhs.strides[d], rhs.strides[dims.rhs.batch[i]], result_strides[r++]}}", "{lhs.sizes[d], {lhs.strides[d], rhs.strides[dims.lhs.batch[i]], result_strides[r++]}}"),
    ("dot", DOT, "{lhs.sizes[d], {lhs.strides[d], rhs.strides[dims.rhs.contracting[i]], 0}}",
     "{lhs.sizes[d], {lhs.strides[d], rhs.strides[dims.rhs.contracting[0]], 0}}"),
    ("dot", DOT, "box.columns.push_back({rhs.sizes[d], {0, rhs.strides[d], result_strides[r++]}});", "box.columns.push_back({rhs.sizes[d], {0, rhs.strides[dims.rhs.free[0]], result_strides[r++]}});"),
    ("dot", DOT, "box.rows.push_back({lhs.sizes[d], {lhs.strides[d], 0, result_strides[r++]}});", "box.rows.push_back({lhs.sizes[d], {lhs.strides[dims.lhs.free[0]], 0, result_strides[r++]}});"),
    # convolution
    ("convolution", CONVOLUTION, "if (window[d].reversal) g.kernel_base += (window[d].size - 1) * stride;",
     "if (window[d].reversal) g.kernel_base += window[d].size / 2 * stride;"),
    ("convolution", CONVOLUTION, "{{g.groups,\n              {image_step, g.group_features * k[dn.kernel_output_feature],", "{{g.groups,\n              {image_step, k[dn.kernel_output_feature],"),
    ("convolution", CONVOLUTION, "(p.base + i * meet.base_step()) * strides[dn.input_spatial[d]];",
     "(p.base + i) * strides[dn.input_spatial[d]];"),
    ("convolution", CONVOLUTION, "axis.at[o * axis.window + p.first + i * meet.window_step()]",
     "axis.at[o * axis.window + p.first + i]"),
    ("convolution", CONVOLUTION, "batch_groups > 1 ? batches * x[dn.input_batch]",
     "batch_groups > 1 ? x[dn.input_batch]"),
    # windows
    ("window", AXIS, "Int low = c >= 0 ? Int(0) : (-c + factor - 1) / factor;",
     "Int low = c >= 0 ? Int(0) : -c / factor;"),
    ("window", AXIS, "if (high > limit - 1) high = limit - 1;",
     "if (high > limit - 2 && limit > 1) high = limit - 2;"),
    ("window", AXIS, "result.base = static_cast<int64_t>((c + low * factor) / dilation);",
     "result.base = static_cast<int64_t>((c + low) / dilation);"),
    ("window", GRID, "if (d < last) grid.lines_ *= output_sizes[d];",
     "if (d < last) grid.lines_ *= sizes[d];"),
    ("window", LINES, "lines.line_ = {sizes[sliding], w.size, w.stride, w.padding_low, output_sizes[sliding]};", "lines.line_ = {sizes[sliding], w.size, w.stride, w.padding_high, output_sizes[sliding]};"),
    ("window", LINES, "base += p.base * strides_[d];", "base += p.base * strides_[0];"),
    # reduce, and the loops that several families walk by
    ("reduce", REDUCE, "remaining.push_back({size, {strides[d], result_strides[result_sizes.size()]}});",
     "remaining.push_back({size, {strides[d], result_strides[0]}});"),
    ("reduce", REDUCE, "reduced.push_back({size, {strides[d]}});",
     "reduced.push_back({size > 2 ? size - 1 : size, {strides[d]}});"),
    ("reduce", LOOPS, "offsets_[a] -= dim.strides[a] * (dim.size - 1);",
     "offsets_[a] -= dim.strides[a] * dim.size;"),
    # sort, topk
    ("sort", SORT, "words[p]", "words[j]"),
    ("sort", SORT, "line + (ties_reversed_ ? n_ - 1 - j : j) * source.bytes", "line + j * source.bytes"),
    ("sort", TOPK, "selector.Run(operand.data() + r * n * bytes,",
     "selector.Run(operand.data() + r * k * bytes,"),
    ("sort", TOPK, "a.position < b.position;", "a.position > b.position;"),
    # linear algebra
    ("linalg", SOLVE, "forward_(lower_ != transposed_)", "forward_(lower_)"),
    ("linalg", SOLVE, "side_stride_ = left_ ? 1 : n_;", "side_stride_ = left_ ? 1 : sides_;"),
    ("linalg", SOLVE, '!= "NO_TRANSPOSE") != !left_)', '!= "NO_TRANSPOSE"))'),
    # sources of fused loops
    ("fusion", SOURCE, "source.first_ += parts[d].start * strides[d];", "source.first_ += parts[d].start;"),
    ("fusion", SOURCE, "strides[dimensions[i]] = operand_strides[i];",
     "strides[dimensions[i]] = operand_strides[0];"),
    ("fusion", SOURCE, "shape.size(d) == 1 ? 0 : parts[d].stride * strides[d]",
     "shape.size(d) == 1 ? 0 : strides[d]"),
    # LAPACK's calls: tails and bounds of sums, exchanged rows, columns behind each other
    ("lapack", BOUNDED, "for (; k < count; ++k) add(k, 0);", "for (; k + 1 < count; ++k) add(k, 0);"),
    ("lapack", BOUNDED, "static_cast<double>(count + 8) * 0x1p-52",
     "static_cast<double>(count + 8) * 0x1p-82"),
    ("lapack", LU, "p * n_ * parts_, n_ * parts_);", "p * n_ * parts_, n_);"),
    ("lapack", LU, "columns_[1].Set(i * 2 + 1, -u.real());", "columns_[1].Set(i * 2 + 1, u.real());"),
    ("lapack", BATCH, "target + (c * rows + r) * kBytes", "target + (c * columns + r) * kBytes"),
]
