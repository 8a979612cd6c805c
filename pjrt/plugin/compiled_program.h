// A compiled program: read, verified and planned, with what frameworks ask of it. It never changes.
#ifndef ASSAY_PJRT_PLUGIN_COMPILED_PROGRAM_H_
#define ASSAY_PJRT_PLUGIN_COMPILED_PROGRAM_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evaluator/device.h"
#include "pjrt/plugin/client.h"
#include "pjrt/plugin/compile_options.h"
#include "pjrt/plugin/leaf.h"
#include "run/program.h"

namespace assay::pjrt {

struct CompiledProgram {
  // `format`: mlir, hlo or hlo_with_config. Errors: Program::Load's;
  // NotSupported for results of dynamic sizes.
  static absl::StatusOr<std::shared_ptr<const CompiledProgram>> Compile(const Client& client,
                                                                        std::string_view format,
                                                                        std::string_view code,
                                                                        std::string_view options);
  // The program with what is needed to compile it again, and back, by other options where there are some.
  // Errors of the latter: InvalidProgram for bytes that Serialized did not make, and Compile's.
  std::string Serialized() const;
  static absl::StatusOr<std::shared_ptr<const CompiledProgram>> OfSerialized(
      const Client& client, std::string_view bytes, std::optional<std::string_view> new_options);
  const Module& module() const { return program.module(); }
  // An HloModuleProtoWithConfig.
  absl::StatusOr<std::string> OptimizedProgram() const;

  std::string format, code, option_bytes;
  CompileOptions options;
  Program program;
  std::shared_ptr<const Plan> plan;
  // On which it is evaluated. A program that no partitioner has been over (docs/spec/sharding.md, SDY-2) has
  // one set of values for all partitions, and runs once unless it has manual regions.
  DeviceGrid grid;
  bool is_logical = false;
  std::vector<Leaf> arguments, outputs;
  std::string fingerprint;  // equal for equal programs, options and engines

  // As the C interface gives them out.
  std::vector<BufferType> output_types;
  std::vector<int64_t> output_dims;
  std::vector<size_t> output_ranks;
  std::vector<const char*> output_memory_kinds;
  std::vector<size_t> output_memory_kind_sizes;

 private:
  CompiledProgram(Program of) : program(std::move(of)) {}
  absl::Status SetLeaves();
  absl::Status SetMemoryKinds(const Client& client);
  absl::Status SetGrid();
  void SetOutputLists();
};

// The devices of an executable, by replica, then partition.
absl::StatusOr<std::vector<Device*>> DevicesOf(const Client& client, const CompileOptions& options);

}  // namespace assay::pjrt

#endif  // ASSAY_PJRT_PLUGIN_COMPILED_PROGRAM_H_
