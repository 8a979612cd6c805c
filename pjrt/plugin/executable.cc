#include "pjrt/plugin/executable.h"

#include <algorithm>
#include <cstring>

#include "base/counted.h"
#include "fmt/format.h"
#include "pjrt/plugin/costs.h"
#include "pjrt/plugin/element_types.h"
#include "pjrt/plugin/error.h"
#include "pjrt/plugin/function_table.h"
#include "pjrt/plugin/owned_bytes.h"

namespace assay::pjrt {

Executable::Executable(std::shared_ptr<const CompiledProgram> compiled) : program(std::move(compiled)) {
  for (const Leaf& output : program->outputs) {
    output_layouts.push_back(std::make_unique<MemoryLayout>(MemoryLayout{output.minor_to_major}));
    output_layout_handles.push_back(output_layouts.back().get());
  }
}

namespace {

absl::Status DestroyExecutable(ExecutableDestroyArgs& args) {
  delete args.executable;
  return absl::OkStatus();
}

absl::Status NameOf(ExecutableNameArgs& args) {
  ASSAY_PJRT_WANT(executable);
  const std::string& name = args.executable->program->module().name;
  args.executable_name = name.data();
  args.executable_name_size = name.size();
  return absl::OkStatus();
}

absl::Status NumReplicas(ExecutableNumReplicasArgs& args) {
  ASSAY_PJRT_WANT(executable);
  args.num_replicas = static_cast<size_t>(args.executable->program->options.replicas);
  return absl::OkStatus();
}

absl::Status NumPartitions(ExecutableNumPartitionsArgs& args) {
  ASSAY_PJRT_WANT(executable);
  args.num_partitions = static_cast<size_t>(args.executable->program->options.partitions);
  return absl::OkStatus();
}

absl::Status NumOutputs(ExecutableNumOutputsArgs& args) {
  ASSAY_PJRT_WANT(executable);
  args.num_outputs = args.executable->program->outputs.size();
  return absl::OkStatus();
}

// Code is generated when it pays, and is the process'.
absl::Status CodeSize(ExecutableSizeOfGeneratedCodeInBytesArgs& args) {
  ASSAY_PJRT_WANT(executable);
  args.size_in_bytes = 0;
  return absl::OkStatus();
}

absl::Status Fingerprint(ExecutableFingerprintArgs& args) {
  ASSAY_PJRT_WANT(executable);
  args.executable_fingerprint = args.executable->program->fingerprint.data();
  args.executable_fingerprint_size = args.executable->program->fingerprint.size();
  return absl::OkStatus();
}

absl::Status CostAnalysis(ExecutableGetCostAnalysisArgs& args) {
  ASSAY_PJRT_WANT(executable);
  Executable& executable = *args.executable;
  executable.costs_once.Do([&] { AddCosts(*executable.program, executable.costs.emplace()); });
  args.num_properties = executable.costs->size();
  args.properties = executable.costs->data();
  return absl::OkStatus();
}

int64_t BytesOf(const std::vector<Leaf>& leaves) {
  int64_t bytes = 0;
  for (const Leaf& leaf : leaves) bytes += leaf.local_shape->TotalBytes();
  return bytes;
}

// Arguments and results; what a run needs in between is not known before it.
absl::Status CompiledMemoryStats(ExecutableGetCompiledMemoryStatsArgs& args) {
  ASSAY_PJRT_WANT(executable);
  const CompiledProgram& program = *args.executable->program;
  // Writers of newer versions have more fields behind ours.
  constexpr size_t kFirst = offsetof(ExecutableGetCompiledMemoryStatsArgs, generated_code_size_in_bytes);
  std::memset(reinterpret_cast<std::byte*>(&args) + kFirst, 0,
              std::min<size_t>(args.struct_size, 4096) - kFirst);
  args.argument_size_in_bytes = BytesOf(program.arguments);
  args.output_size_in_bytes = BytesOf(program.outputs);
  for (const Leaf& argument : program.arguments)
    args.alias_size_in_bytes += argument.donated ? argument.local_shape->TotalBytes() : 0;
  args.alias_size_in_bytes = std::min(args.alias_size_in_bytes, args.output_size_in_bytes);
  if (args.struct_size >=
      offsetof(ExecutableGetCompiledMemoryStatsArgs, peak_memory_in_bytes) + sizeof(int64_t)) {
    args.peak_memory_in_bytes =
        args.argument_size_in_bytes + args.output_size_in_bytes - args.alias_size_in_bytes;
  }
  return absl::OkStatus();
}

absl::Status OutputElementTypes(ExecutableOutputElementTypesArgs& args) {
  ASSAY_PJRT_WANT(executable);
  const std::vector<BufferType>& types = args.executable->program->output_types;
  args.output_types = const_cast<BufferType*>(types.data());
  args.num_output_types = types.size();
  return absl::OkStatus();
}

absl::Status OutputDimensions(ExecutableOutputDimensionsArgs& args) {
  ASSAY_PJRT_WANT(executable);
  args.num_outputs = args.executable->program->outputs.size();
  args.dims = args.executable->program->output_dims.data();
  args.dim_sizes = args.executable->program->output_ranks.data();
  return absl::OkStatus();
}

absl::Status OutputMemoryKinds(ExecutableOutputMemoryKindsArgs& args) {
  ASSAY_PJRT_WANT(executable);
  args.num_outputs = args.executable->program->outputs.size();
  args.memory_kinds = args.executable->program->output_memory_kinds.data();
  args.memory_kind_sizes = args.executable->program->output_memory_kind_sizes.data();
  return absl::OkStatus();
}

// First without room, for the size; then with it.
absl::Status OptimizedProgram(ExecutableOptimizedProgramArgs& args) {
  constexpr std::string_view kFormat = "hlo_with_config";
  ASSAY_PJRT_WANT(executable);
  ASSAY_PJRT_WANT(program);
  ASSAY_RETURN_IF_ERROR(WantSize(args.program->struct_size, kSizeOf<ProgramCode>, "the program"));
  Executable& executable = *args.executable;
  executable.optimized_once.Do([&] { executable.optimized = executable.program->OptimizedProgram(); });
  ASSAY_RETURN_IF_ERROR(executable.optimized.status());
  const std::string& bytes = *executable.optimized;
  args.program->format = kFormat.data();
  args.program->format_size = kFormat.size();
  if (args.program->code != nullptr) {
    if (args.program->code_size < bytes.size()) {
      return InvalidProgram({}, fmt::format("room for {} of the program, want {}",
                                            Counted(args.program->code_size, "byte"), bytes.size()));
    }
    std::memcpy(args.program->code, bytes.data(), bytes.size());
  }
  args.program->code_size = bytes.size();
  return absl::OkStatus();
}

absl::Status Serialize(ExecutableSerializeArgs& args) {
  ASSAY_PJRT_WANT(executable);
  args.serialized_executable =
      GiveBytes(args.executable->program->Serialized(), &args.serialized_bytes, &args.serialized_bytes_size);
  args.serialized_executable_deleter = DeleteBytes;
  return absl::OkStatus();
}

absl::Status CompileOptionsOf(ExecutableGetCompileOptionsArgs& args) {
  ASSAY_PJRT_WANT(executable);
  args.serialized_compile_options =
      GiveBytes(args.executable->program->option_bytes, &args.serialized_bytes, &args.serialized_bytes_size);
  args.serialized_compile_options_deleter = DeleteBytes;
  return absl::OkStatus();
}

}  // namespace

void AddExecutableFunctions(FunctionTable& table) {
  table.Set<DestroyExecutable>(FunctionId::kExecutable_Destroy);
  table.Set<NameOf>(FunctionId::kExecutable_Name);
  table.Set<NumReplicas>(FunctionId::kExecutable_NumReplicas);
  table.Set<NumPartitions>(FunctionId::kExecutable_NumPartitions);
  table.Set<NumOutputs>(FunctionId::kExecutable_NumOutputs);
  table.Set<CodeSize>(FunctionId::kExecutable_SizeOfGeneratedCodeInBytes);
  table.Set<Fingerprint>(FunctionId::kExecutable_Fingerprint);
  table.Set<CostAnalysis>(FunctionId::kExecutable_GetCostAnalysis);
  table.Set<CompiledMemoryStats>(FunctionId::kExecutable_GetCompiledMemoryStats);
  table.Set<OutputElementTypes>(FunctionId::kExecutable_OutputElementTypes);
  table.Set<OutputDimensions>(FunctionId::kExecutable_OutputDimensions);
  table.Set<OutputMemoryKinds>(FunctionId::kExecutable_OutputMemoryKinds);
  table.Set<OptimizedProgram>(FunctionId::kExecutable_OptimizedProgram);
  table.Set<Serialize>(FunctionId::kExecutable_Serialize);
  table.Set<CompileOptionsOf>(FunctionId::kExecutable_GetCompileOptions);
}

}  // namespace assay::pjrt
