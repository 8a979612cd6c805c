// StableHLO portable artifacts, VHLO in MLIR bytecode, to the generic tree (docs/spec/stablehlo-bytecode.md).
// VHLO names become StableHLO's, so that bytecode and text are imported alike.
//
// bytecode/reader.cc: the container. bytecode/ir.cc: operations and regions. bytecode/attributes.cc,
// bytecode/locations.cc, bytecode/types.cc: dialect encodings. vhlo.{h,cc}: the operations of each version.
#ifndef ASSAY_HLO_MLIR_BYTECODE_READER_H_
#define ASSAY_HLO_MLIR_BYTECODE_READER_H_

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/hash_map.h"
#include "hlo/mlir/bytecode/cursor.h"
#include "hlo/mlir/bytecode/vhlo.h"
#include "hlo/mlir/ir.h"

namespace assay::mlir {

// Errors: InvalidProgram "byte N: ...". The bytes must outlive the tree.
absl::StatusOr<std::unique_ptr<Tree>> ReadMlirBytecode(std::string_view bytes);

class BytecodeReader {
 public:
  explicit BytecodeReader(std::string_view bytes);
  absl::StatusOr<std::unique_ptr<Tree>> Read();

 private:
  enum class Dialect : uint8_t { kBuiltin, kVhlo, kSdy, kStableHlo, kOther };
  // An entry of the attribute or type table: where it begins, which is where the one before it ends,
  // and what it is in.
  struct Entry {
    uint64_t is_open : 1;  // being read: a cycle comes back to it
    uint64_t dialect : 7;  // kOther too where the dialect has not encoded it, so that only its text is there
    uint64_t begin : 56;
    bool is_of(Dialect wanted) const { return dialect == static_cast<uint64_t>(wanted); }
  };
  struct OpName {
    std::string_view name;           // as the tree has it; empty: not known
    std::string_view dialect, text;  // as the file has it
    const VhloOp* vhlo = nullptr;    // of a VHLO operation
    int32_t name_id = -1;            // in the tree; -1: no operation of it has been read
    bool is_registered = true;
    std::string full_name() const { return std::string(dialect).append(1, '.').append(text); }
  };
  // A value that operations may name, and the deepest open region that has it among its captures; at first
  // that which defines it.
  struct Slot {
    Value* value = nullptr;
    int32_t depth = 0;
  };
  struct Range {
    size_t begin = 0, end = 0;
  };
  using Fields = std::span<const NamedAttribute>;
  // The attributes that an entry of the property table stands for. Many operations of a kind share one.
  struct Properties {
    Range range;
    const VhloOp* read_as = nullptr;  // whose attributes have been read; null: nothing has
    Fields attributes;
  };

  // bytecode/reader.cc
  absl::Status ReadSections();
  absl::Status ReadSection(Cursor& in, uint8_t* id, Range* contents);
  absl::Status ReadStrings();
  absl::Status ReadDialects();
  absl::Status ReadOpNames(Cursor& in, bool has_flags);
  absl::Status ReadOffsets();
  absl::Status ReadOffsetGroups(Cursor& in, size_t count, size_t* at, std::span<Entry> entries);
  absl::Status ReadPropertyRanges();
  std::string_view FullName(const OpName& name);
  std::string_view String(Cursor& in);
  // The error inside of a table entry says more than that of the place that asked for it.
  [[gnu::cold]] void NoteError(absl::Status status);
  absl::Status ErrorOf(const Cursor& in) const;

  // bytecode/attributes.cc. Null where `in` has failed.
  const Attribute* AttributeAt(Cursor& in) {
    const size_t index = in.Index(attributes_.size(), "attribute");
    if (!in.ok()) [[unlikely]]
      return nullptr;
    const Attribute* const attribute = AttributeOf(index);
    if (attribute == nullptr) [[unlikely]]
      FailPart(in, "attribute", index);
    return attribute;
  }
  // Null: it can't be read, and first_error_ says why.
  const Attribute* AttributeOf(size_t index) {
    const Attribute* const known = attributes_[index];
    return known != nullptr ? known : DecodeAttribute(index);
  }
  [[gnu::cold]] static void FailPart(Cursor& in, const char* what, size_t index);
  [[gnu::cold]] static void FailBehind(Cursor& in, const char* what, size_t index, uint64_t code);
  const Attribute* DecodeAttribute(size_t index);
  const Attribute* DecodeTensor(size_t index, ShortNumbers numbers, const Type& type);
  const Attribute* DecodeAnyAttribute(size_t index);
  const Attribute* OptionalAttribute(Cursor& in);
  void ReadBuiltinAttribute(Cursor& in, uint64_t code, Attribute* attribute);
  void ReadVhloAttribute(Cursor& in, uint64_t code, Attribute* attribute);
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

  // bytecode/locations.cc. Null and empty where `in` has failed.
  const Location* LocationAt(Cursor& in) {
    const size_t index = in.Index(locations_.size(), "attribute");
    if (!in.ok()) [[unlikely]]
      return nullptr;
    const Location* const location = LocationOf(index);
    if (location == nullptr) [[unlikely]]
      FailPart(in, "attribute", index);
    return location;
  }
  const Location* LocationOf(size_t index) {
    const Location* const known = locations_[index];
    return known != nullptr ? known : DecodeLocation(index);
  }
  const Location* DecodeLocation(size_t index);
  const Location* LocationInside(size_t index, size_t part);
  const Location* DecodeCallSite(size_t index, ShortNumbers numbers, size_t callee);
  const Location* DecodePlace(size_t index, ShortNumbers numbers, std::string_view file);
  const Location* DecodeAnyLocation(size_t index);
  const Location* AttributeAsLocation(size_t index);
  bool TextOf(size_t index, std::string_view* text) const;
  std::string_view TextAt(Cursor& in);
  void ReadLocation(Cursor& in, uint64_t code, Location* location);
  static bool IsLocation(uint64_t code) { return (code >= 10 && code <= 15) || code == 22; }

  // bytecode/types.cc
  const Type* TypeAt(Cursor& in) {
    const size_t index = in.Index(types_.size(), "type");
    if (!in.ok()) [[unlikely]]
      return nullptr;
    const Type* const type = TypeOf(index);
    if (type == nullptr) [[unlikely]]
      FailPart(in, "type", index);
    return type;
  }
  const Type* TypeOf(size_t index) {
    const Type* const known = types_[index];
    return known != nullptr ? known : DecodeType(index);
  }
  const Type* DecodeType(size_t index);
  const Type* DecodeAnyType(size_t index);
  void ReadBuiltinType(Cursor& in, uint64_t code, Type* type);
  void ReadVhloType(Cursor& in, uint64_t code, Type* type);
  void ReadTensorType(Cursor& in, bool has_encoding, Type* type);
  void ReadQuantizedType(Cursor& in, bool per_axis, Type* type);
  std::span<const Type* const> ReadTypeList(Cursor& in);

  // bytecode/sharding.cc
  bool DecodeShardingProperties(const OpName& name, Range range, Fields* attributes);
  std::string ShardingList(Cursor& in, std::string_view open, std::string_view prefix,
                           std::string_view close);
  std::string ShardingText(Cursor& in, uint64_t code);
  std::string MeshText(Cursor& in);
  std::string FactorsText(Cursor& in, std::string_view open, std::string_view separator,
                          std::string_view close);
  std::string RuleText(Cursor& in);
  std::string DimensionText(Cursor& in);
  void ReadShardingAttribute(Cursor& in, uint64_t code, Attribute* attribute);

  // bytecode/ir.cc. False: failed, `failure_` says why.
  absl::Status ReadIr();
  bool ReadOperation(Cursor& in, Operation* operation);
  [[gnu::cold]] bool RefuseName(const OpName& name, size_t offset);
  [[gnu::cold]] bool RefuseMask(size_t mask, size_t offset);
  bool ReadRare(Cursor& in, size_t mask, Operation* operation);
  int32_t NameId(const OpName& name);
  [[gnu::always_inline]] bool ReadAttributes(Cursor& in, ShortNumbers& numbers, size_t mask,
                                             const OpName& name, Operation* operation);
  Fields ReadDictionaryAt(Cursor& in);
  bool ReadDictionaries(Cursor& in, size_t mask, const OpName& name, Operation* operation);
  bool DecodeProperties(const OpName& name, Properties* properties, Fields* attributes);
  bool DecodeAnyProperties(const OpName& name, Properties* properties, Fields* attributes);
  bool DecodeOtherProperties(const OpName& name, Range range, Fields* attributes);
  [[gnu::cold]] bool RefuseBehind(Cursor& entry, const OpName& name);
  [[gnu::always_inline]] bool ReadResults(Cursor& in, ShortNumbers& numbers, Operation* operation);
  [[gnu::always_inline]] bool ReadOperands(Cursor& in, ShortNumbers& numbers, Operation* operation);
  bool ReadRegions(Cursor& in, Operation* operation);
  bool ReadRegion(Cursor& in, Region* region);
  bool ReadBlock(Cursor& in, Region* region);
  bool ReadArguments(Cursor& in, Region* region);
  bool ReadArgument(Cursor& in, Value* argument);
  bool ReadManyResults(Cursor& in, size_t count, Operation* operation);
  bool Define(Cursor& in, std::span<Value> values);
  [[gnu::cold]] bool RefuseValue(Cursor& in, size_t index);
  [[gnu::cold]] bool RefuseValues(Cursor& in);
  void Capture(size_t slot);
  void CloseCaptures(Region* region);
  void SkipUseLists(Cursor& in, size_t values);
  [[gnu::cold]] bool Refuse(absl::Status status);
  [[gnu::cold]] bool Failed(const Cursor& in);
  [[gnu::cold]] bool FailedPart(Cursor& in, const char* what, size_t index);
  bool Check(const Cursor& in) { return in.ok() || Failed(in); }

  BytecodeFile file_;
  std::unique_ptr<Tree> tree_;
  Arena& arena_;
  Arena tables_;  // what is not the tree's
  uint64_t version_ = 0;
  std::string_view producer_;
  std::array<std::optional<Range>, 9> sections_;
  std::span<std::string_view> strings_;
  std::span<Dialect> dialects_;
  std::span<std::string_view> dialect_names_;
  std::vector<OpName> op_names_;
  std::array<int32_t, kNumVhloNames> vhlo_name_ids_;  // by VhloOp::number; -1: none
  int32_t module_name_id_ = -1;                       // of builtin.module
  HashMap<absl::string_view, int32_t> other_name_ids_;
  std::span<Entry> attribute_entries_, type_entries_;  // and one more, which has the end of the last
  std::span<const Attribute*> attributes_;
  std::span<const Location*> locations_;  // by attribute
  std::span<const Type*> types_;
  std::span<Properties> properties_;
  absl::Status first_error_, failure_;
  int nesting_ = 0;
  size_t sharding_text_ = 0;  // bytes of shardings that were written out

  // Values that may be named: those of the isolated region that is being read, by id from its first; of each
  // region its reserved range.
  std::vector<Slot> slots_;
  size_t first_slot_ = 0, next_slot_ = 0, last_slot_ = 0;
  int32_t depth_ = 0;
  std::vector<std::vector<size_t>> captures_;  // of the open regions, by depth: slots
};

}  // namespace assay::mlir

#endif  // ASSAY_HLO_MLIR_BYTECODE_READER_H_
