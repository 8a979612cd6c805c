// The export of one module: what the families of operations (export/*.cc) stand on.
//
// HLO passes several values on as a tuple; StableHLO's operations have several operands and results. So
// tuples are taken apart: what an instruction gives is a tree whose leaves are SSA values, `tuple` and
// `get-tuple-element` write nothing, and a loop, branch, call or barrier has an operand and a result for each
// leaf. Where a tuple must be one value (an argument of @main, a result of it inside of
// another tuple, operands of custom calls) it is made by stablehlo.tuple and taken apart by
// stablehlo.get_tuple_element.
//
// Constants are written where a region first uses them, so that no region takes one from outside; the
// importer does the same, and text that was read prints as it was.
#ifndef ASSAY_HLO_MLIR_EXPORT_EXPORTER_H_
#define ASSAY_HLO_MLIR_EXPORT_EXPORTER_H_

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "base/hash_map.h"
#include "hlo/manual_region.h"
#include "hlo/module.h"

namespace assay::mlir {

using NodeId = int32_t;

// What an instruction gives, or a part of it.
struct Node {
  enum class Kind : uint8_t {
    kAbsent,    // StableHLO has no such value: the context of a transfer
    kArgument,  // %argN
    kValue,     // %N, or %N#result
    kConstant,  // written where it is used
    kTuple,     // of `elements`
  };
  Kind kind = Kind::kAbsent;
  int32_t number = 0;
  int32_t result = -1;
  const Shape* shape = nullptr;
  const Literal* literal = nullptr;     // kConstant: its elements, or the one that fills it
  const Instruction* origin = nullptr;  // kConstant: where it stands in HLO
  std::vector<NodeId> elements;
};

// A region or the body of a function, while it is written.
struct Block {
  const Computation* computation = nullptr;
  std::vector<NodeId> nodes;            // of the instructions
  HashMap<NodeId, NodeId> written;      // constants and tuples that stand in this block, as values
  HashMap<int64_t, int32_t> last_recv;  // by device channel: of the last recv-done
  int depth = 0;                        // regions around it
  // Custom calls that say the sharding of a result of the function, which stands in its type instead.
  HashSet<int32_t> results_with_shardings;
};

class OpExport;
using ExportFn = void (*)(OpExport&);
struct ExportRow {
  Opcode opcode;
  ExportFn fn;
};

class Exporter {
 public:
  explicit Exporter(const Module& module);
  absl::StatusOr<std::string> Run();

  const Module& module() const { return module_; }
  std::string& out() { return out_; }
  const Node& node(NodeId id) const { return nodes_[static_cast<size_t>(id)]; }

  NodeId Add(Node node);
  NodeId Tuple(const Shape& shape, std::vector<NodeId> elements);
  // A tree of the shape; `leaf` gives what is no tuple.
  NodeId Tree(const Shape& shape, absl::FunctionRef<NodeId(const Shape&)> leaf);
  // The SSA values of the tree, constants written. False: one of them is absent.
  bool Leaves(Block& block, NodeId id, std::vector<NodeId>* leaves);
  int32_t NewValue() { return num_values_++; }
  // Shapes and literals that the program does not have.
  const Shape& Keep(Shape shape) { return shapes_.emplace_back(std::move(shape)); }
  const Literal& Keep(Literal literal) { return literals_.emplace_back(std::move(literal)); }

  // True the first time: of an asynchronous pair only one may end it.
  bool End(NodeId start) { return ended_.insert(start).second; }

  // The symbol of a function, which is written later.
  std::string_view Function(ComputationId id);
  // '{' ... '}'. A branch takes its parameter from outside: `captured`; else it is -1.
  absl::Status WriteRegion(ComputationId id, NodeId captured, std::string_view terminator,
                           const Block& outer);

  // Shardings (export/sharding.cc).
  std::span<const NamedMesh> meshes() const { return meshes_; }
  // What a region's operation says; lists as text.
  struct RegionForm {
    ManualRegion region;
    std::string axes, in_shardings = "[]", out_shardings = "[]";
  };
  // Null: the call is not that of a manual region, or can't be written as one.
  const RegionForm* FormOf(const Instruction& call) const {
    const auto known = region_forms_.find(&call);
    return known == region_forms_.end() ? nullptr : &known->second;
  }
  bool IsRegion(const Instruction& call) const;
  // Attributes that an operation with results of these types has besides its own: no braces; empty: none.
  // Frontend attributes whose keys start with one of `left_out` are said otherwise.
  std::string DiscardableAttributes(const Instruction& instruction, std::span<const Shape* const> types,
                                    std::span<const std::string_view> left_out) const;

  void Indent(const Block& block) { out_.append(2 * (static_cast<size_t>(block.depth) + 2), ' '); }
  void AppendValue(NodeId id);
  // A tuple of many has its type written once, as !tupleN: each of its elements is
  // taken from it by that type.
  void AppendTypeOf(const Shape& shape);
  void AppendTypes(std::span<const NodeId> ids);

 private:
  absl::Status WriteFunction(ComputationId id);
  void FindEntryAttributes();
  absl::Status WriteParameters(Block& block, bool is_entry);
  absl::Status WriteResults(Block& block, bool is_entry);
  absl::Status WriteInstructions(Block& block);
  absl::Status WriteReturn(Block& block, std::string_view name, std::span<const NodeId> values);
  absl::Status WriteCallOf(Block& block, ComputationId id, const std::vector<NodeId>& arguments,
                           std::string_view terminator);
  NodeId Argument(const Shape& shape);
  NodeId Constant(Block& block, NodeId id);
  void CountRegions();
  bool IsOutlined(ComputationId id, int depth) const;
  std::vector<const Shape*> ResultTypes(const Shape& shape) const;
  void FindMeshes();
  void WriteMeshes();
  std::string ModuleAttributes() const;
  void FindManualRegions(const Computation& computation);
  std::optional<std::string> ShardingOf(const Instruction& instruction,
                                        std::span<const Shape* const> types) const;
  bool Gives(const Instruction& instruction, std::span<const Shape* const> types) const;
  std::vector<int32_t> ResultInstructions(const Computation& computation, bool is_entry) const;
  std::vector<std::string> ResultShardings(Block& block, bool is_entry) const;

  const Module& module_;
  std::string out_;
  std::vector<Node> nodes_;
  HashMap<const Shape*, int64_t> alias_of_;
  HashMap<std::string, int64_t> aliases_;  // by the type's text
  std::string alias_lines_;
  HashMap<int64_t, std::string> entry_attributes_;  // by parameter
  std::deque<Shape> shapes_;
  std::deque<Literal> literals_;
  HashSet<NodeId> ended_;
  std::vector<NamedMesh> meshes_;
  HashMap<const Instruction*, RegionForm> region_forms_;  // by call
  HashSet<const Instruction*> passed_over_;               // the borders of regions and the elements between
  int32_t num_values_ = 0, num_arguments_ = 0;

  std::vector<std::string> function_names_;  // by computation; empty: no function yet
  HashSet<std::string> used_names_;
  HashMap<std::string, int64_t> next_suffix_;
  std::vector<ComputationId> functions_;  // in order of their first use
  std::vector<int32_t> region_uses_;      // by computation
  std::vector<bool> has_regions_;
};

// How an operation's own syntax reads: name prefix operands suffix ':' types.
// Without one the generic form is used.
struct Syntax {
  enum class Types {
    kGeneric,
    kSame,      // one type, if operands and results have the same; else a function type
    kFunction,  // a function type
    kResult,    // that of the result
    // Those of the first two operands, if the second, the third and the result have the same;
    // else a function type.
    kSelect,
  };
  Types types = Types::kGeneric;
  std::string prefix, suffix;
};

// One instruction on its way into text. Operands, properties and regions are gathered,
// then the operation is written.
class OpExport {
 public:
  OpExport(Exporter& into, Block& where, int32_t position)
      : exporter(into),
        block(where),
        hlo(where.computation->instructions[static_cast<size_t>(position)]),
        index(position) {}

  Exporter& exporter;
  Block& block;
  const Instruction& hlo;
  const int32_t index;
  absl::Status status;

  bool ok() const { return status.ok(); }
  // NotSupported, with the instruction's name.
  void Refuse(std::string_view why);

  size_t num_operands() const { return hlo.operands.size(); }
  NodeId Operand(size_t i) const { return block.nodes[static_cast<size_t>(hlo.operands[i])]; }
  const Instruction& OperandInstruction(size_t i) const {
    return block.computation->instructions[static_cast<size_t>(hlo.operands[i])];
  }
  const Shape& OperandShape(size_t i) const { return *OperandInstruction(i).shape; }
  const AttributeMap& attributes() const { return hlo.attributes; }

  // One operand of the operation: a tuple becomes one value.
  void Use(NodeId node);
  // An operand for each leaf.
  void UseLeaves(NodeId node);
  void UseOperands();  // each by UseLeaves

  void Property(std::string_view name, std::string_view value);
  void Flag(std::string_view name, bool value) { Property(name, value ? "true" : "false"); }
  void Unit(std::string_view name);
  void Int(std::string_view name, int64_t value, std::string_view type = "i64");
  void IntList(std::string_view name, std::span<const int64_t> values);
  // Left out where all are `absent`.
  void IntListUnless(int64_t absent, std::string_view name, std::span<const int64_t> values);
  void Enum(std::string_view name, std::string_view enumeration, std::string_view value);
  void Text(std::string_view name, std::string_view value);
  // dense<[[..], ..]> : tensor<NxMxi64>; shorter rows are filled up with -1.
  void Rows(std::string_view name, const IntLists& rows, size_t columns = 0);
  void Region(ComputationId computation, std::string_view terminator = "stablehlo.return") {
    regions_.push_back({computation, -1, terminator});
  }
  void Branch(ComputationId computation, NodeId captured) {
    regions_.push_back({computation, captured, "stablehlo.return"});
  }
  // An attribute that the operation has no field for.
  void Discardable(std::string_view name, std::string_view value);
  // Frontend attributes that the operation says otherwise: their keys start with this.
  void LeaveOutFrontend(std::string_view prefix) { frontend_left_out_.push_back(prefix); }

  // Writes the operation; its results are the shape's leaves.
  NodeId Make(std::string_view name, const Shape& shape, const Syntax& syntax = {});
  // The same with a result for each type, which may be a tuple.
  std::vector<NodeId> MakeEach(std::string_view name, std::span<const Shape* const> types,
                               const Syntax& syntax = {});
  // Writes an operation on one operand while those of another one are gathered.
  NodeId Aside(std::string_view name, const Shape& shape, NodeId operand, const Syntax& syntax);
  // Writes the operation that gives what the instruction gives.
  void Emit(std::string_view name, const Syntax& syntax = {}) { Bind(Make(name, *hlo.shape, syntax)); }
  void Bind(NodeId node);
  // A call with the operands that are used.
  NodeId Call(ComputationId callee, const Shape& shape);
  // A value of a tuple type, taken apart.
  NodeId TakenApart(NodeId value);
  // A scalar in every place of `shape`; of a constant a constant.
  NodeId Broadcast(NodeId scalar, const Shape& shape);
  // Operand i, in the sizes of `like` if it is a scalar.
  NodeId Spread(size_t i, const Shape& like);
  // One value of a tree.
  NodeId Whole(NodeId node);

 private:
  struct RegionText {
    ComputationId computation;
    NodeId captured;
    std::string_view terminator;
  };
  void AppendGeneric(std::string_view name, std::span<const Shape* const> types);
  // {mhlo.frontend_attributes = {...}, ...}; nothing if there are none.
  void AppendDiscardable(std::span<const Shape* const> types);
  void AppendOwn(std::string_view name, const Syntax& syntax, std::span<const Shape* const> types);

  std::vector<NodeId> operands_;
  std::string properties_;
  std::string discardable_;
  std::vector<RegionText> regions_;
  absl::InlinedVector<std::string_view, 2> frontend_left_out_;
  bool is_plain_ = false;  // without location and frontend attributes
};

// loc(...): the place and name of an instruction.
void AppendLocation(const Instruction& instruction, std::string& out);
std::string Upper(std::string_view word);
// False: the call is written as any other (export/sharding.cc).
bool ExportShardingRegion(OpExport& out);
bool ExportShardingCall(OpExport& out);
// Null: StableHLO has no counterpart.
ExportFn FindExport(Opcode opcode);

std::span<const ExportRow> ElementwiseExports();  // export/elementwise.cc
std::span<const ExportRow> ShapeExports();        // export/shape.cc
std::span<const ExportRow> LinalgExports();       // export/linalg.cc
std::span<const ExportRow> ControlExports();      // export/control.cc
std::span<const ExportRow> CallExports();         // export/calls.cc
std::span<const ExportRow> CollectiveExports();   // export/collective.cc

}  // namespace assay::mlir

#endif  // ASSAY_HLO_MLIR_EXPORT_EXPORTER_H_
