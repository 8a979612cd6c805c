// The operations that a quantized operation becomes: D and Q of docs/spec/quantized.md section 3 in the steps
// of section 6, each of which rounds once.
#ifndef ASSAY_HLO_MLIR_QUANTIZED_WRITER_H_
#define ASSAY_HLO_MLIR_QUANTIZED_WRITER_H_

#include <span>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "base/hash_map.h"
#include "hlo/mlir/ir.h"
#include "hlo/mlir/quantization.h"
#include "literal/element_io.h"

namespace assay::mlir {

// Of a tensor of quantized elements; else null.
const Quantization* QuantizationOf(const Type& type);
// The storage that Q(0.0) gives: the zero point, where the expressed type has it.
int64_t StorageOfZero(const Quantization& type, size_t pair);

// Writes operations behind each other into one region. A value keeps its quantized type; the lowering gives
// all of them their storage types when everything has been written.
class QuantizedWriter {
 public:
  explicit QuantizedWriter(Tree& tree);

  // A region that is being written.
  struct Place {
    int32_t depth = 0;  // of its values
    std::vector<Operation*> operations;
    HashMap<const Value*, Value*> dequantized;  // D of what was asked for before
  };
  // The operations that follow go there, and have the name's place in the file from `from`.
  void Begin(Place* place, const Operation& from);

  Tree& tree() { return tree_; }
  // What the operations since Begin ask for and can't have.
  const absl::Status& status() const { return status_; }

  void Append(Operation* operation) { place_->operations.push_back(operation); }
  // A copy of the operation behind the others, with other operands.
  Operation* AppendWith(const Operation& operation, absl::Span<Value* const> operands);
  Value* Apply(std::string_view name, absl::Span<Value* const> operands, const Type* result,
               absl::Span<const NamedAttribute> attributes = {});
  // The same, for a value that others use already.
  void ApplyTo(Value* result, std::string_view name, absl::Span<Value* const> operands,
               absl::Span<const NamedAttribute> attributes = {});

  // D(q), an array of the expressed type.
  Value* Dequantized(Value* quantized);
  // result = D(q).
  void DequantizeTo(Value* result, Value* quantized);
  // result = Q(real), by the type of `result`.
  void QuantizeTo(Value* result, Value* real);
  // Q(D(q)) in `element`; q itself if that is its type.
  Value* Requantized(Value* quantized, const Type& element);
  // The operation on D of its quantized operands, and Q of its quantized results: of all of them, or of none.
  void ApplyOnReals(const Operation& operation);

  // The type of `tensor` with other elements.
  const Type* TensorOf(ElementType element, const Type& tensor);
  const Type* TensorOf(const Type& element, const Type& tensor);
  // An array like `like` of one integer.
  Value* Integers(ElementType type, int64_t number, Value* like);
  const Type* ElementOf(ElementType type);

 private:
  void NoteNames(const Region& region);
  Operation* NewOperation(std::string_view name, absl::Span<Value* const> operands,
                          absl::Span<const NamedAttribute> attributes);
  const Attribute* Dense(ElementType type, absl::Span<const ScalarValue> values, const Type* tensor);
  Value* Constant(const Attribute* dense);
  Value* Scalar(ElementType type, const ScalarValue& value);
  // What a type has of each pair: s_E, z, z_E.
  enum class Parameter : uint8_t { kScale, kZeroPoint, kExpressedZeroPoint };
  std::vector<ScalarValue> Numbers(Parameter parameter, const Quantization& type) const;
  // The same as an array like `like`.
  Value* Spread(Parameter parameter, const Quantization& type, Value* like);
  const Type* WholeType(ElementType type, const Type& like);
  Value* WithSizesOf(Value* whole, Value* like);
  Value* Difference(Value* quantized);
  NamedAttribute Integer(std::string_view name, int64_t value);

  Tree& tree_;
  Place* place_ = nullptr;
  const Operation* from_ = nullptr;
  absl::Status status_;
  HashMap<absl::string_view, int32_t> names_;  // Operation::name_id
  std::vector<const Type*> elements_;          // by element type
  HashMap<std::pair<const Quantization*, Parameter>, const Attribute*> rows_;
};

}  // namespace assay::mlir

#endif  // ASSAY_HLO_MLIR_QUANTIZED_WRITER_H_
