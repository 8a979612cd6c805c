// Writes the computation that a custom call stands for, instruction by instruction, as HLO text. The text is
// read and verified like any program: what is wrong with a call is found there as the constraint of an op
// that it violates.
#ifndef ASSAY_CUSTOM_XLA_CALL_WRITER_H_
#define ASSAY_CUSTOM_XLA_CALL_WRITER_H_

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hlo/attribute.h"
#include "shape/shape.h"

namespace assay::custom {

// An array in the computation.
struct WrittenArray {
  std::string name;
  ElementType type = ElementType::kF32;
  Ints sizes;
  int64_t rank() const { return static_cast<int64_t>(sizes.size()); }
};

// "1,2", and "{1,2}".
std::string ListText(std::span<const int64_t> numbers);
std::string Braced(std::span<const int64_t> numbers);

class CallWriter {
 public:
  // The operands, static arrays, are the parameters.
  explicit CallWriter(std::span<const Shape> operands);

  int64_t num_operands() const { return static_cast<int64_t>(operands_.size()); }
  const WrittenArray& operand(int64_t i) const { return operands_[static_cast<size_t>(i)]; }

  // An instruction by its opcode; `attributes` as in the text.
  WrittenArray Add(ElementType type, std::span<const int64_t> sizes, std::string_view opcode,
                   std::initializer_list<WrittenArray> operands, std::string_view attributes = {});
  // Elementwise, of the first operand's shape.
  WrittenArray Apply(std::string_view opcode, const WrittenArray& x);
  WrittenArray Apply(std::string_view opcode, const WrittenArray& x, const WrittenArray& y);
  // x op c, c rounded to x's type.
  WrittenArray Apply(std::string_view opcode, const WrittenArray& x, double c);
  WrittenArray Compare(const WrittenArray& x, const WrittenArray& y, std::string_view direction);
  WrittenArray Select(const WrittenArray& pred, const WrittenArray& x, const WrittenArray& y);
  WrittenArray Clamp(const WrittenArray& x, double low, double high);
  // Itself where it has the type.
  WrittenArray Convert(const WrittenArray& x, ElementType type);
  // A scalar, rounded once to the type. Complex numbers have the imaginary part 0.
  WrittenArray Constant(ElementType type, double value, double imaginary = 0);
  WrittenArray Splat(ElementType type, double value, std::span<const int64_t> sizes);
  WrittenArray Broadcast(const WrittenArray& x, std::span<const int64_t> sizes,
                         std::span<const int64_t> dimensions);
  WrittenArray Reshape(const WrittenArray& x, std::span<const int64_t> sizes);
  WrittenArray Transpose(const WrittenArray& x, std::span<const int64_t> permutation);
  WrittenArray Reverse(const WrittenArray& x, std::span<const int64_t> dimensions);
  // Over the dimensions, by "add" from 0 or "maximum" from -infinity.
  WrittenArray Reduce(const WrittenArray& x, std::string_view opcode, std::span<const int64_t> dimensions);

  // A computation that an attribute calls by the name which this gives; `body` are its lines.
  std::string AddComputation(std::string_view body);
  // An instruction as it is written behind "name = "; gives its name.
  std::string AddLine(std::string_view instruction);
  // A part of a tuple.
  WrittenArray Element(std::string_view tuple, int64_t index, const Shape& shape);

  // A module whose entry gives the results: the first, or a tuple of all.
  std::string Text(std::span<const WrittenArray> results, bool is_tuple) const;

 private:
  std::vector<WrittenArray> operands_;
  std::string computations_, lines_;
  int64_t names_ = 0, num_computations_ = 0;
};

}  // namespace assay::custom

#endif  // ASSAY_CUSTOM_XLA_CALL_WRITER_H_
