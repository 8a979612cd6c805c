// StableHLO portable artifacts, VHLO in MLIR bytecode, to the generic tree (spec/stablehlo-bytecode.md). VHLO
// names become StableHLO's, so that bytecode and text are imported alike.
//
// bytecode_reader.cc: the container. bytecode_ir.cc: operations and regions. bytecode_attributes.cc,
// bytecode_types.cc: dialect encodings. vhlo.{h,cc}: the operations of each version.
#ifndef ASSAY_HLO_MLIR_BYTECODE_READER_H_
#define ASSAY_HLO_MLIR_BYTECODE_READER_H_

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hlo/mlir/bytecode_cursor.h"
#include "hlo/mlir/ir.h"
#include "hlo/mlir/vhlo.h"

namespace assay::mlir {

// Errors: InvalidProgram "byte N: ...". The bytes must outlive the tree.
absl::StatusOr<std::unique_ptr<Tree>> ReadMlirBytecode(std::string_view bytes);

class BytecodeReader {
 public:
  explicit BytecodeReader(std::string_view bytes);
  absl::StatusOr<std::unique_ptr<Tree>> Read();

 private:
  enum class Dialect : uint8_t { kBuiltin, kVhlo, kOther };
  struct Entry {  // of the attribute or type table
    size_t begin = 0, end = 0;
    Dialect dialect = Dialect::kOther;
    bool is_custom = false;
    bool is_open = false;  // being read: a cycle comes back to it
  };
  struct OpName {
    std::string_view name;           // as the tree has it; empty: not known
    std::string_view dialect, text;  // as the file has it
    const VhloOp* vhlo = nullptr;    // of a VHLO operation
    int32_t name_id = -1;            // in the tree; -1: no operation of it has been read
    bool is_registered = true;
    std::string full_name() const { return std::string(dialect).append(1, '.').append(text); }
  };
  struct Range {
    size_t begin = 0, end = 0;
  };
  // The attributes that an entry of the property table stands for. Many operations of a kind share one.
  struct Properties {
    Range range;
    const VhloOp* read_as = nullptr;  // whose attributes have been read; null: nothing has
    std::span<const NamedAttribute> attributes;
  };

  // bytecode_reader.cc
  absl::Status ReadSections();
  absl::Status ReadSection(Cursor& in, uint8_t* id, Range* contents);
  absl::Status ReadStrings();
  absl::Status ReadDialects();
  absl::Status ReadOpNames(Cursor& in, bool has_flags);
  absl::Status ReadOffsets();
  absl::Status ReadOffsetGroups(Cursor& in, size_t count, size_t* at, std::vector<Entry>* entries);
  absl::Status ReadProperties();
  std::string_view String(Cursor& in);
  // The error inside of a table entry says more than that of the place that asked for it.
  void NoteError(absl::Status status);
  absl::Status ErrorOf(const Cursor& in) const;

  // bytecode_attributes.cc. Null where `in` has failed.
  const Attribute* AttributeAt(Cursor& in);
  const Attribute* DecodeAttribute(size_t index);
  const Attribute* OptionalAttribute(Cursor& in);
  void ReadBuiltinAttribute(Cursor& in, uint64_t code, Attribute* attribute);
  void ReadVhloAttribute(Cursor& in, uint64_t code, Attribute* attribute);
  void ReadLocation(Cursor& in, uint64_t code, Attribute* attribute);
  void ReadArray(Cursor& in, Attribute* attribute);
  void ReadDictionary(Cursor& in, Attribute* attribute);
  void ReadInteger(Cursor& in, Attribute* attribute);
  void ReadFloat(Cursor& in, Attribute* attribute);
  void ReadTensor(Cursor& in, Attribute* attribute);
  void ReadPredTensor(Cursor& in, std::string_view blob, int64_t count, Attribute* attribute);
  void ReadEnum(Cursor& in, uint64_t first, std::initializer_list<std::string_view> words,
                Attribute* attribute);
  void ReadAlias(Cursor& in, Attribute* attribute);
  void ReadAccuracy(Cursor& in, Attribute* attribute);
  std::span<const int64_t> ReadSignedList(Cursor& in);
  uint64_t ReadApInt(Cursor& in, int bits);
  double ReadApFloat(Cursor& in, ElementType type);
  const Attribute* Integer(int64_t value);
  const Attribute* Float(double value);
  const Attribute* Integers(std::span<const int64_t> values);

  // bytecode_types.cc
  const Type* TypeAt(Cursor& in);
  const Type* DecodeType(size_t index);
  void ReadBuiltinType(Cursor& in, uint64_t code, Type* type);
  void ReadVhloType(Cursor& in, uint64_t code, Type* type);
  void ReadTensorType(Cursor& in, bool has_encoding, Type* type);
  void ReadQuantizedType(Cursor& in, bool per_axis, Type* type);
  std::span<const Type* const> ReadTypeList(Cursor& in);

  // bytecode_ir.cc
  absl::Status ReadIr();
  absl::Status ReadOperation(Cursor& in, Operation* operation);
  absl::Status ReadAttributes(Cursor& in, uint8_t mask, const OpName& name, Operation* operation);
  absl::Status ReadNativeProperties(Cursor& in, const OpName& name,
                                    std::span<const NamedAttribute>* attributes);
  absl::Status ReadResults(Cursor& in, Operation* operation);
  absl::Status ReadOperands(Cursor& in, Operation* operation);
  absl::Status ReadRegions(Cursor& in, Operation* operation);
  absl::Status ReadRegion(Cursor& in, Region* region);
  absl::Status ReadArguments(Cursor& in, Region* region);
  absl::Status Define(Cursor& in, std::span<Value> values);
  void SkipUseLists(Cursor& in, size_t values);

  std::string_view file_;
  std::unique_ptr<Tree> tree_;
  Arena& arena_;
  uint64_t version_ = 0;
  std::string_view producer_;
  std::array<std::optional<Range>, 9> sections_;
  std::vector<std::string_view> strings_;
  std::vector<Dialect> dialects_;
  std::vector<std::string_view> dialect_names_;
  std::vector<OpName> op_names_;
  std::vector<Entry> attribute_entries_, type_entries_;
  std::vector<const Attribute*> attributes_;
  std::vector<const Type*> types_;
  std::vector<Properties> properties_;
  absl::Status first_error_;
  int nesting_ = 0;

  // Values of the isolated region that is being read, by id; of each region its reserved range.
  std::vector<Value*> values_;
  size_t next_value_ = 0, last_value_ = 0;
  int32_t depth_ = 0;
};

}  // namespace assay::mlir

#endif  // ASSAY_HLO_MLIR_BYTECODE_READER_H_
