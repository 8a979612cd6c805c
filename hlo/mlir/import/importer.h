// The import of one tree: what the families of operations (import/*.cc) stand on.
//
// A family is a list of rows: an operation's name and the function that imports it. That function sees one
// operation through OpImport, whose getters report the first error in `status` and then return something
// harmless, so that a function reads like the mapping it states.
#ifndef ASSAY_HLO_MLIR_IMPORT_IMPORTER_H_
#define ASSAY_HLO_MLIR_IMPORT_IMPORTER_H_

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/hash_map.h"
#include "hlo/mlir/import/instruction_names.h"
#include "hlo/mlir/ir.h"
#include "hlo/module.h"
#include "hlo/shared_pool.h"

namespace assay::mlir {

using SharedShape = std::shared_ptr<const Shape>;

// As many operands lie in place, in an Instruction as in OpImport, and need nothing reserved.
inline constexpr size_t kFewOperands = 4;

// A computation that is being built.
struct Scope {
  int32_t serial = 0;
  Computation computation;
  HashMap<int32_t, int32_t> captured;  // instruction of a value from outside, by its id
  // Calls, and the last operation that records or shows values: what the next of those comes after.
  std::vector<int32_t> unordered;
};

// Which counts of devices a module says, be they 1.
struct DeviceCountsSaid {
  bool replicas = false, partitions = false;
};

class OpImport;
using ImportFn = void (*)(OpImport&);
struct ImportRow {
  std::string_view name;
  ImportFn fn;
};

// What the importer asks about an operation's name, found once for each name of a tree.
struct NameFacts {
  enum class Role : uint8_t {
    kUnknown,
    kOther,
    kTerminator,
    kConstant,
    kCall,
    kComposite,
    kCustomCall,
    kRunParallel
  };
  Role role = Role::kUnknown;  // until it was asked for
  ImportFn import = nullptr;   // null: no row has the name
};
NameFacts FactsOf(std::string_view name);  // op_import.cc

// The entry is @main, or the only public function. Functions that it does not reach are left out.
absl::StatusOr<Module> ImportModule(const Tree& tree);

class Importer {
 public:
  explicit Importer(const Tree& tree);
  absl::StatusOr<Module> Run();

  const Tree& tree() const { return tree_; }
  Module& module() { return module_; }
  absl::StatusOr<SharedShape> ShapeOf(const Type& type);
  // The same where it is known already, else null.
  const SharedShape& KnownShape(const Type& type) const { return shapes_[static_cast<size_t>(type.id)]; }
  SharedShape Scalar(ElementType type);
  SharedShape Share(Shape&& shape) { return shape_pool_.New(std::move(shape)); }
  absl::StatusOr<ComputationId> Function(std::string_view symbol) const;
  // The value of a constant's attribute, as a literal of `shape`; a splat as a scalar.
  absl::StatusOr<LiteralPtr> LiteralOf(const Attribute& dense, const SharedShape& shape);

  // The attributes that `build` makes of those of an operation, and of nothing else. Operations of one name
  // that share theirs in the tree, as most of bytecode do, share what was built for the first.
  AttributeMap AttributesOf(const Operation& operation, absl::FunctionRef<AttributeMap()> build);
  // Map({{Attr::kIndex, 3}, ...}); the entries are moved from.
  template <size_t count>
  AttributeMap Map(AttributeMap::Entry (&&entries)[count]) {
    return MapOf(entries);
  }
  AttributeMap MapOf(std::span<AttributeMap::Entry> entries) {
    return entries.empty() ? AttributeMap() : AttributeMap(entries, attribute_pool_);
  }
  // index=`index` of get-tuple-element; dimensions={}.
  AttributeMap TupleIndex(size_t index);
  AttributeMap NoDimensions();

  // Adds an instruction and gives its index.
  int32_t Add(Scope& scope, Opcode opcode, SharedShape shape, std::span<const int32_t> operands,
              AttributeMap&& attributes, const Operation& from);
  void Bind(const Scope& scope, const Value& value, int32_t instruction) {
    bindings_[static_cast<size_t>(value.id)] = {scope.serial, instruction};
  }
  // The instruction of a value in a scope; -1: not defined there.
  int32_t Lookup(const Scope& scope, const Value& value) const {
    const Binding& binding = bindings_[static_cast<size_t>(value.id)];
    if (binding.scope == scope.serial) [[likely]] {
      return binding.instruction;
    }
    return LookupCaptured(scope, value);
  }
  // The same; a constant from outside is built anew in the scope.
  absl::StatusOr<int32_t> Use(Scope& scope, Value& value, int depth = 0);

  absl::Status ImportOperation(Scope& scope, const Operation& operation);
  absl::Status ImportBody(Scope& scope, const Region& region);

  // Computations of regions. kScalars: a parameter for each argument, values from outside must be constants.
  // kState: one parameter, a tuple of the arguments and then the captured values (or the one that there is).
  // kBranch: the same without arguments, and an empty tuple for none.
  enum class Arguments { kScalars, kState, kBranch };
  absl::StatusOr<ComputationId> RegionComputation(const Region& region, Arguments form,
                                                  std::span<Value* const> captured, bool keeps_captured,
                                                  const Operation& from, std::string_view name = "region");
  // What a region needs from outside and must be passed in: its captures but for constants.
  std::vector<Value*> Passed(std::span<const Region> regions) const;

  const NameFacts& Facts(const Operation& operation) const {
    NameFacts& facts = facts_[static_cast<size_t>(operation.name_id)];
    if (facts.role == NameFacts::Role::kUnknown) facts = FactsOf(operation.name);
    return facts;
  }

  Scope NewScope(const Operation& from);
  // The same, for the operations of `region` behind so many parameters.
  Scope NewScope(const Operation& from, const Region& region, size_t num_parameters);
  // Puts the computation into the module.
  ComputationId Finish(Scope& scope, std::string name, int32_t root);

 private:
  struct Binding {
    int32_t scope = 0;
    int32_t instruction = -1;
  };
  struct KnownAttributes {
    const NamedAttribute* fields = nullptr;  // of the tree
    const char* name = nullptr;              // of the operation, where it lies in memory
    AttributeMap built;
  };
  struct KnownSmall {
    const Attribute* dense = nullptr;
    LiteralPtr literal;
  };
  struct FunctionState {
    const Operation* operation = nullptr;
    ComputationId computation;  // once it is imported
    enum class Visit : uint8_t { kNone, kOpen, kDone } visit = Visit::kNone;
  };
  absl::Status FindFunctions(const Region& top);
  absl::Status CheckTopLevel(const Operation& operation);
  // Functions by their index; -1: none of that name.
  int32_t FunctionIndex(std::string_view name) const;
  absl::StatusOr<int32_t> Entry() const;
  absl::StatusOr<std::vector<int32_t>> CallOrder(int32_t entry);
  absl::Status Callees(const Region& region, std::vector<int32_t>* callees) const;
  LiteralPtr& KnownLiteral(const Attribute& dense);
  // How many instructions the operations of a region become, about.
  size_t NumInstructions(const Region& region) const;
  bool IsConstant(const Value& value) const;
  absl::Status ImportFunction(FunctionState& state);
  absl::Status ImportEntryAttributes(const Operation& entry);
  absl::Status ImportLayoutModes(const Operation& entry);
  void SetStorageRange(size_t argument, std::string_view range);
  absl::Status ImportModuleAttributes(const Operation& module);
  // import/tests.cc: the grid of interpreter.run_parallel is that of the module.
  absl::Status SettleProcesses(int32_t entry);
  absl::Status VisitCalled(std::vector<int32_t> roots,
                           absl::FunctionRef<absl::Status(const Operation&)> visit) const;
  absl::StatusOr<int32_t> Root(Scope& scope, const Region& region, std::span<const int32_t> more);
  int32_t LookupCaptured(const Scope& scope, const Value& value) const;
  // import/sharding.cc
  void ImportMesh(const Operation& mesh);
  void SetMeshes();
  void SetModuleFrontend(std::span<const NamedAttribute> fields);
  absl::Status SetShardings(std::span<const NamedAttribute> fields, bool per_value, Instruction* instruction);
  absl::Status SetOperationShardings(Scope& scope, const Operation& operation, size_t first_added);
  absl::Status SetArgumentShardings(Scope& scope, const Operation& function);
  absl::StatusOr<int32_t> ShardedRoot(Scope& scope, const Operation& function);
  void AddExtras(const Operation& from, Instruction* instruction);
  // Null: the location says nothing.
  const std::shared_ptr<const InstructionExtras>& ExtrasOf(const Location& location);
  void SetMetadata(const Location& location, OpMetadata* metadata);

  const Tree& tree_;
  Module module_;
  DeviceCountsSaid said_;
  mutable bool runs_parallel_ = false;  // the entry reaches an interpreter.run_parallel
  std::string meshes_;                  // those of sdy.mesh, "mesh = #sdy.mesh<...>"
  std::vector<SharedShape> shapes_;     // by type id
  std::vector<Binding> bindings_;       // by value id
  std::vector<SharedShape> scalars_;
  HashMap<const Attribute*, LiteralPtr> large_literals_;
  std::array<KnownSmall, 61> small_literals_;  // by a hash of the attribute; the last one of each
  // These go by a location's id, and are of the operations with nothing else to keep.
  std::vector<std::shared_ptr<const InstructionExtras>> location_extras_;
  std::vector<FunctionState> functions_;
  HashMap<absl::string_view, int32_t> function_indices_;  // by name
  mutable std::vector<NameFacts> facts_;                  // by name id
  std::array<KnownAttributes, 64> known_attributes_;      // by a hash of `fields`; the last one of each
  std::vector<AttributeMap> tuple_indices_;
  AttributeMap no_dimensions_;
  SharedPool<InstructionExtras> extras_;
  SharedPool<Shape> shape_pool_;
  SharedPool<AttributeMap::Entries> attribute_pool_;
  TextPool texts_;
  SharedText last_file_;
  int32_t num_scopes_ = 0;
  InstructionNames names_;
};

// One operation on its way into a computation.
class OpImport {
 public:
  OpImport(Importer& into, Scope& where, const Operation& operation)
      : importer(into), scope(where), op(operation) {}

  Importer& importer;
  Scope& scope;
  const Operation& op;
  absl::Status status;
  absl::InlinedVector<int32_t, kFewOperands> operands;  // instructions

  bool ok() const { return status.ok(); }
  [[gnu::cold]] void Fail(absl::Status error);
  [[gnu::cold]] void Invalid(std::string_view message);
  [[gnu::cold]] void Unsupported(std::string_view message);
  [[gnu::cold]] void NotIntegers(const Attribute& attribute, std::string_view name);

  bool Arity(size_t operands, size_t results = 1);
  bool Regions(size_t count);
  size_t num_operands() const { return op.operands.size(); }
  size_t num_results() const { return op.results.size(); }
  const Shape& OperandShape(size_t i);
  const SharedShape& ResultShape(size_t i = 0) {
    if (i < op.results.size()) {
      if (const SharedShape& known = importer.KnownShape(*op.results[i].type); known != nullptr) return known;
    }
    return NewResultShape(i);
  }
  // The result's, or a tuple of the results'.
  SharedShape WholeShape();

  // The fields of the struct `group`, or the operation's attributes where it has none of this name.
  std::span<const NamedAttribute> Fields(std::string_view group);
  // An attribute by its name; `group` names a struct that may hold it ("dot_dimension_numbers").
  const Attribute* Find(std::string_view name, std::string_view group = {});
  const Attribute* Require(std::string_view name, std::string_view group = {});
  bool Bool(std::string_view name, bool absent = false);
  int64_t Int(std::string_view name);
  int64_t Int(std::string_view name, int64_t absent, std::string_view group = {});
  double Float(std::string_view name);
  Ints IntList(std::string_view name, std::string_view group = {});  // empty if absent
  Ints RequiredInts(std::string_view name);
  Ints IntsOf(const Attribute* attribute, std::string_view name);  // empty if absent
  Ints IntsOr(std::string_view name, size_t count, int64_t fill);
  // Rows of a matrix of integers with `columns` columns (0: as the type says).
  IntLists IntRows(std::string_view name, size_t columns);
  // Valid as long as the tree.
  std::string_view Text(std::string_view name, std::string_view absent = {});
  std::string_view EnumWord(std::string_view name, std::string_view absent,
                            std::span<const std::string_view> allowed);
  // Importer::AttributesOf for this operation. `build` may fail: no more is imported then.
  AttributeMap Attributes(absl::FunctionRef<AttributeMap()> build) {
    return importer.AttributesOf(op, build);
  }

  template <size_t count>
  AttributeMap Map(AttributeMap::Entry (&&entries)[count]) {
    return importer.Map(std::move(entries));
  }

  int32_t Add(Opcode opcode, SharedShape shape, absl::Span<const int32_t> inputs,
              AttributeMap&& attributes = {}) {
    return importer.Add(scope, opcode, std::move(shape), inputs, std::move(attributes), op);
  }
  // Adds the instruction that gives the results: all of them as a tuple's elements if there are several.
  void Emit(Opcode opcode, absl::Span<const int32_t> inputs, AttributeMap&& attributes = {});
  // The instruction gives the only result, or a tuple of the results.
  void BindResults(int32_t instruction);
  void BindResult(size_t i, int32_t instruction);
  // The extras of an instruction, to be changed: a copy that no other instruction shares.
  InstructionExtras& OwnExtras(int32_t instruction);
  // A frontend attribute of an instruction.
  void SetFrontend(int32_t instruction, std::string_view key, std::string text, bool is_json = false);
  int32_t TupleElement(int32_t tuple, SharedShape shape, size_t index);
  int32_t Constant(ElementType type, double value);
  // A constant with the value of dense<...>, whose type the caller has checked; a splat is broadcast.
  // -1: refused.
  int32_t DenseConstant(const Attribute& value, const SharedShape& shape);
  int32_t Broadcast(int32_t scalar, const SharedShape& shape);
  std::optional<ComputationId> Body(size_t region = 0);

 private:
  // The shape of a type that was not seen before, or of none.
  const SharedShape& NewResultShape(size_t i);
};

// The integers of array<i64: ..>, [..] or dense<..>.
bool IntegersOf(const Attribute& attribute, Ints* values);
// An attribute as MLIR writes it, for configurations that HLO keeps as text.
// Messages leave out the elements of dense<...>: only with `whole` are they there.
std::string ToString(const Attribute& attribute, bool whole = false);
// The operation that stands for a composite of this name, whatever its decomposition: "" if none does.
std::string_view OperationOfComposite(std::string_view name);

// Direction and type of a comparison; an absent type is that of the operands.
AttributeMap CompareAttributes(OpImport& in);  // import/elementwise.cc

std::span<const ImportRow> ElementwiseRows();  // import/elementwise.cc
std::span<const ImportRow> ShapeRows();        // import/shape.cc
std::span<const ImportRow> LinalgRows();       // import/linalg.cc
std::span<const ImportRow> ControlRows();      // import/control.cc
std::span<const ImportRow> CallRows();         // import/calls.cc
std::span<const ImportRow> CollectiveRows();   // import/collective.cc
std::span<const ImportRow> ChloRows();         // import/chlo.cc
std::span<const ImportRow> DynamicRows();      // import/dynamic.cc
std::span<const ImportRow> ShardingRows();     // import/sharding.cc
std::span<const ImportRow> TestRows();         // import/tests.cc
// The backend_config of a test's custom call ("check.expect_close"), from attributes of the operation; empty
// if the target is no such call or has no fields.
std::string TestCallConfig(const Operation& op, std::string_view target);  // import/tests.cc
// Whether checks, probes or prints stand in a region, or in those inside.
bool HasTests(const Region& region);  // import/tests.cc
// Sets that of a call, if it is not empty, and puts calls that record or show values
// into the order of the text.
void FinishTestCall(OpImport& in, int32_t call, std::string_view target,
                    std::string config);  // import/tests.cc
// Attributes of a custom call in HLO for which StableHLO's has no field;
// they stand in kHloAttributes as HLO text.
inline constexpr std::string_view kHloAttributes = "assay.hlo_attributes";
inline constexpr Attr kHloAttributesOfCalls[] = {
    Attr::kWindow,      Attr::kDimLabels,    Attr::kFeatureGroupCount, Attr::kBatchGroupCount,
    Attr::kPaddingType, Attr::kLiteralValue, Attr::kOperandPrecision,  Attr::kSchedule};
// Whether a CHLO operation is a function of so many operands that becomes a custom call of its name,
// element by element.
bool IsChloFunction(std::string_view name, size_t operands);  // import/chlo.cc

// Whether the order of a group shows in the result of an all-gather, a reduce-scatter, or an all-reduce,
// whose reducer then is none that is associative and commutative to the last bit (sums of floats are exact).
bool ShowsGroupOrder(const Module& module, const Instruction& collective);  // import/collective.cc
// How many devices an all-gather joins, or a reduce-scatter shares its result among, by their shapes; 0:
// they don't say.
int64_t MembersByShape(const Computation& computation, const Instruction& collective);
// The groups of replicas with all their partitions as lists of device ids, where the order of their members
// shows: StableHLO has, for each partition, the replicas of the group; HLO, for each replica, its partitions
// (Decision: stablehlo-group-order). Counts that the module does not say become those that this needs.
absl::Status WriteOutGroups(Module& module, DeviceCountsSaid said);  // import/collective.cc

// False, with an error, where the sizes of the result are known only at run time.
bool HasStaticResult(OpImport& in);  // import/dynamic.cc
// The attributes of a gather, with slice sizes from elsewhere than its own attributes.
AttributeMap GatherAttributes(OpImport& in, Ints slice_sizes);  // import/shape.cc
// A convolution of the first two operands. `padding`: low and high of each dimension; null:
// what the attributes say.
void EmitConvolution(OpImport& in, const Ints* padding);  // import/linalg.cc

}  // namespace assay::mlir

#endif  // ASSAY_HLO_MLIR_IMPORT_IMPORTER_H_
