// Sorts, top-k, solvers and sparse products as calls. Facts: openxla/xla sort_rewriter and its test, CUB's
// document of DeviceRadixSort, triangular_solve_rewriter, gpusolver_rewriter, xla_data.proto; jaxlib's sparse
// kernels for CPUs, run.
#include <algorithm>
#include <iterator>
#include <utility>

#include "custom/xla/xla_call.h"
#include "fmt/format.h"

namespace assay::custom {
namespace {

// The dense sizes that a result must have.
absl::Status CheckSizes(std::string_view what, std::span<const int64_t> found,
                        std::span<const int64_t> wanted) {
  if (std::equal(found.begin(), found.end(), wanted.begin(), wanted.end())) return absl::OkStatus();
  return InvalidProgram({}, fmt::format("{} has sizes {}, wanted {}", what, Braced(found), Braced(wanted)));
}

std::string ParameterLines(const XlaCall& call) {
  std::string lines;
  for (int64_t i = 0; i < call.num_operands(); ++i) {
    const std::string_view type = Name(call.operands[static_cast<size_t>(i)].element_type());
    lines += fmt::format("  a{0} = {1}[] parameter({2})\n  b{0} = {1}[] parameter({3})\n", i, type, 2 * i,
                         2 * i + 1);
  }
  return lines;
}

// "f32[3], s32[3]" of the operands.
std::string ShapesText(const XlaCall& call) {
  std::string text;
  for (const Shape& shape : call.operands) text += (text.empty() ? "" : ", ") + shape.ToString();
  return text;
}

}  // namespace

// sort(keys), or keys with values beside them, along the last dimension, stable. Floats are in total order
// but for zeros, which are equal whatever their sign. Decision: xla-call-radix-order
CallResults WriteRadixSort(const XlaCall& call) {
  ASSAY_RETURN_IF_ERROR(call.CheckOperands(1, 2));
  ASSAY_ASSIGN_OR_RETURN(const bool descending, call.config.Bool("descending", false));
  CallWriter& write = call.write;
  const WrittenArray& keys = write.operand(0);
  if (keys.rank() == 0) return InvalidProgram({}, "the keys are a scalar");
  if (IsComplex(keys.type))
    return InvalidProgram({}, fmt::format("keys of {} have no order", Name(keys.type)));
  std::string lines = ParameterLines(call);
  std::string_view a = "a0", b = "b0";
  if (IsFloat(keys.type)) {
    lines += fmt::format(
        "  zero = {0}[] constant(0)\n  a_is_zero = pred[] compare(a0, zero), direction=EQ\n"
        "  b_is_zero = pred[] compare(b0, zero), direction=EQ\n  a = {0}[] select(a_is_zero, zero, a0)\n"
        "  b = {0}[] select(b_is_zero, zero, b0)\n",
        Name(keys.type));
    a = "a";
    b = "b";
  }
  lines += fmt::format("  ROOT before = pred[] compare({}, {}), direction={}{}\n", a, b,
                       descending ? "GT" : "LT", IsFloat(keys.type) ? ", type=TOTALORDER" : "");
  const std::string comparator = write.AddComputation(lines);
  const std::string attributes =
      fmt::format("dimensions={{{}}}, is_stable=true, to_apply={}", keys.rank() - 1, comparator);
  if (call.num_operands() == 1)
    return std::vector{write.Add(keys.type, keys.sizes, "sort", {keys}, attributes)};
  const std::string sorted = write.AddLine(
      fmt::format("({}) sort({}, {}), {}", ShapesText(call), keys.name, write.operand(1).name, attributes));
  return std::vector{write.Element(sorted, 0, call.operands[0]), write.Element(sorted, 1, call.operands[1])};
}

// The k largest of the last dimension and where they stand; k is the result's size.
CallResults WriteTopK(const XlaCall& call) {
  ASSAY_RETURN_IF_ERROR(call.CheckOperands(1, 1));
  if (call.num_results() != 2 || call.result_shape(0).rank() == 0 ||
      call.result_shape(1).element_type() != ElementType::kS32) {
    return InvalidProgram(
        {}, fmt::format("the result is {}, wanted (values, s32 indices)", call.result.ToString()));
  }
  CallWriter& write = call.write;
  const std::string both =
      write.AddLine(fmt::format("{} topk({}), k={}, largest=true", call.result.ToString(),
                                write.operand(0).name, call.result_shape(0).sizes().back()));
  return std::vector{write.Element(both, 0, call.result_shape(0)),
                     write.Element(both, 1, call.result_shape(1))};
}

CallResults WriteTriangularSolve(const XlaCall& call) {
  ASSAY_RETURN_IF_ERROR(call.CheckOperands(2, 2));
  ASSAY_ASSIGN_OR_RETURN(const bool left_side, call.config.Bool("left_side", false));
  ASSAY_ASSIGN_OR_RETURN(const bool lower, call.config.Bool("lower", false));
  ASSAY_ASSIGN_OR_RETURN(const bool unit_diagonal, call.config.Bool("unit_diagonal", false));
  ASSAY_ASSIGN_OR_RETURN(std::string transpose, call.config.Word("transpose_a", "NO_TRANSPOSE"));
  constexpr std::string_view kTransposes[] = {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
  bool is_known = false;
  for (size_t i = 1; i < std::size(kTransposes); ++i) {
    if (transpose != kTransposes[i] && transpose != fmt::format("{}", i)) continue;
    transpose = kTransposes[i];
    is_known = true;
    break;
  }
  if (!is_known) return InvalidProgram({}, fmt::format("backend_config has transpose_a = {}", transpose));
  CallWriter& write = call.write;
  return std::vector{write.Add(write.operand(1).type, write.operand(1).sizes, "triangular-solve",
                               {write.operand(0), write.operand(1)},
                               fmt::format("left_side={}, lower={}, unit_diagonal={}, transpose_a={}",
                                           left_side, lower, unit_diagonal, transpose))};
}

// (factor, workspace, info), as LAPACK's potrf gives factor and info.
CallResults WriteCholesky(const XlaCall& call) {
  ASSAY_RETURN_IF_ERROR(call.CheckOperands(1, 1));
  CallWriter& write = call.write;
  const WrittenArray& a = write.operand(0);
  constexpr std::pair<ElementType, char> kLetters[] = {{ElementType::kF32, 's'},
                                                       {ElementType::kF64, 'd'},
                                                       {ElementType::kC64, 'c'},
                                                       {ElementType::kC128, 'z'}};
  char letter = 0;
  for (const auto& [type, of_type] : kLetters) letter = type == a.type ? of_type : letter;
  if (call.num_results() != 3 || letter == 0 || a.rank() < 2) {
    return InvalidProgram({}, fmt::format("{} of {}, wanted (factor, workspace, s32 info) of matrices",
                                          call.result.ToString(), call.operands[0].ToString()));
  }
  ASSAY_ASSIGN_OR_RETURN(const bool lower, call.config.Bool("lower", false));
  const Shape info = Shape::ArrayOrDie(ElementType::kS32, call.operands[0].sizes().first(a.rank() - 2));
  ASSAY_RETURN_IF_ERROR(CheckSizes("info", call.result_shape(2).sizes(), info.sizes()));
  const std::string both = write.AddLine(fmt::format(
      "({}, {}) custom-call({}), custom_call_target=\"lapack_{}potrf_ffi\", "
      "api_version=API_VERSION_TYPED_FFI, "
      "backend_config={{uplo = {} : ui8}}",
      call.operands[0].ToString(), info.ToString(), a.name, letter, static_cast<int>(lower ? 'L' : 'U')));
  const Shape& workspace = call.result_shape(1);
  return std::vector{write.Element(both, 0, call.operands[0]),
                     write.Splat(workspace.element_type(), 0, workspace.sizes()),
                     write.Element(both, 1, info)};
}

// y[i, …] = sum of data[k] x[columns[k], …] over k from starts[i] to starts[i + 1]: each product is rounded,
// then what a scatter adds. Entries behind the last start count nowhere. Decision: xla-call-sparse
CallResults WriteCsrProduct(const XlaCall& call) {
  ASSAY_RETURN_IF_ERROR(call.CheckOperands(4, 4));
  CallWriter& write = call.write;
  const WrittenArray &data = write.operand(0), &starts = write.operand(1), &columns = write.operand(2),
                     &x = write.operand(3);
  if (data.rank() != 1 || columns.sizes != data.sizes || starts.rank() != 1 || starts.sizes[0] < 1 ||
      x.rank() < 1 || x.rank() > 2 || !IsIntegral(starts.type) || columns.type != starts.type ||
      data.type != x.type) {
    return InvalidProgram(
        {}, fmt::format("({}), wanted data[n], starts[rows + 1], columns[n], x", ShapesText(call)));
  }
  const int64_t entries = data.sizes[0], rows = starts.sizes[0] - 1;
  // The row of entry k: how many of the ends starts[1], starts[2], … are at most k.
  const Ints square = {rows, entries};
  const WrittenArray ends =
      write.Add(starts.type, {{rows}}, "slice", {starts}, fmt::format("slice={{[1:{}]}}", rows + 1));
  const WrittenArray k = write.Add(starts.type, square, "iota", {}, "iota_dimension=1");
  const WrittenArray is_behind = write.Compare(write.Broadcast(ends, square, {{0}}), k, "LE");
  const WrittenArray row = write.Reduce(write.Convert(is_behind, starts.type), "add", {{0}});
  // x[columns[k], …] data[k]
  Ints slice = x.sizes, products = x.sizes, y = x.sizes;
  slice[0] = 1;
  products[0] = entries;
  y[0] = rows;
  const bool has_columns = x.rank() == 2;
  const WrittenArray taken = write.Add(
      x.type, products, "gather", {x, columns},
      fmt::format("offset_dims={}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, "
                  "slice_sizes={}",
                  has_columns ? "{1}" : "{}", Braced(slice)));
  const WrittenArray terms = write.Apply("multiply", write.Broadcast(data, products, {{0}}), taken);
  const std::string add = write.AddComputation(fmt::format(
      "  a = {0}[] parameter(0)\n  b = {0}[] parameter(1)\n  ROOT r = {0}[] add(a, b)\n", Name(x.type)));
  return std::vector{write.Add(
      x.type, y, "scatter", {write.Splat(x.type, 0, y), row, terms},
      fmt::format("update_window_dims={}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, "
                  "index_vector_dim=1, to_apply={}",
                  has_columns ? "{1}" : "{}", add))};
}

}  // namespace assay::custom
