#include "evaluator/work.h"

#include <algorithm>
#include <bit>

namespace assay::work {

double Elements(const Shape& shape) {
  if (shape.IsArray()) return static_cast<double>(shape.num_elements());
  double sum = 0;
  for (const Shape& element : shape.elements()) sum += Elements(element);
  return sum;
}

double ElementsOfFirst(const Shape& shape) {
  if (!shape.IsTuple()) return shape.IsArray() ? static_cast<double>(shape.num_elements()) : 0;
  return shape.elements().empty() ? 0 : ElementsOfFirst(shape.element(0));
}

double BytesOf(const Shape& shape) { return static_cast<double>(shape.TotalBytes()); }

double OperandBytes(const InstructionView& view, size_t first) {
  double bytes = 0;
  const auto begin = view.instruction.operands.begin();
  for (size_t k = first; k < view.num_operands(); ++k) {
    const auto at = begin + static_cast<std::ptrdiff_t>(k);
    if (std::find(begin, at, *at) == at) bytes += BytesOf(view.operand(k));
  }
  return bytes;
}

double Largest(const InstructionView& view) {
  double largest = Elements(view.result());
  for (size_t k = 0; k < view.num_operands(); ++k) largest = std::max(largest, Elements(view.operand(k)));
  return largest;
}

double Size(const Shape& shape, int64_t d) {
  return static_cast<double>(std::max<int64_t>(shape.size(d), 0));
}

double Sizes(const InstructionView& view, size_t operand, Attr dimensions) {
  double product = 1;
  for (int64_t d : view.attributes().List(dimensions)) product *= Size(view.operand(operand), d);
  return product;
}

double WindowSize(const InstructionView& view) {
  double size = 1;
  for (const WindowDimension& dimension : view.attributes().WindowOf())
    size *= static_cast<double>(dimension.size);
  return size;
}

double CeilLog2(int64_t n) {
  return n <= 1 ? 0 : static_cast<double>(std::bit_width(static_cast<uint64_t>(n - 1)));
}

double ElementsOf(WorkFn work, const InstructionView& view) {
  if (work == None) return 0;
  if (work == Move || work == Elementwise || work == Function) return Largest(view);
  if (work == Part) return Elements(view.result());
  return work(view).elements;
}

Work None(const InstructionView&) { return {}; }

Work Move(const InstructionView& view) {
  return {.elements = Largest(view), .read = OperandBytes(view, 0), .written = BytesOf(view.result())};
}

Work Stream(const InstructionView& view) { return {.elements = Largest(view)}; }

Work Elementwise(const InstructionView& view) {
  Work work = Move(view);
  work.flops = ElementsOfFirst(view.result());
  return work;
}

Work Function(const InstructionView& view) {
  Work work = Move(view);
  work.functions = ElementsOfFirst(view.result());
  return work;
}

Work Part(const InstructionView& view) {
  const double bytes = BytesOf(view.result());
  return {.elements = Elements(view.result()), .read = bytes + OperandBytes(view, 1), .written = bytes};
}

}  // namespace assay::work
