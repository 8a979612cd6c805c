#include "pjrt/plugin/compiled_program.h"

#include <algorithm>
#include <charconv>

#include "base/counted.h"
#include "custom/lapack/lapack_ops.h"
#include "evaluator/grid/device_grid.h"
#include "evaluator/ops/control/manual_region.h"
#include "fmt/format.h"
#include "hlo/load/load.h"
#include "hlo/manual_region.h"
#include "hlo/proto/export.h"
#include "hlo/proto/import.h"
#include "hlo/proto/wire.h"
#include "pjrt/plugin/element_types.h"
#include "pjrt/plugin/process_ops.h"
#include "pjrt/plugin/sharded_values.h"
#include "pjrt/plugin/wire_writer.h"

namespace assay::pjrt {
namespace {

constexpr std::string_view kSerializedHead = "assay executable 1\n";

// A field of a message that is a message itself; empty where it is not there.
absl::StatusOr<std::string_view> PayloadOf(std::string_view message, int32_t number) {
  proto::WireReader reader(message);
  proto::WireField field;
  std::string_view payload;
  while (!reader.AtEnd()) {
    ASSAY_RETURN_IF_ERROR(reader.Next(&field));
    if (field.number == number && field.is_bytes) payload = field.payload;
  }
  return payload;
}

// PJRT has no shapes at compilation but the program's own: JAX refines an exported program before it compiles
// it.
absl::StatusOr<Module> WithoutFreeDimensions(absl::StatusOr<Module> module) {
  if (!module.ok() || !HasFreeDimensions(*module)) return module;
  return NotSupported(
      {},
      "the program has free dimensions ('?'): PJRT compiles programs of static shapes (call jax.export's "
      "Exported.call, which refines them, or refine_polymorphic_shapes of jaxlib)");
}

absl::StatusOr<Module> Read(std::string_view format, std::string_view code) {
  if (format == "mlir") {
    const ProgramForm form = FormOfProgram("program.mlir", code);
    if (form == ProgramForm::kStableHloText || form == ProgramForm::kStableHloBytecode)
      return WithoutFreeDimensions(LoadProgram("program.mlir", code));
    return InvalidProgram({}, "a program of format 'mlir' that is neither StableHLO's text nor its bytecode");
  }
  if (format == "hlo") return ImportProto(code);
  if (format == "hlo_with_config") {
    ASSAY_ASSIGN_OR_RETURN(const std::string_view module, PayloadOf(code, 1));
    return ImportProto(module);
  }
  return NotSupported(
      {}, fmt::format("a program of format '{}', want mlir, hlo or hlo_with_config", format.substr(0, 100)));
}

absl::Status AddLeaves(const std::shared_ptr<const Shape>& shape, std::string_view what,
                       std::vector<Leaf>& leaves) {
  if (shape->IsTuple()) {
    for (const Shape& element : shape->elements())
      ASSAY_RETURN_IF_ERROR(AddLeaves({shape, &element}, what, leaves));
    return absl::OkStatus();
  }
  if (!shape->IsArray() && !shape->IsToken())
    return NotSupported({}, fmt::format("{} of shape {}, want arrays and tokens", what, shape->ToString()));
  if (shape->IsArray() && shape->HasDynamic())
    return NotSupported(
        {}, fmt::format("{} of shape {}: sizes that are not known before a run", what, shape->ToString()));
  leaves.push_back({.shape = shape, .local_shape = shape});
  if (shape->IsArray()) leaves.back().minor_to_major = RowMajorOrder(shape->rank());
  return absl::OkStatus();
}

// FNV-1a, twice with different starts: what is compared are programs of one process,
// or of one cache of compilations.
std::string HashOf(std::initializer_list<std::string_view> texts) {
  uint64_t hashes[] = {0xcbf29ce484222325, 0x84222325cbf29ce4};
  for (uint64_t& hash : hashes) {
    for (const std::string_view text : texts) {
      for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
      hash = (hash ^ 0x100) * 0x100000001b3;
    }
  }
  return fmt::format("{:016x}{:016x}", hashes[0], hashes[1]);
}

// The order of each leaf's dimensions, and whether it lies in the host's memory,
// as the entry computation's layout says.
void SetOrders(const Shape& shape, std::span<Leaf> leaves, size_t& next) {
  if (shape.IsTuple()) {
    for (const Shape& element : shape.elements()) SetOrders(element, leaves, next);
    return;
  }
  if (shape.IsArray() && std::ssize(shape.layout().minor_to_major) == shape.rank())
    leaves[next].minor_to_major = shape.layout().minor_to_major;
  constexpr int64_t kHostMemorySpace = 5;  // XLA's number
  if (shape.IsArray() && shape.layout().tail != nullptr &&
      shape.layout().tail->memory_space == kHostMemorySpace)
    leaves[next].memory_kind = "pinned_host";
  ++next;
}

// The kind that the value is placed in, as JAX's calls say it; null: none.
const std::string* PlacementOf(const Computation& computation, int32_t value) {
  for (;;) {
    const Instruction& instruction = computation.instructions[static_cast<size_t>(value)];
    if (instruction.opcode != Opcode::kCustomCall) return nullptr;
    const std::string_view target = instruction.attributes.Text(Attr::kCustomCallTarget);
    if (target == "annotate_device_placement") return FrontendAttribute(instruction, "_xla_buffer_placement");
    if ((target != "Sharding" && target != kFuncResultSharding) || instruction.operands.size() != 1)
      return nullptr;
    value = instruction.operands[0];
  }
}

bool HasRegions(const Module& module) {
  for (const Computation& computation : module.computations) {
    const auto is_border = [&](const Instruction& instruction) {
      return instruction.opcode == Opcode::kCustomCall && IsRegionBorder(computation, instruction);
    };
    if (std::ranges::any_of(computation.instructions, is_border)) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const CompiledProgram>> CompiledProgram::Compile(const Client& client,
                                                                                std::string_view format,
                                                                                std::string_view code,
                                                                                std::string_view options) {
  ASSAY_ASSIGN_OR_RETURN(CompileOptions parsed, CompileOptions::Parse(options));
  ASSAY_ASSIGN_OR_RETURN(Module module, Read(format, code));
  module.custom_ops = OpsOfProcess();
  if (client.options.lapack) module.custom_ops = custom::WithLibraryLapack(std::move(module.custom_ops));
  module.replica_count = parsed.replicas;
  module.num_partitions = parsed.partitions;
  ASSAY_ASSIGN_OR_RETURN(Program program, Program::OfModule(std::move(module)));
  std::shared_ptr<CompiledProgram> compiled(new CompiledProgram(std::move(program)));
  compiled->format = format;
  compiled->code = code;
  compiled->option_bytes = options;
  compiled->options = std::move(parsed);
  ASSAY_ASSIGN_OR_RETURN(compiled->plan, compiled->program.PlanFor(EnginesOf(client.options.engine)));
  ASSAY_RETURN_IF_ERROR(compiled->SetLeaves());
  ASSAY_RETURN_IF_ERROR(compiled->SetMemoryKinds(client));
  ASSAY_RETURN_IF_ERROR(compiled->SetGrid());
  compiled->SetOutputLists();
  compiled->fingerprint = HashOf({format, code, options, client.topology.platform_version});
  return compiled;
}

absl::Status CompiledProgram::SetLeaves() {
  const Computation& entry = module().entry_computation();
  std::vector<size_t> first_leaf;  // of each parameter
  for (const int32_t parameter : entry.parameters) {
    first_leaf.push_back(arguments.size());
    ASSAY_RETURN_IF_ERROR(
        AddLeaves(entry.instructions[static_cast<size_t>(parameter)].shape, "an argument", arguments));
  }
  ASSAY_RETURN_IF_ERROR(AddLeaves(PrintedShape(entry.root_instruction()), "a result", outputs));
  if (const std::optional<ProgramShape>& layout = module().entry_computation_layout; layout.has_value()) {
    size_t next = 0;
    for (const Shape& parameter : layout->parameters) SetOrders(parameter, arguments, next);
    next = 0;
    SetOrders(layout->result, outputs, next);
  }
  // Of parameters that are arrays; parts of tuples are not donated.
  const auto donate = [&](int64_t parameter, const Ints& index) {
    if (!index.empty() || parameter < 0 || parameter >= std::ssize(first_leaf)) return;
    const int32_t number = entry.parameters[static_cast<size_t>(parameter)];
    if (entry.instructions[static_cast<size_t>(number)].shape->IsArray())
      arguments[first_leaf[static_cast<size_t>(parameter)]].donated = true;
  };
  for (const InputOutputAlias& alias : module().input_output_alias)
    donate(alias.parameter_number, alias.parameter_index);
  for (const BufferDonor& donor : module().buffer_donor)
    donate(donor.parameter_number, donor.parameter_index);
  return absl::OkStatus();
}

absl::Status CompiledProgram::SetMemoryKinds(const Client& client) {
  const Computation& entry = module().entry_computation();
  const Instruction& root = entry.root_instruction();
  const bool is_tuple = root.shape->IsTuple();
  if (is_tuple && (root.opcode != Opcode::kTuple || root.operands.size() != outputs.size()))
    return absl::OkStatus();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string* const kind = PlacementOf(entry, is_tuple ? root.operands[i] : entry.root);
    if (kind == nullptr) continue;
    if (MemoryOfKind(*client.device_handles[0], *kind) == nullptr) {
      return InvalidProgram(
          {}, fmt::format("result {} is placed in memory '{}', which devices do not have", i, *kind));
    }
    outputs[i].memory_kind = *kind;
  }
  return absl::OkStatus();
}

absl::Status CompiledProgram::SetGrid() {
  grid = {.replicas = options.replicas, .partitions = options.partitions};
  is_logical = options.partitions > 1 && options.spmd_partitioning;
  if (!is_logical) {
    if (plan->has_collectives && grid.size() > 1) return CheckDevices(module(), grid);
    return absl::OkStatus();
  }
  if (options.replicas > 1) {
    return NotSupported(
        {}, fmt::format("{} of a program to be partitioned, want 1", Counted(options.replicas, "replica")));
  }
  ASSAY_RETURN_IF_ERROR(SetShardings(module(), options.partitions, arguments, outputs));
  if (!HasRegions(module())) {
    grid = {};
    return absl::OkStatus();
  }
  ASSAY_ASSIGN_OR_RETURN(grid,
                         ResolveDeviceGrid(module(), {.replicas = 1, .partitions = options.partitions}));
  return absl::OkStatus();
}

void CompiledProgram::SetOutputLists() {
  for (const Leaf& output : outputs) {
    output_types.push_back(BufferTypeOf(*output.local_shape));
    output_ranks.push_back(0);
    if (output.local_shape->IsArray()) {
      output_ranks.back() = output.local_shape->sizes().size();
      output_dims.insert(output_dims.end(), output.local_shape->sizes().begin(),
                         output.local_shape->sizes().end());
    }
    output_memory_kinds.push_back(output.memory_kind.data());
    output_memory_kind_sizes.push_back(output.memory_kind.size());
  }
}

absl::StatusOr<std::string> CompiledProgram::OptimizedProgram() const {
  ASSAY_ASSIGN_OR_RETURN(std::string bytes, ExportProto(module()));
  if (is_logical) {
    // Fields of HloModuleProto that say how its arguments and results lie:
    // what is appended to a message belongs to it.
    constexpr int32_t kOutputSharding = 12, kParameterSharding = 14, kTupleShardings = 5, kType = 1;
    constexpr uint64_t kTuple = 2;
    WireWriter shardings;
    for (const Leaf& argument : arguments) shardings.Bytes(kParameterSharding, OpShardingBytes(argument));
    if (module().entry_computation().root_instruction().shape->IsTuple()) {
      WireWriter tuple;
      tuple.Varint(kType, kTuple);
      for (const Leaf& output : outputs) tuple.Bytes(kTupleShardings, OpShardingBytes(output));
      shardings.Bytes(kOutputSharding, tuple.bytes());
    } else {
      shardings.Bytes(kOutputSharding, OpShardingBytes(outputs[0]));
    }
    bytes += shardings.bytes();
  }
  // XLA wants the layout of the entry computation in both messages.
  constexpr int32_t kHostProgramShape = 4, kEntryComputationLayout = 1, kUseSpmdPartitioning = 7;
  ASSAY_ASSIGN_OR_RETURN(const std::string_view layout, PayloadOf(bytes, kHostProgramShape));
  WireWriter config;
  config.Bytes(kEntryComputationLayout, layout);
  if (is_logical) config.Varint(kUseSpmdPartitioning, 1);
  config.Varint(4, static_cast<uint64_t>(options.replicas));
  config.Varint(5, static_cast<uint64_t>(options.partitions));
  WireWriter both;
  both.Bytes(1, bytes);
  both.Bytes(2, config.bytes());
  return both.bytes();
}

std::string CompiledProgram::Serialized() const {
  return fmt::format("{}{} {} {}\n{}{}{}", kSerializedHead, format.size(), option_bytes.size(), code.size(),
                     format, option_bytes, code);
}

absl::StatusOr<std::shared_ptr<const CompiledProgram>> CompiledProgram::OfSerialized(
    const Client& client, std::string_view bytes, std::optional<std::string_view> new_options) {
  const absl::Status wrong = InvalidProgram({}, "this is not an executable that Assay serialized");
  if (!bytes.starts_with(kSerializedHead)) return wrong;
  bytes.remove_prefix(kSerializedHead.size());
  size_t sizes[3];
  for (size_t& size : sizes) {
    const auto [end, error] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), size);
    if (error != std::errc() || end == bytes.data() + bytes.size()) return wrong;
    bytes.remove_prefix(static_cast<size_t>(end - bytes.data()) + 1);
    if (size > bytes.size()) return wrong;
  }
  if (sizes[0] + sizes[1] + sizes[2] != bytes.size()) return wrong;
  return Compile(client, bytes.substr(0, sizes[0]), bytes.substr(sizes[0] + sizes[1]),
                 new_options.value_or(bytes.substr(sizes[0], sizes[1])));
}

absl::StatusOr<std::vector<Device*>> DevicesOf(const Client& client, const CompileOptions& options) {
  std::vector<int64_t> ids = options.device_ids;
  if (ids.empty()) {
    const int64_t first = options.device_ordinal > 0 ? options.device_ordinal : 0;
    for (int64_t i = 0; i < options.replicas * options.partitions; ++i) ids.push_back(first + i);
  }
  std::vector<Device*> devices;
  for (const int64_t id : ids) {
    if (id < 0 || id >= std::ssize(client.devices)) {
      return InvalidProgram({}, fmt::format("the program is for device {}, there are {} (ASSAY_DEVICES)", id,
                                            client.devices.size()));
    }
    devices.push_back(client.device_handles[static_cast<size_t>(id)]);
  }
  return devices;
}

}  // namespace assay::pjrt
