// Programs made by calls instead of text: XlaBuilder collects instructions, Build checks the whole and
// gives an XlaComputation, which other builders can call and which can be evaluated.
//
// Errors are remembered, not returned: the first one stays in the builder, later calls do nothing and
// return invalid ops, and Build returns it. Nothing here aborts on bad arguments.
#ifndef ASSAY_BUILDER_XLA_BUILDER_H_
#define ASSAY_BUILDER_XLA_BUILDER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "base/hash_map.h"
#include "evaluator/verify.h"
#include "hlo/module.h"

namespace assay::builder {

class XlaBuilder;

// One instruction of a builder. Valid as long as the builder and until its Build.
class XlaOp {
 public:
  XlaOp() = default;  // invalid
  bool valid() const { return builder_ != nullptr && index_ >= 0; }
  XlaBuilder* builder() const { return builder_; }

 private:
  friend class XlaBuilder;
  XlaOp(XlaBuilder* builder, int32_t index, int64_t generation)
      : builder_(builder), index_(index), generation_(generation) {}
  XlaBuilder* builder_ = nullptr;
  int32_t index_ = -1;
  int64_t generation_ = 0;
};

// A finished, verified computation with all that it calls.
class XlaComputation {
 public:
  XlaComputation() = default;  // null
  explicit XlaComputation(VerifiedModule module) : module_(std::move(module)) {}
  bool IsNull() const { return !module_.has_value(); }
  // The computation must not be null.
  const VerifiedModule& verified() const { return *module_; }
  const Module& module() const { return module_->module(); }
  const std::string& name() const { return module().name; }
  ProgramShape GetProgramShape() const;
  std::string ToText() const;

 private:
  std::optional<VerifiedModule> module_;
};

// What an instruction is made of; the shape only where the op's rule can't know it.
struct NewInstruction {
  Opcode opcode;
  std::vector<XlaOp> operands = {};
  AttributeMap attributes = {};
  std::shared_ptr<const Shape> shape = nullptr;
  LiteralPtr literal = nullptr;      // constant
  int64_t parameter_number = 0;      // parameter
  std::string name = {};             // wish; empty: the opcode
  FrontendAttributes frontend = {};  // beside the builder's
  StringOrJson backend_config = {};
};
AttributeMap Attributes(std::vector<AttributeMap::Entry> entries);

// Gives each name once: "add", "add.1", ...
class UniqueNames {
 public:
  std::string Take(const std::string& wish);

 private:
  HashSet<std::string> taken_;
  HashMap<std::string, int64_t> next_suffix_;
};

class XlaBuilder {
 public:
  explicit XlaBuilder(std::string name);
  XlaBuilder(const XlaBuilder&) = delete;
  XlaBuilder& operator=(const XlaBuilder&) = delete;

  const std::string& name() const { return name_; }

  // A builder for a computation that this one will call; it has the same device counts.
  std::unique_ptr<XlaBuilder> CreateSubBuilder(const std::string& name);

  // The computation whose result is `root`, by default the op added last. Afterwards the builder is as new,
  // and its old ops are invalid. Error: the first one remembered, or what verification finds.
  absl::StatusOr<XlaComputation> Build();
  absl::StatusOr<XlaComputation> Build(XlaOp root);
  // Sub-builders use it: an error goes to the parent, and the null computation is returned.
  XlaComputation BuildAndNoteError();

  // Remembers an error, if it is the first, and returns an invalid op.
  XlaOp ReportError(const absl::Status& error);
  void SetError(const absl::Status& error) { ReportError(error); }
  const absl::Status& first_error() const { return first_error_; }
  // The op, or its error remembered; does nothing where there is an error already.
  XlaOp Run(absl::FunctionRef<absl::StatusOr<XlaOp>()> make);

  absl::StatusOr<Shape> GetShape(XlaOp op) const;
  absl::StatusOr<const Shape*> GetShapePtr(XlaOp op) const;
  // Parameters so far, and the shape of `root`.
  absl::StatusOr<ProgramShape> GetProgramShape(XlaOp root) const;

  // Shown on the instructions added from now on.
  void SetOpMetadata(OpMetadata metadata) { metadata_ = std::move(metadata); }
  void ClearOpMetadata() { metadata_ = {}; }
  void SetFrontendAttributes(FrontendAttributes attributes) { frontend_ = std::move(attributes); }
  void ClearFrontendAttributes() { frontend_.clear(); }
  void SetSharding(std::string sharding) { sharding_ = std::move(sharding); }
  void ClearSharding() { sharding_.clear(); }

  // replica_count and num_partitions of the module.
  void SetReplicaCount(int64_t count) { module_.replica_count = replica_count_ = count; }
  void SetPartitionCount(int64_t count) { module_.num_partitions = partition_count_ = count; }
  // What custom calls may mean besides what everybody knows (evaluator/custom_op.h): their shapes are then
  // checked as they are added, and programs of what is built call them.
  void SetCustomOps(std::shared_ptr<const CustomOps> ops) {
    module_.custom_ops = custom_ops_ = std::move(ops);
  }
  // `after` runs after `before`.
  void AddControlPredecessor(XlaOp after, XlaOp before);

  // Used by the operation functions of builder.h.
  absl::StatusOr<XlaOp> Add(const NewInstruction& instruction);
  // The shape that Add would give it.
  absl::StatusOr<Shape> Infer(const NewInstruction& instruction) const;
  absl::StatusOr<ComputationId> Import(const XlaComputation& computation);
  bool IsConstant(XlaOp op) const;
  LiteralPtr ConstantValue(XlaOp op) const;  // of a constant; else null
  // The op after which the next token-less stream op of this kind comes; invalid before the first.
  XlaOp& last_stream_op(Opcode opcode) { return last_stream_ops_[opcode]; }

 private:
  absl::Status CheckOp(XlaOp op) const;
  absl::StatusOr<Instruction> Make(const NewInstruction& instruction) const;
  std::shared_ptr<const InstructionExtras> Extras(const NewInstruction& instruction) const;
  void Reset();

  std::string name_;
  XlaBuilder* parent_ = nullptr;
  int64_t generation_ = 0;  // counts builds
  int64_t replica_count_ = 1, partition_count_ = 1;
  std::shared_ptr<const CustomOps> custom_ops_;
  absl::Status first_error_;
  Module module_;            // the computations called so far
  Computation computation_;  // the one being built
  UniqueNames instruction_names_, computation_names_;
  // Modules are found by their identity, which the shared pointer keeps.
  std::vector<std::pair<std::shared_ptr<const Module>, ComputationId>> imported_;
  HashMap<const Module*, ComputationId> imported_ids_;
  std::map<Opcode, XlaOp> last_stream_ops_;
  OpMetadata metadata_;
  FrontendAttributes frontend_;
  std::string sharding_;
};

}  // namespace assay::builder

#endif  // ASSAY_BUILDER_XLA_BUILDER_H_
