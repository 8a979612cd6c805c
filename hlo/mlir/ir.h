// A small generic MLIR: operations with operands, attributes and regions, as the text parser (text/parser.h)
// and the bytecode reader (bytecode/reader.h) both produce it, and as import.h turns it into a Module.
//
// Names are StableHLO's ("stablehlo.add", "func.func", "chlo.erf_inv"), attributes are those of the generic
// form, whatever form or version was read. Every region has one block. All nodes live in the Tree's arena and
// point to each other; they are plain data without destructors.
#ifndef ASSAY_HLO_MLIR_IR_H_
#define ASSAY_HLO_MLIR_IR_H_

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "hlo/arena.h"
#include "hlo/mlir/element_names.h"
#include "shape/element_type.h"

namespace assay::mlir {

// A dimension written '?', and "no bound" in a list of bounds.
inline constexpr int64_t kDynamicSize = INT64_MIN;

struct Quantization;  // quantization.h

struct Type {
  enum class Kind : uint8_t {
    kElement,      // f32, i1, complex<f32>: `element`
    kIndex,        // index
    kNone,         // none
    kTensor,       // of element_type, which is kElement, kIndex, kQuantized or kUnsupported
    kToken,        // !stablehlo.token
    kTuple,        // of `inputs`
    kFunction,     // `inputs` to `results`
    kQuantized,    // !quant.uniform<...>: `quantization`
    kUnsupported,  // `text`: a legal type that HLO has not
  };
  Kind kind = Kind::kNone;
  ElementType element = ElementType::kPred;
  int32_t id = 0;      // dense in the tree
  int32_t weight = 1;  // how many types it is written out, see Tree::Weigh
  std::span<const int64_t> sizes;
  std::span<const int64_t> bounds;  // of dynamic dimensions; empty: none
  const Type* element_type = nullptr;
  const Quantization* quantization = nullptr;
  std::span<const Type* const> inputs;
  std::span<const Type* const> results;
  std::string_view text;
};
bool SameType(const Type& a, const Type& b);
std::string ToString(const Type& type);

struct Attribute;
struct NamedAttribute {
  std::string_view name;
  const Attribute* value = nullptr;
};

// What is kept of a location: the outermost name, and the first place in a file.
struct Location {
  std::string_view name;
  std::string_view source_file;
  int64_t line = 0;
  int32_t column = 0;
  int32_t id = 0;  // dense in the tree
};

struct Attribute {
  enum class Kind : uint8_t {
    kUnit,
    kBool,        // integer
    kInteger,     // integer, type (null: i64)
    kFloat,       // real, type (null: f64)
    kString,      // text
    kArray,       // elements
    kDictionary,  // fields
    kType,        // type
    kSymbol,      // text, without '@'
    kIntegers,    // integers: array<i64: ...>, also of i1 and other widths
    kDense,       // type (a tensor), data: elements in bytes, row-major; or one if is_splat
    kWord,        // text: the value of an enumeration, LT
    kStruct,      // text: its name, "gather"; fields
    kLocation,    // location; text: its name
    kAlias,       // text: defined later; none is left when the file has been read
    kOpaque,      // text: an attribute that means nothing to us, as written
  };
  Kind kind = Kind::kUnit;
  bool is_splat = false;
  bool is_open = false;  // kAlias, or holds one
  int32_t weight = 1;    // see Tree::Weigh
  int64_t integer = 0;
  double real = 0;
  const Type* type = nullptr;
  const Location* location = nullptr;
  std::string_view text;
  std::span<const Attribute* const> elements;
  std::span<const NamedAttribute> fields;
  std::span<const int64_t> integers;
  std::span<const std::byte> data;
};
const Attribute* Find(std::span<const NamedAttribute> fields, std::string_view name);

struct Operation;
struct Value {
  const Type* type = nullptr;
  const Operation* owner = nullptr;  // null: a block argument
  int32_t index = 0;                 // among the results or the arguments
  int32_t id = 0;                    // dense in the tree
  int32_t depth = 0;                 // how many regions are around it
};

struct Region {
  std::span<Value> arguments;
  std::span<Operation* const> operations;
  // Values of regions around this one that are used in it or deeper, each once, in order of use.
  std::span<Value* const> captures;
  int32_t depth = 0;  // of the values that it defines
};

struct Operation {
  std::string_view name;
  int32_t name_id = 0;      // dense in the tree: operations of one name, and only those, have one id
  SourcePosition position;  // text only
  size_t offset = 0;        // in the file
  std::span<Value* const> operands;
  std::span<Value> results;
  std::span<const NamedAttribute> attributes;
  std::span<Region> regions;
  const Location* location = nullptr;
  const Attribute* Find(std::string_view attribute) const { return mlir::Find(attributes, attribute); }
};

// What Type(), Attribute() and Operation() hold, in memory that nothing is in yet: field by field, since
// compilers clear objects of this size with a slow string instruction.
inline void Clear(Type* type) {
  type->kind = Type::Kind::kNone;
  type->element = ElementType::kPred;
  type->id = 0;
  type->weight = 1;
  type->sizes = {};
  type->bounds = {};
  type->element_type = nullptr;
  type->quantization = nullptr;
  type->inputs = {};
  type->results = {};
  type->text = {};
}
inline void Clear(Attribute* attribute) {
  attribute->kind = Attribute::Kind::kUnit;
  attribute->is_splat = false;
  attribute->is_open = false;
  attribute->weight = 1;
  attribute->integer = 0;
  attribute->real = 0;
  attribute->type = nullptr;
  attribute->location = nullptr;
  attribute->text = {};
  attribute->elements = {};
  attribute->fields = {};
  attribute->integers = {};
  attribute->data = {};
}
inline void Clear(Operation* operation) {
  operation->name = {};
  operation->name_id = 0;
  operation->position = {};
  operation->offset = 0;
  operation->operands = {};
  operation->results = {};
  operation->attributes = {};
  operation->regions = {};
  operation->location = nullptr;
}

// Of an attribute (sdy.sharding, mhlo.sharding) or an operation (sdy.mesh): it says where values lie.
inline bool IsShardingName(std::string_view name) {
  return name.starts_with("sdy.") || name == "mhlo.sharding";
}

// Of an operation: it computes sizes, or takes them as operands (refine/refine.h).
inline bool IsSizeOperation(std::string_view name) {
  for (const std::string_view dialect : {"arith.", "tensor.", "shape.", "index."}) {
    if (name.starts_with(dialect)) return true;
  }
  for (const std::string_view dynamic :
       {"stablehlo.dynamic_broadcast_in_dim", "stablehlo.dynamic_conv", "stablehlo.dynamic_gather",
        "stablehlo.dynamic_iota", "stablehlo.dynamic_pad", "stablehlo.dynamic_reshape",
        "stablehlo.real_dynamic_slice", "chlo.dynamic_reshape"}) {
    if (name == dynamic) return true;
  }
  return false;
}

// One file. The source must outlive the tree: names are parts of it.
class Tree {
 public:
  explicit Tree(bool is_text) : is_text_(is_text) {}
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  Arena& arena() { return arena_; }
  // Memory for a node or for a few pointers, all of which are aligned to 8: `bytes` is a multiple of that.
  void* Node(size_t bytes) {
    if (bytes > static_cast<size_t>(nodes_end_ - nodes_)) [[unlikely]]
      return NodeFromArena(bytes);
    std::byte* const node = nodes_;
    nodes_ += bytes;
    return node;
  }
  bool is_text() const { return is_text_; }
  Type* NewType(Type::Kind kind);
  Attribute* NewAttribute(Attribute::Kind kind) {
    auto* const attribute = static_cast<Attribute*>(Node(sizeof(Attribute)));
    Clear(attribute);
    attribute->kind = kind;
    return attribute;
  }
  // The next location, which is made later.
  int32_t NewLocationId() { return num_locations_++; }
  Location* NewLocation(const Location& location) { return new (Node(sizeof(Location))) Location(location); }
  Location* NewLocation() { return new (Node(sizeof(Location))) Location{.id = num_locations_++}; }
  std::span<Value> NewValues(size_t count, const Operation* owner, int32_t depth) {
    if (count == 0) return {};
    auto* const values = static_cast<Value*>(arena_.Take(count * sizeof(Value), alignof(Value)));
    for (size_t i = 0; i < count; ++i)
      new (values + i) Value{nullptr, owner, static_cast<int32_t>(i), num_values_++, depth};
    return {values, count};
  }
  Value* NewValue(const Type* type, const Operation* owner, int32_t depth) {
    return new (Node(sizeof(Value))) Value{type, owner, 0, num_values_++, depth};
  }
  int32_t NewName() { return num_names_++; }
  int32_t num_types() const { return num_types_; }
  int32_t num_values() const { return num_values_; }
  int32_t num_locations() const { return num_locations_; }
  int32_t num_names() const { return num_names_; }

  // Types and attributes may share parts, so that a short file can write a huge one. Each is weighed as if it
  // were written out when its parts are there; false: too heavy.
  static constexpr int32_t kMaxWeight = 1 << 20;
  static bool Weigh(Type* type);
  static bool Weigh(Attribute* attribute);

  // The operations of the file; a module is one with a region. Null: none was read.
  Region* top = nullptr;
  // False: no operation has an attribute of this name.
  static constexpr std::string_view kFrontendAttributes = "mhlo.frontend_attributes";
  bool has_frontend_attributes = true;
  // False: there is nothing of the Shardy dialect and no sharding.
  bool has_shardings = false;
  // False: no type has a size '?'; no operation is IsSizeOperation.
  bool has_free_sizes = false;
  bool has_size_operations = false;
  // A type of the file is quantized.
  bool has_quantized = false;
  // The same error with the place of the operation: line and column of a text, "byte N" of bytecode.
  absl::Status WithPlace(const absl::Status& status, const Operation& operation) const;

 private:
  void* NodeFromArena(size_t bytes);

  const bool is_text_;
  Arena arena_;
  std::byte* nodes_ = nullptr;
  std::byte* nodes_end_ = nullptr;
  int32_t num_types_ = 0;
  int32_t num_locations_ = 0;
  int32_t num_values_ = 0;
  int32_t num_names_ = 0;
};

// Elements of less than a byte as they come in files, one a byte with anything in the upper bits, as a
// Literal holds them; i1 becomes 0 or 1.
void NormalizeElements(ElementType type, std::span<std::byte> elements);

// What uses of values leave in each region: Region::captures of every region below `region`.
void FillCaptures(Tree& tree, Region& region);

}  // namespace assay::mlir

#endif  // ASSAY_HLO_MLIR_IR_H_
