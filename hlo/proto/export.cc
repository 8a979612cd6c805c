// Modules and computations. Computation k has the id k + 1, instruction i of it the
// id (k + 1) << 32 | (i + 1).
#include "hlo/proto/export.h"

#include <limits>
#include <utility>

#include "base/counted.h"
#include "fmt/format.h"
#include "hlo/proto/devices.h"
#include "hlo/proto/hlo.pb.h"
#include "hlo/proto/instruction_writer.h"
#include "hlo/proto/values.h"
#include "hlo/text/name_table.h"
#include "hlo/text/print_order.h"

namespace assay {
namespace {

int64_t IdOf(ComputationId id) { return int64_t{id.value} + 1; }
int64_t IdOf(ComputationId computation, int32_t instruction) {
  return IdOf(computation) << 32 | (int64_t{instruction} + 1);
}

class Exporter {
 public:
  explicit Exporter(const Module& module) : module_(module), fused_(module.computations.size(), false) {}

  absl::StatusOr<std::string> Run() {
    threads_ = print::ExecutionThreads(module_);
    for (const Computation& computation : module_.computations) {
      for (const Instruction& instruction : computation.instructions) {
        if (instruction.opcode != Opcode::kFusion) continue;
        for (const ComputationId id : CalledComputations(instruction)) fused_[id.value] = true;
      }
    }
    for (int32_t c = 0; c < static_cast<int32_t>(module_.computations.size()); ++c) {
      ASSAY_RETURN_IF_ERROR(WriteComputation({c}));
    }
    ASSAY_RETURN_IF_ERROR(WriteHeader());
    if (message_.ByteSizeLong() > std::numeric_limits<int32_t>::max()) {
      return NotSupported(
          {}, fmt::format("a module of {}: a protocol buffer has at most {}",
                          Counted(message_.ByteSizeLong(), "byte"), std::numeric_limits<int32_t>::max()));
    }
    return message_.SerializeAsString();
  }

 private:
  absl::Status WriteComputation(ComputationId id) {
    const Computation& computation = module_.computation(id);
    pb::HloComputationProto* const message = message_.add_computations();
    message->set_name(computation_names_.Unique(computation_names_.Intern(computation.name)));
    message->set_id(IdOf(id));
    message->set_root_id(IdOf(id, computation.root));
    message->set_is_fusion_computation(fused_[id.value]);
    message->set_execution_thread(std::string(threads_[id.value]));
    for (int32_t i = 0; i < static_cast<int32_t>(computation.instructions.size()); ++i) {
      ASSAY_RETURN_IF_ERROR(WriteOne(id, i, message->add_instructions()));
    }
    pb::ProgramShapeProto* const shape = message->mutable_program_shape();
    for (const int32_t parameter : computation.parameters) {
      ASSAY_RETURN_IF_ERROR(
          proto::WriteShape(*computation.instructions[parameter].shape, shape->add_parameters()));
      shape->add_parameter_names(message->instructions(parameter).name());
    }
    return proto::WriteShape(*PrintedShape(computation.root_instruction()), shape->mutable_result());
  }

  absl::Status WriteOne(ComputationId id, int32_t index, pb::HloInstructionProto* message) {
    const Computation& computation = module_.computation(id);
    const Instruction& instruction = computation.instructions[index];
    message->set_name(instruction_names_.Unique(instruction_names_.Intern(instruction.name)));
    message->set_opcode(std::string(Name(instruction.opcode)));
    message->set_id(IdOf(id, index));
    for (const int32_t operand : instruction.operands) message->add_operand_ids(IdOf(id, operand));
    for (const int32_t before : instruction.control_predecessors) {
      message->add_control_predecessor_ids(IdOf(id, before));
    }
    for (const ComputationId called : CalledInOrder(computation, index)) {
      message->add_called_computation_ids(IdOf(called));
    }
    pb::ShapeProto shape;
    absl::Status status = proto::WriteShape(*PrintedShape(instruction), &shape);
    message->set_shape(shape.SerializeAsString());
    if (status.ok()) status = proto::WriteInstruction(computation, instruction, message);
    return status.ok() ? status : WithSuffix(status, fmt::format(" (in '%{}')", instruction.name));
  }

  // A loop's body stands first; an async op after the start calls what the start calls.
  std::vector<ComputationId> CalledInOrder(const Computation& computation, int32_t index) const {
    const Instruction& instruction = computation.instructions[index];
    std::vector<ComputationId> called = CalledComputations(instruction);
    if (instruction.opcode == Opcode::kWhile && called.size() == 2) std::swap(called[0], called[1]);
    if (instruction.opcode == Opcode::kAsyncUpdate || instruction.opcode == Opcode::kAsyncDone) {
      const int32_t start = print::AsyncStartOf(computation, index);
      if (start >= 0 && called.empty()) called = CalledComputations(computation.instructions[start]);
    }
    return called;
  }

  absl::Status WriteHeader() {
    message_.set_name(module_.name);
    message_.set_entry_computation_name(message_.computations(module_.entry.value).name());
    message_.set_entry_computation_id(IdOf(module_.entry));
    message_.set_id(1);
    ASSAY_RETURN_IF_ERROR(WriteEntryLayout(message_.mutable_host_program_shape()));
    if (module_.is_scheduled) WriteSchedule();
    WriteAliases();
    ASSAY_RETURN_IF_ERROR(WriteFrameTables());
    proto::WriteFrontendAttributes(module_.frontend_attributes, message_.mutable_frontend_attributes());
    WriteModuleExtras();
    return absl::OkStatus();
  }

  absl::Status WriteEntryLayout(pb::ProgramShapeProto* message) {
    if (!module_.entry_computation_layout.has_value()) {
      *message = message_.computations(module_.entry.value).program_shape();
    } else {
      for (const Shape& parameter : module_.entry_computation_layout->parameters) {
        ASSAY_RETURN_IF_ERROR(proto::WriteShape(parameter, message->add_parameters()));
      }
      ASSAY_RETURN_IF_ERROR(
          proto::WriteShape(module_.entry_computation_layout->result, message->mutable_result()));
    }
    message->clear_parameter_names();
    for (int i = 0; i < message->parameters_size(); ++i) message->add_parameter_names(fmt::format("p{}", i));
    return absl::OkStatus();
  }

  void WriteSchedule() {
    pb::HloScheduleProto* const schedule = message_.mutable_schedule();
    for (const pb::HloComputationProto& computation : message_.computations()) {
      if (computation.is_fusion_computation()) continue;
      pb::ScheduleEntry* const entry = schedule->add_sequences();
      entry->set_computation_id(computation.id());
      for (const pb::HloInstructionProto& instruction : computation.instructions()) {
        entry->mutable_sequence()->add_instruction_ids(instruction.id());
      }
    }
  }

  void WriteAliases() {
    const auto add = [](const Ints& index, google::protobuf::RepeatedField<int64_t>* list) {
      list->Add(index.begin(), index.end());
    };
    for (const InputOutputAlias& alias : module_.input_output_alias) {
      pb::AliasEntry* const entry = message_.mutable_input_output_alias()->add_entries();
      add(alias.output_index, entry->mutable_output_shape_index());
      entry->set_parameter_number(alias.parameter_number);
      add(alias.parameter_index, entry->mutable_parameter_shape_index());
      entry->set_kind(alias.must_alias ? 2 : 1);
    }
    for (const BufferDonor& donor : module_.buffer_donor) {
      pb::BufferDonorEntry* const entry = message_.mutable_buffer_donor()->add_entries();
      entry->set_parameter_number(donor.parameter_number);
      add(donor.parameter_index, entry->mutable_parameter_shape_index());
    }
  }

  // The text counts parents from 2, and 1 is none; here 0 is none.
  absl::Status WriteFrameTables() {
    const FrameTables& tables = module_.frame_tables;
    if (tables.empty()) return absl::OkStatus();
    pb::StackFrameIndexProto* const index = message_.mutable_stack_frame_index();
    for (const std::string& name : tables.file_names) index->add_file_names(name);
    for (const std::string& name : tables.function_names) index->add_function_names(name);
    absl::Status status;
    const auto narrow = [&status](std::string_view field, int64_t value) {
      const auto narrowed = static_cast<int32_t>(value);
      if (narrowed != value && status.ok())
        status =
            NotSupported({}, fmt::format("writing frame tables: {} {} has more than 32 bits", field, value));
      return narrowed;
    };
    for (const FrameTables::Location& l : tables.locations) {
      pb::FileLocation* const added = index->add_file_locations();
      added->set_file_name_id(narrow("file_name_id", l.file_name_id));
      added->set_function_name_id(narrow("function_name_id", l.function_name_id));
      added->set_line(narrow("line", l.line));
      added->set_column(narrow("column", l.column));
      added->set_end_line(narrow("end_line", l.end_line));
      added->set_end_column(narrow("end_column", l.end_column));
    }
    for (const FrameTables::Frame& frame : tables.frames) {
      pb::StackFrame* const added = index->add_stack_frames();
      added->set_file_location_id(narrow("file_location_id", frame.file_location_id));
      added->set_parent_frame_id(narrow("parent_frame_id", frame.parent_frame_id - 1));
    }
    return status;
  }

  void WriteModuleExtras() {
    pb::HloModuleConfigProto config;
    if (module_.replica_count != 1) config.set_replica_count(module_.replica_count);
    if (module_.num_partitions != 1) config.set_num_partitions(module_.num_partitions);
    config.set_alias_passthrough_params(module_.alias_passthrough_params);
    for (const bool allow : module_.allow_spmd_sharding_propagation_to_output) {
      config.add_allow_spmd_sharding_propagation_to_output(allow);
    }
    for (const bool allow : module_.allow_spmd_sharding_propagation_to_parameters) {
      config.add_allow_spmd_sharding_propagation_to_parameters(allow);
    }
    if (config.ByteSizeLong() > 0) *message_.mutable_extras()->mutable_config() = std::move(config);
    if (!module_.origin_recovery_table.empty()) {
      message_.mutable_extras()->set_origin_recovery_table(module_.origin_recovery_table);
    }
    if (!module_.debug_attributes.empty()) {
      message_.mutable_extras()->set_debug_attributes(module_.debug_attributes);
    }
  }

  const Module& module_;
  std::vector<bool> fused_;
  std::vector<std::string_view> threads_;
  NameTable computation_names_, instruction_names_;
  pb::HloModuleProto message_;
};

}  // namespace

absl::StatusOr<std::string> ExportProto(const Module& module) { return Exporter(module).Run(); }

}  // namespace assay
