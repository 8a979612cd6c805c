#include "engine/element_terms.h"

#include <algorithm>
#include <limits>

#include "evaluator/ops/dot_dims.h"
#include "evaluator/registry.h"
#include "plan/fusion.h"
#include "shape/index.h"

namespace assay {
namespace {

// One instruction, with its shapes at hand.
struct View {
  const Computation& computation;
  const Instruction& instruction;

  const Shape& operand(int64_t i) const { return *computation.instructions[instruction.operands[i]].shape; }
  const Shape& result() const { return *instruction.shape; }
  DimVector Index(int64_t position) const {
    DimVector index(result().rank());
    IndexOfPosition(position, result().sizes(), index);
    return index;
  }
};

const ConvDimensionNumbers& DimensionNumbers(const View& view) {
  return *std::get<std::shared_ptr<const ConvDimensionNumbers>>(
      *view.instruction.attributes.Find(Attr::kDimLabels));
}

// Calls fn with every index of the space `sizes`, in row-major order.
template <typename Fn>
void ForEachIndex(const DimVector& sizes, Fn fn) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return;
  DimVector index(sizes.size(), 0);
  do {
    fn(index);
  } while (NextIndex(sizes, {index.data(), index.size()}));
}

// result[b, i, j] = sum over k of lhs[b, i, k] rhs[b, j, k].
void AddDotTerms(const View& view, const DimVector& index, Terms& terms) {
  const DotDims dims = DotDimsOf(view.instruction.attributes, view.operand(0).rank(), view.operand(1).rank());
  const DimVector strides[2] = {RowMajorStrides(view.operand(0).sizes()),
                                RowMajorStrides(view.operand(1).sizes())};
  const DotSide* const sides[2] = {&dims.lhs, &dims.rhs};
  int64_t base[2] = {0, 0};
  size_t d = 0;
  for (size_t b = 0; b < dims.lhs.batch.size(); ++b, ++d) {
    for (int s = 0; s < 2; ++s) base[s] += index[d] * strides[s][sides[s]->batch[b]];
  }
  for (int s = 0; s < 2; ++s) {
    for (int64_t free : sides[s]->free) base[s] += index[d++] * strides[s][free];
  }
  // The last contracted dimension is a loop of its own, for speed.
  DimVector sizes;
  for (int64_t k : dims.lhs.contracting) sizes.push_back(view.operand(0).size(k));
  const int64_t run = sizes.empty() ? 1 : sizes.back();
  if (!sizes.empty()) sizes.pop_back();
  int64_t count = 0;
  ForEachIndex(sizes, [&](const DimVector& k) {
    for (int s = 0; s < 2; ++s) {
      const auto& contracting = sides[s]->contracting;
      int64_t at = base[s];
      for (size_t i = 0; i < k.size(); ++i) at += k[i] * strides[s][contracting[i]];
      const int64_t step = contracting.empty() ? 0 : strides[s][contracting.back()];
      for (int64_t i = 0; i < run; ++i) terms.operands[s].push_back(at + i * step);
    }
    count += run;
  });
  terms.counts.push_back(count);
}

// ops/convolution.cc has the formula.
void AddConvolutionTerms(const View& view, const DimVector& index, Terms& terms) {
  const ConvDimensionNumbers& dn = DimensionNumbers(view);
  const Window& window = view.instruction.attributes.WindowOf();
  const Shape& image = view.operand(0);
  const Shape& kernel = view.operand(1);
  const int64_t feature_groups = view.instruction.attributes.Int(Attr::kFeatureGroupCount, 1);
  const int64_t batch_groups = view.instruction.attributes.Int(Attr::kBatchGroupCount, 1);
  const int64_t outputs = kernel.size(dn.kernel_output_feature), o = index[dn.output_feature];
  const int64_t group = o / (outputs / (feature_groups * batch_groups));
  const int64_t features = kernel.size(dn.kernel_input_feature);
  const DimVector x = RowMajorStrides(image.sizes()), w = RowMajorStrides(kernel.sizes());
  const int64_t batch =
      index[dn.output_batch] + (batch_groups > 1 ? group * (image.size(dn.input_batch) / batch_groups) : 0);
  const int64_t image_base =
      batch * x[dn.input_batch] + (feature_groups > 1 ? group * features * x[dn.input_feature] : 0);
  DimVector sizes;
  for (const WindowDimension& dimension : window) sizes.push_back(dimension.size);
  int64_t count = 0;
  ForEachIndex(sizes, [&](const DimVector& k) {
    int64_t image_at = image_base, kernel_at = o * w[dn.kernel_output_feature];
    for (size_t d = 0; d < k.size(); ++d) {
      const int64_t q =
          WindowBaseIndex(index[dn.output_spatial[d]], k[d], image.size(dn.input_spatial[d]), window[d]);
      if (q < 0) return;
      image_at += q * x[dn.input_spatial[d]];
      kernel_at += (window[d].reversal ? window[d].size - 1 - k[d] : k[d]) * w[dn.kernel_spatial[d]];
    }
    for (int64_t i = 0; i < features; ++i) {
      terms.operands[0].push_back(image_at + i * x[dn.input_feature]);
      terms.operands[1].push_back(kernel_at + i * w[dn.kernel_input_feature]);
    }
    count += features;
  });
  terms.counts.push_back(count);
}

bool IsReduced(const View& view, int64_t d) {
  const std::span<const int64_t> dims = view.instruction.attributes.List(Attr::kDimensions);
  return std::find(dims.begin(), dims.end(), d) != dims.end();
}

void AddReduceTerms(const View& view, const DimVector& index, Terms& terms) {
  const DimVector strides = RowMajorStrides(view.operand(0).sizes());
  DimVector sizes, reduced;
  int64_t base = 0;
  size_t kept = 0;
  for (int64_t d = 0; d < view.operand(0).rank(); ++d) {
    if (IsReduced(view, d)) {
      sizes.push_back(view.operand(0).size(d));
      reduced.push_back(strides[d]);
    } else {
      base += index[kept++] * strides[d];
    }
  }
  int64_t count = 0;
  ForEachIndex(sizes, [&](const DimVector& k) {
    terms.operands[0].push_back(base + LinearPosition(k, reduced));
    ++count;
  });
  terms.counts.push_back(count);
}

// Where the element stands in operand 0 of a move.
int64_t Source(const View& view, int64_t position) {
  if (view.instruction.opcode == Opcode::kBroadcast && IsRecomputed(view.computation, view.instruction)) {
    const DimVector index = view.Index(position);
    const std::span<const int64_t> dims = view.instruction.attributes.List(Attr::kDimensions);
    const DimVector strides = RowMajorStrides(view.operand(0).sizes());
    int64_t at = 0;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (view.operand(0).size(static_cast<int64_t>(d)) > 1) at += index[dims[d]] * strides[d];
    }
    return at;
  }
  if (view.instruction.opcode == Opcode::kSlice) {
    const DimVector index = view.Index(position);
    const auto& parts = std::get<SliceConfig>(*view.instruction.attributes.Find(Attr::kSlice));
    const DimVector strides = RowMajorStrides(view.operand(0).sizes());
    int64_t at = 0;
    for (size_t d = 0; d < parts.size(); ++d)
      at += (parts[d].start + index[d] * parts[d].stride) * strides[d];
    return at;
  }
  if (view.instruction.opcode == Opcode::kTranspose) {
    const DimVector index = view.Index(position);
    const std::span<const int64_t> dims = view.instruction.attributes.List(Attr::kDimensions);
    const DimVector strides = RowMajorStrides(view.operand(0).sizes());
    int64_t at = 0;
    for (size_t d = 0; d < dims.size(); ++d) at += index[d] * strides[dims[d]];
    return at;
  }
  return position;
}

bool IsStaticArray(const Shape& shape) { return shape.IsArray() && !shape.HasDynamic(); }

}  // namespace

std::optional<TermRule> TermRuleOf(const Computation& computation, const Instruction& instruction) {
  if (!IsStaticArray(*instruction.shape)) return std::nullopt;
  for (int32_t operand : instruction.operands) {
    if (!IsStaticArray(*computation.instructions[operand].shape)) return std::nullopt;
  }
  if (DefinitionOf(instruction.opcode).strip != nullptr) return TermRule::kElementwise;
  switch (instruction.opcode) {
    case Opcode::kIota:
      return TermRule::kIota;
    case Opcode::kTranspose:
    case Opcode::kSlice:
      return TermRule::kMove;
    case Opcode::kDot:
    case Opcode::kConvolution:
      return TermRule::kProducts;
    case Opcode::kReduce:
      return instruction.operands.size() == 2 ? std::optional(TermRule::kReduce) : std::nullopt;
    default:
      if (IsRecomputed(computation, instruction) || KeepsPositions(computation, instruction))
        return TermRule::kMove;
      return std::nullopt;
  }
}

int64_t MostTerms(const Computation& computation, const Instruction& instruction) {
  const View view{computation, instruction};
  const auto rule = TermRuleOf(computation, instruction);
  if (rule == TermRule::kReduce) {
    const int64_t results = view.result().num_elements();
    return results == 0 ? 0 : view.operand(0).num_elements() / results;
  }
  if (rule != TermRule::kProducts) return 1;
  const Shape& rhs = view.operand(1);
  int64_t terms = rhs.num_elements();
  if (instruction.opcode == Opcode::kConvolution) {
    const int64_t outputs = rhs.size(DimensionNumbers(view).kernel_output_feature);
    return outputs == 0 ? 0 : terms / outputs;
  }
  const DotDims dims = DotDimsOf(instruction.attributes, view.operand(0).rank(), rhs.rank());
  terms = 1;
  for (int64_t k : dims.rhs.contracting) {
    if (rhs.size(k) == 0) return 0;
    if (__builtin_mul_overflow(terms, rhs.size(k), &terms)) terms = std::numeric_limits<int64_t>::max();
  }
  return terms;
}

Terms TermsOf(const Computation& computation, const Instruction& instruction,
              std::span<const int64_t> positions) {
  const View view{computation, instruction};
  Terms terms{std::vector<std::vector<int64_t>>(instruction.operands.size()), {}};
  switch (*TermRuleOf(computation, instruction)) {
    case TermRule::kElementwise:
      for (size_t k = 0; k < instruction.operands.size(); ++k) {
        if (view.operand(static_cast<int64_t>(k)).rank() == view.result().rank())
          terms.operands[k].assign(positions.begin(), positions.end());
        else
          terms.operands[k].assign(positions.size(), 0);
      }
      break;
    case TermRule::kMove:
      for (int64_t position : positions) terms.operands[0].push_back(Source(view, position));
      break;
    case TermRule::kIota:
      break;
    case TermRule::kProducts:
      for (int64_t position : positions) {
        if (instruction.opcode == Opcode::kDot)
          AddDotTerms(view, view.Index(position), terms);
        else
          AddConvolutionTerms(view, view.Index(position), terms);
      }
      break;
    case TermRule::kReduce:
      for (int64_t position : positions) AddReduceTerms(view, view.Index(position), terms);
      terms.operands[1] = {0};
      break;
  }
  return terms;
}

}  // namespace assay
