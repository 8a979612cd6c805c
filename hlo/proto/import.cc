// Modules and computations. Large messages are taken apart on the wire, and one instruction is decoded at a
// time: a decoded instruction takes hundreds of bytes however few it has in the file.
//
// Decision: proto-order. Operands must stand above their users and computations above their callers, as XLA's
// own reader demands, so that a cycle can't be written. A schedule gives the order of its computations anew.
#include "hlo/proto/import.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "base/counted.h"
#include "fmt/format.h"
#include "hlo/proto/attribute_reader.h"
#include "hlo/proto/hlo.pb.h"
#include "hlo/proto/instruction_reader.h"
#include "hlo/proto/values.h"
#include "hlo/proto/wire.h"
#include "hlo/text/name_table.h"

namespace assay {
namespace {

using proto::Container;

// A name from the file as a message shows it.
std::string Shown(std::string_view name) {
  return fmt::format("'{}'{}", name.substr(0, 100), name.size() > 100 ? "..." : "");
}

class Importer {
 public:
  absl::StatusOr<Module> Run(const Container& container) {
    std::vector<std::string_view> computations;
    std::string rest;
    ASSAY_RETURN_IF_ERROR(
        WithPrefix(proto::SplitMessage(container.module, {{3, &computations}}, &rest), "HloModuleProto"));
    ASSAY_RETURN_IF_ERROR(proto::Decode(rest, "HloModuleProto", &header_));
    reader_.payloads().texts.assign(header_.payloads().begin(), header_.payloads().end());
    ASSAY_RETURN_IF_ERROR(IndexSchedule());
    constexpr size_t kUsual = 256;  // an empty computation of a hostile file is two bytes
    module_.computations.reserve(std::min(computations.size(), kUsual));
    for (const std::string_view computation : computations)
      ASSAY_RETURN_IF_ERROR(ReadComputation(computation));
    ASSAY_RETURN_IF_ERROR(ReadHeader());
    if (!container.config.empty()) ASSAY_RETURN_IF_ERROR(ReadConfigOf(container.config));
    return std::move(module_);
  }

 private:
  absl::Status IndexSchedule() {
    module_.is_scheduled = header_.has_schedule();
    for (const pb::ScheduleEntry& entry : header_.schedule().sequences()) {
      if (!schedule_.emplace(entry.computation_id(), &entry.sequence()).second) {
        return InvalidProgram(
            {}, fmt::format("schedule: computation id {} has two sequences", entry.computation_id()));
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadComputation(std::string_view bytes) {
    instructions_.clear();
    program_shapes_.clear();
    rest_.clear();
    absl::Status status = proto::SplitMessage(bytes, {{2, &instructions_}, {4, &program_shapes_}}, &rest_);
    if (status.ok()) status = proto::Decode(rest_, "HloComputationProto", &computation_);
    if (!status.ok()) return WithPrefix(status, fmt::format("computation {}", module_.computations.size()));
    Computation& computation = module_.computations.emplace_back();
    computation.name = computation_.name();
    status = FillComputation(&computation);
    if (!status.ok()) {
      return WithPrefix(status,
                        fmt::format("computation {} (id {})", Shown(computation.name), computation_.id()));
    }
    computation.name =
        computation_names_.Unique(computation_names_.Intern(computation_names_.Keep(computation_.name())));
    return absl::OkStatus();
  }

  // The last one, from instructions_ and computation_.
  absl::Status FillComputation(Computation* computation) {
    if (computation->name.empty()) return InvalidProgram({}, "name is missing");
    const int64_t id = computation_.id();
    if (id < 0) return InvalidProgram({}, "id is negative");
    if (computations_.contains(id)) {
      return InvalidProgram({}, fmt::format("id {} is also that of computation {}", id,
                                            Shown(module_.computations[computations_[id]].name)));
    }
    if (instructions_.empty()) return InvalidProgram({}, "it has no instructions");
    computation->execution_thread =
        computation_.execution_thread() == "main" ? "" : computation_.execution_thread();
    ids_.Reset(instructions_.size());
    computation->instructions.reserve(instructions_.size());
    instruction_names_.Reserve(instructions_.size());
    for (const std::string_view bytes : instructions_)
      ASSAY_RETURN_IF_ERROR(ReadInstruction(bytes, computation));
    computation->root = ids_.Find(computation_.root_id());
    if (computation->root < 0) {
      return InvalidProgram(
          {}, fmt::format("root_id {} is that of no instruction in it", computation_.root_id()));
    }
    if (const auto sequence = schedule_.find(id); sequence != schedule_.end()) {
      ASSAY_RETURN_IF_ERROR(
          WithPrefix(Reorder(sequence->second->instruction_ids(), computation), "schedule"));
    }
    ASSAY_RETURN_IF_ERROR(FindParameters(computation));
    if (!program_shapes_.empty()) ASSAY_RETURN_IF_ERROR(CheckProgramShape(*computation));
    computations_.emplace(id, static_cast<int32_t>(module_.computations.size()) - 1);
    return absl::OkStatus();
  }

  absl::Status ReadInstruction(std::string_view bytes, Computation* computation) {
    const auto index = static_cast<int32_t>(computation->instructions.size());
    absl::Status status = DecodeInstruction(bytes);
    if (!status.ok()) return WithPrefix(status, fmt::format("instruction {}", index));
    const int64_t id = head_.id;
    Instruction& instruction = computation->instructions.emplace_back();
    status = reader_.Read(head_, instruction_, *computation, ids_, &instruction);
    if (status.ok() && id < 0) status = InvalidProgram({}, "id is negative");
    if (status.ok()) {
      const int32_t known = ids_.Find(id);
      if (!ids_.Add(id, index)) {
        status = InvalidProgram({}, fmt::format("the low 32 bits of its id are also those of instruction {}",
                                                Shown(computation->instructions[known].name)));
      }
    }
    if (!status.ok()) {
      return WithPrefix(
          status, fmt::format("instruction {} (id {}, {})", Shown(head_.name), id, Shown(head_.opcode)));
    }
    // Each name comes once in the module and is legal, as from the text parser.
    instruction.name = instruction_names_.Unique(instruction_names_.Intern(head_.name));
    return absl::OkStatus();
  }

  // Decodes to head_ and instruction_, which is cleared only where something was in it.
  absl::Status DecodeInstruction(std::string_view bytes) {
    absl::Status status = head_.Read(bytes);
    if (status.ok() && head_.rest.empty()) {
      if (!std::exchange(instruction_is_empty_, true)) instruction_.Clear();
      return absl::OkStatus();
    }
    instruction_is_empty_ = false;
    if (status.ok()) status = proto::Decode(head_.rest, "HloInstructionProto", &instruction_);
    if (status.ok()) return absl::OkStatus();
    // What is wrong is said of the whole message.
    const absl::Status whole = proto::Decode(bytes, "HloInstructionProto", &instruction_);
    return whole.ok() ? WithPrefix(status, "HloInstructionProto") : whole;
  }

  // Puts the instructions in the order of the ids.
  absl::Status Reorder(const google::protobuf::RepeatedField<int64_t>& ids, Computation* computation) {
    const auto count = static_cast<int>(computation->instructions.size());
    if (ids.size() != count) {
      return InvalidProgram({}, fmt::format("the sequence has {}, the computation {}",
                                            Counted(ids.size(), "instruction"), count));
    }
    std::vector<int32_t> new_index(count, -1);
    std::vector<Instruction> ordered;
    ordered.reserve(count);
    const auto renumber = [&](auto& indices) {
      for (int32_t& index : indices) {
        if (new_index[index] < 0) return false;
        index = new_index[index];
      }
      return true;
    };
    for (const int64_t id : ids) {
      const int32_t found = ids_.Find(id);
      if (found < 0 || new_index[found] >= 0) {
        return InvalidProgram({},
                              fmt::format("instruction id {} stands twice or is not in the computation", id));
      }
      Instruction& instruction = computation->instructions[found];
      if (!renumber(instruction.operands) || !renumber(instruction.control_predecessors)) {
        return InvalidProgram(
            {}, fmt::format("instruction {} stands before an operand of it", Shown(instruction.name)));
      }
      new_index[found] = static_cast<int32_t>(ordered.size());
      ordered.push_back(std::move(instruction));
    }
    computation->instructions = std::move(ordered);
    computation->root = new_index[computation->root];
    return absl::OkStatus();
  }

  static absl::Status FindParameters(Computation* computation) {
    absl::InlinedVector<std::pair<int64_t, int32_t>, 16> parameters;
    for (size_t i = 0; i < computation->instructions.size(); ++i) {
      const Instruction& instruction = computation->instructions[i];
      if (instruction.opcode != Opcode::kParameter) continue;
      parameters.emplace_back(instruction.parameter_number, static_cast<int32_t>(i));
    }
    std::sort(parameters.begin(), parameters.end());
    computation->parameters.reserve(parameters.size());
    for (size_t i = 0; i < parameters.size(); ++i) {
      const auto [number, index] = parameters[i];
      if (number != static_cast<int64_t>(i)) {
        return InvalidProgram(
            {}, fmt::format("Parameter-C1: parameter {}: parameter_number is {}, want {} (each of 0 "
                            "to {} once)",
                            Shown(computation->instructions[index].name), number, i, parameters.size() - 1));
      }
      computation->parameters.push_back(index);
    }
    return absl::OkStatus();
  }

  // parameters = 1, result = 2: shapes that instructions have, so that most are known by their bytes.
  absl::Status CheckProgramShape(const Computation& computation) {
    std::vector<std::string_view>& parameters = shapes_of_parameters_;
    std::vector<std::string_view>& results = shapes_of_results_;
    parameters.clear();
    results.clear();
    rest_.clear();
    for (const std::string_view part : program_shapes_) {
      ASSAY_RETURN_IF_ERROR(
          WithPrefix(proto::SplitMessage(part, {{1, &parameters}, {2, &results}}, &rest_), "program shape"));
    }
    if (results.empty()) return InvalidProgram({}, "program shape: the result is missing");
    if (parameters.size() != computation.parameters.size()) {
      return InvalidProgram(
          {}, fmt::format("program_shape has {}, the computation {}", Counted(parameters.size(), "parameter"),
                          computation.parameters.size()));
    }
    // `parameter`: its number, or -1 for the result.
    const auto check = [&](std::string_view bytes, const Shape& has, int parameter) -> absl::Status {
      ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<const Shape> said, reader_.ReadShape(bytes));
      if (said.get() == &has || Shape::Compatible(*said, has)) return absl::OkStatus();
      return InvalidProgram({},
                            fmt::format("program_shape: {} is {}, but the instruction has {}",
                                        parameter < 0 ? "the result" : fmt::format("parameter {}", parameter),
                                        said->ToString(), has.ToString()));
    };
    for (size_t i = 0; i < parameters.size(); ++i) {
      const Instruction& parameter = computation.instructions[computation.parameters[i]];
      ASSAY_RETURN_IF_ERROR(check(parameters[i], *parameter.shape, static_cast<int>(i)));
    }
    return check(results.back(), *computation.root_instruction().shape, -1);
  }

  absl::Status ReadHeader() {
    module_.name = header_.name();
    const auto entry = computations_.find(header_.entry_computation_id());
    if (entry == computations_.end()) {
      return InvalidProgram({}, fmt::format("entry_computation_id {} is that of no computation ({} of them)",
                                            header_.entry_computation_id(), module_.computations.size()));
    }
    module_.entry = {entry->second};
    if (header_.has_host_program_shape()) {
      ASSAY_ASSIGN_OR_RETURN(module_.entry_computation_layout,
                             proto::ProgramShapeFrom(header_.host_program_shape()));
    }
    ASSAY_RETURN_IF_ERROR(ReadAliases());
    module_.frontend_attributes = proto::FrontendAttributesFrom(header_.frontend_attributes());
    ReadFrameTables();
    const pb::ModuleExtras& extras = header_.extras();
    module_.origin_recovery_table = extras.origin_recovery_table();
    module_.debug_attributes = extras.debug_attributes();
    return extras.has_config() ? ReadConfig(extras.config()) : absl::OkStatus();
  }

  absl::Status ReadAliases() {
    for (const pb::AliasEntry& entry : header_.input_output_alias().entries()) {
      if (entry.kind() < 0 || entry.kind() > 2 || entry.parameter_number() < 0) {
        return InvalidProgram(
            {}, fmt::format("input_output_alias: kind is {} (want 0 to 2), parameter_number {}", entry.kind(),
                            entry.parameter_number()));
      }
      module_.input_output_alias.push_back(
          {Ints(entry.output_shape_index().begin(), entry.output_shape_index().end()),
           entry.parameter_number(),
           Ints(entry.parameter_shape_index().begin(), entry.parameter_shape_index().end()),
           entry.kind() == 2});
    }
    for (const pb::BufferDonorEntry& entry : header_.buffer_donor().entries()) {
      module_.buffer_donor.push_back({entry.parameter_number(), Ints(entry.parameter_shape_index().begin(),
                                                                     entry.parameter_shape_index().end())});
    }
    return absl::OkStatus();
  }

  // The text counts the frame that a frame has as its parent from 2: 1 is none, as 0 is here.
  void ReadFrameTables() {
    const pb::StackFrameIndexProto& index = header_.stack_frame_index();
    FrameTables& tables = module_.frame_tables;
    tables.file_names.assign(index.file_names().begin(), index.file_names().end());
    tables.function_names.assign(index.function_names().begin(), index.function_names().end());
    for (const pb::FileLocation& l : index.file_locations()) {
      tables.locations.push_back(
          {l.file_name_id(), l.function_name_id(), l.line(), l.end_line(), l.column(), l.end_column()});
    }
    for (const pb::StackFrame& frame : index.stack_frames()) {
      tables.frames.push_back({frame.file_location_id(), int64_t{frame.parent_frame_id()} + 1});
    }
  }

  absl::Status ReadConfigOf(std::string_view bytes) {
    pb::HloModuleConfigProto config;
    ASSAY_RETURN_IF_ERROR(proto::Decode(bytes, "HloModuleConfigProto", &config));
    return ReadConfig(config);
  }

  absl::Status ReadConfig(const pb::HloModuleConfigProto& config) {
    if (config.replica_count() < 0 || config.num_partitions() < 0) {
      return InvalidProgram({}, fmt::format("replica_count is {} and num_partitions {}, want at least 0",
                                            config.replica_count(), config.num_partitions()));
    }
    if (config.replica_count() > 0) module_.replica_count = config.replica_count();
    if (config.num_partitions() > 0) module_.num_partitions = config.num_partitions();
    module_.alias_passthrough_params = config.alias_passthrough_params();
    const auto& output = config.allow_spmd_sharding_propagation_to_output();
    const auto& parameters = config.allow_spmd_sharding_propagation_to_parameters();
    module_.allow_spmd_sharding_propagation_to_output.assign(output.begin(), output.end());
    module_.allow_spmd_sharding_propagation_to_parameters.assign(parameters.begin(), parameters.end());
    return absl::OkStatus();
  }

  pb::HloModuleProto header_;            // without computations
  pb::HloComputationProto computation_;  // without instructions and program shape
  // Parts of the computation that is being read: its instructions,
  // its program shapes and the shapes in these.
  std::vector<std::string_view> instructions_, program_shapes_, shapes_of_parameters_, shapes_of_results_;
  std::string rest_;
  proto::InstructionHead head_;
  pb::HloInstructionProto instruction_;  // what the head has not
  bool instruction_is_empty_ = true;
  Module module_;
  proto::ComputationIds computations_;
  proto::InstructionIds ids_;  // of the computation that is being read
  HashMap<int64_t, const pb::InstructionSequence*> schedule_;
  proto::InstructionReader reader_{computations_};
  NameTable computation_names_, instruction_names_;
};

absl::StatusOr<Literal> ReadArgument(std::string_view bytes) {
  pb::LiteralProto message;
  ASSAY_RETURN_IF_ERROR(proto::Decode(bytes, "LiteralProto", &message));
  return proto::LiteralFrom(message);
}

}  // namespace

bool HoldsProtoModule(std::string_view bytes) { return proto::HoldsModule(bytes); }

absl::StatusOr<Module> ImportProto(std::string_view bytes) {
  ASSAY_ASSIGN_OR_RETURN(const Container container, proto::OpenContainer(bytes));
  return Importer().Run(container);
}

absl::StatusOr<std::optional<Snapshot>> ReadSnapshot(std::string_view bytes) {
  if (!HoldsProtoModule(bytes)) return std::optional<Snapshot>();
  ASSAY_ASSIGN_OR_RETURN(const Container container, proto::OpenContainer(bytes));
  if (container.kind != Container::Kind::kSnapshot) return std::optional<Snapshot>();
  Snapshot snapshot;
  for (const std::string_view argument : container.arguments) {
    absl::StatusOr<Literal> literal = ReadArgument(argument);
    if (!literal.ok()) {
      return WithPrefix(literal.status(), fmt::format("snapshot: argument {}", snapshot.arguments.size()));
    }
    snapshot.arguments.push_back(*std::move(literal));
  }
  if (container.result) {
    absl::StatusOr<Literal> literal = ReadArgument(*container.result);
    if (!literal.ok()) return WithPrefix(literal.status(), "snapshot: result");
    snapshot.result = *std::move(literal);
  }
  return std::optional<Snapshot>(std::move(snapshot));
}

}  // namespace assay
