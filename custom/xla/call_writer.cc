#include "custom/xla/call_writer.h"

#include <algorithm>
#include <limits>

#include "fmt/format.h"
#include "fmt/ranges.h"

namespace assay::custom {
namespace {

std::string ShapeText(ElementType type, std::span<const int64_t> sizes) {
  return fmt::format("{}[{}]", Name(type), ListText(sizes));
}

// The shortest decimal number that is read as this one.
std::string NumberText(ElementType type, double value) {
  if (value != value) return "nan";
  if (type == ElementType::kF64 || type == ElementType::kC128) return fmt::format("{}", value);
  if (IsIntegral(type)) return fmt::format("{}", static_cast<int64_t>(value));
  return fmt::format("{}", static_cast<float>(value));
}

}  // namespace

std::string ListText(std::span<const int64_t> numbers) { return fmt::format("{}", fmt::join(numbers, ",")); }
std::string Braced(std::span<const int64_t> numbers) { return "{" + ListText(numbers) + "}"; }

CallWriter::CallWriter(std::span<const Shape> operands) {
  for (const Shape& shape : operands) {
    operands_.push_back(Add(shape.element_type(), shape.sizes(), "parameter", {}));
  }
}

WrittenArray CallWriter::Add(ElementType type, std::span<const int64_t> sizes, std::string_view opcode,
                             std::initializer_list<WrittenArray> operands, std::string_view attributes) {
  std::vector<std::string_view> names;
  for (const WrittenArray& operand : operands) names.push_back(operand.name);
  const std::string inside =
      opcode == "parameter" ? fmt::format("{}", operands_.size()) : fmt::format("{}", fmt::join(names, ", "));
  WrittenArray result{"", type, Ints(sizes.begin(), sizes.end())};
  result.name = AddLine(fmt::format("{} {}({}){}{}", ShapeText(type, sizes), opcode, inside,
                                    attributes.empty() ? "" : ", ", attributes));
  return result;
}

std::string CallWriter::AddLine(std::string_view instruction) {
  std::string name = fmt::format("v{}", names_++);
  lines_ += fmt::format("  {} = {}\n", name, instruction);
  return name;
}

WrittenArray CallWriter::Element(std::string_view tuple, int64_t index, const Shape& shape) {
  return {AddLine(fmt::format("{} get-tuple-element({}), index={}",
                              ShapeText(shape.element_type(), shape.sizes()), tuple, index)),
          shape.element_type(), Ints(shape.sizes().begin(), shape.sizes().end())};
}

WrittenArray CallWriter::Apply(std::string_view opcode, const WrittenArray& x) {
  return Add(x.type, x.sizes, opcode, {x});
}

WrittenArray CallWriter::Apply(std::string_view opcode, const WrittenArray& x, const WrittenArray& y) {
  return Add(x.type, x.sizes, opcode, {x, y});
}

WrittenArray CallWriter::Apply(std::string_view opcode, const WrittenArray& x, double c) {
  return Apply(opcode, x, Splat(x.type, c, x.sizes));
}

WrittenArray CallWriter::Compare(const WrittenArray& x, const WrittenArray& y, std::string_view direction) {
  return Add(ElementType::kPred, x.sizes, "compare", {x, y}, fmt::format("direction={}", direction));
}

WrittenArray CallWriter::Select(const WrittenArray& pred, const WrittenArray& x, const WrittenArray& y) {
  return Add(x.type, x.sizes, "select", {pred, x, y});
}

WrittenArray CallWriter::Clamp(const WrittenArray& x, double low, double high) {
  return Add(x.type, x.sizes, "clamp", {Constant(x.type, low), x, Constant(x.type, high)});
}

WrittenArray CallWriter::Convert(const WrittenArray& x, ElementType type) {
  return x.type == type ? x : Add(type, x.sizes, "convert", {x});
}

WrittenArray CallWriter::Constant(ElementType type, double value, double imaginary) {
  const std::string number = NumberText(type, value);
  WrittenArray result{"", type, {}};
  result.name = AddLine(
      fmt::format("{}[] constant({})", Name(type),
                  IsComplex(type) ? fmt::format("({}, {})", number, NumberText(type, imaginary)) : number));
  return result;
}

WrittenArray CallWriter::Splat(ElementType type, double value, std::span<const int64_t> sizes) {
  return Broadcast(Constant(type, value), sizes, {});
}

WrittenArray CallWriter::Broadcast(const WrittenArray& x, std::span<const int64_t> sizes,
                                   std::span<const int64_t> dimensions) {
  return Add(x.type, sizes, "broadcast", {x}, "dimensions=" + Braced(dimensions));
}

WrittenArray CallWriter::Reshape(const WrittenArray& x, std::span<const int64_t> sizes) {
  return Add(x.type, sizes, "reshape", {x});
}

WrittenArray CallWriter::Transpose(const WrittenArray& x, std::span<const int64_t> permutation) {
  Ints sizes;
  for (const int64_t d : permutation) sizes.push_back(x.sizes[static_cast<size_t>(d)]);
  return Add(x.type, sizes, "transpose", {x}, "dimensions=" + Braced(permutation));
}

WrittenArray CallWriter::Reverse(const WrittenArray& x, std::span<const int64_t> dimensions) {
  return dimensions.empty() ? x : Add(x.type, x.sizes, "reverse", {x}, "dimensions=" + Braced(dimensions));
}

WrittenArray CallWriter::Reduce(const WrittenArray& x, std::string_view opcode,
                                std::span<const int64_t> dimensions) {
  const std::string scalar = ShapeText(x.type, {});
  const std::string reducer = AddComputation(fmt::format(
      "  a = {0} parameter(0)\n  b = {0} parameter(1)\n  ROOT r = {0} {1}(a, b)\n", scalar, opcode));
  Ints sizes;
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (std::find(dimensions.begin(), dimensions.end(), d) == dimensions.end())
      sizes.push_back(x.sizes[static_cast<size_t>(d)]);
  }
  const double infinity = std::numeric_limits<double>::infinity();
  return Add(x.type, sizes, "reduce", {x, Constant(x.type, opcode == "add" ? 0 : -infinity)},
             fmt::format("dimensions={}, to_apply={}", Braced(dimensions), reducer));
}

std::string CallWriter::AddComputation(std::string_view body) {
  std::string name = fmt::format("f{}", num_computations_++);
  computations_ += fmt::format("{} {{\n{}}}\n\n", name, body);
  return name;
}

std::string CallWriter::Text(std::span<const WrittenArray> results, bool is_tuple) const {
  std::string lines = lines_;
  if (is_tuple) {
    std::vector<std::string> names, shapes;
    for (const WrittenArray& result : results) {
      names.push_back(result.name);
      shapes.push_back(ShapeText(result.type, result.sizes));
    }
    lines += fmt::format("  ROOT result = ({}) tuple({})\n", fmt::join(shapes, ", "), fmt::join(names, ", "));
  } else {
    lines.insert(lines.find(fmt::format("  {} = ", results[0].name)) + 2, "ROOT ");
  }
  return fmt::format("HloModule call\n\n{}ENTRY entry {{\n{}}}\n", computations_, lines);
}

}  // namespace assay::custom
