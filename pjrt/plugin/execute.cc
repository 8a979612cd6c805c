// Running a program: arguments from buffers, one run or one on each device, results into buffers. All of it
// happens before the call returns; its events are ready.
//
// A run that was interrupted gives results and events that have the error, and the call succeeds: JAX makes
// exceptions of its own of a failed call, of various types, and would raise these in place of
// KeyboardInterrupt.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/counted.h"
#include "devices/run_devices.h"
#include "fmt/format.h"
#include "literal/leaves.h"
#include "pjrt/plugin/buffer.h"
#include "pjrt/plugin/error.h"
#include "pjrt/plugin/event.h"
#include "pjrt/plugin/executable.h"
#include "pjrt/plugin/function_table.h"
#include "pjrt/plugin/process_ops.h"
#include "pjrt/plugin/sharded_values.h"

namespace assay::pjrt {

// What JAX makes for its own handlers; Assay has nothing to keep there.
struct ExecuteContext {};

namespace {

// Values of leaves as those of the parameters, tuples put together.
std::vector<Literal> ParametersOf(const Module& module, std::vector<Literal> leaves) {
  const Computation& entry = module.entry_computation();
  std::vector<Literal> parameters;
  std::span<Literal> next = leaves;
  for (const int32_t parameter : entry.parameters)
    parameters.push_back(FromLeaves(entry.instructions[static_cast<size_t>(parameter)].shape, next));
  return parameters;
}

// One execution.
class Execution {
 public:
  Execution(LoadedExecutableExecuteArgs& args)
      : args_(args), executable_(*args.executable), program_(*args.executable->program) {}

  absl::Status Run() {
    ASSAY_RETURN_IF_ERROR(Check());
    std::vector<std::vector<Literal>> arguments(args_.num_devices);  // by device, then leaf
    for (size_t d = 0; d < args_.num_devices; ++d) {
      ASSAY_ASSIGN_OR_RETURN(arguments[d], TakeArguments(d));
    }
    absl::StatusOr<std::vector<std::vector<Literal>>> results = Results(std::move(arguments));
    if (!results.ok() && IsInterrupted()) {
      GiveFailed(results.status());
      return absl::OkStatus();
    }
    ASSAY_RETURN_IF_ERROR(results.status());
    Give(*std::move(results));
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<std::vector<std::vector<Literal>>> Results(
      std::vector<std::vector<Literal>> arguments) const {
    std::vector<std::vector<Literal>> results;
    if (program_.is_logical) {
      ASSAY_ASSIGN_OR_RETURN(results, RunWhole(std::move(arguments)));
    } else {
      ASSAY_ASSIGN_OR_RETURN(results, RunGrid(program_.grid, std::move(arguments)));
    }
    for (const std::vector<Literal>& leaves : results) {
      for (const Literal& leaf : leaves) ASSAY_RETURN_IF_ERROR(leaf.Fetch());
    }
    ASSAY_RETURN_IF_ERROR(OwnBuffers(results));
    return results;
  }

  absl::Status Check() {
    if (executable_.is_deleted) return InvalidProgram({}, "the executable was deleted");
    const ExecuteOptions& options = *args_.options;
    ASSAY_RETURN_IF_ERROR(WantSize(options.struct_size, kSizeOf<ExecuteOptions>, "the options"));
    if (options.num_send_ops > 0 || options.num_recv_ops > 0)
      return NotSupported({}, "callbacks of send and recv (ExecuteOptions.send_callbacks)");
    if (options.num_non_donatable_input_indices > 0)
      ASSAY_RETURN_IF_ERROR(Wanted(options.non_donatable_input_indices, "non_donatable_input_indices"));
    if (args_.num_devices != executable_.devices.size()) {
      return InvalidProgram(
          {}, fmt::format("arguments for {}, the program is on {}", Counted(args_.num_devices, "device"),
                          executable_.devices.size()));
    }
    if (args_.num_args != program_.arguments.size()) {
      return InvalidProgram({}, fmt::format("{}, the program takes {}", Counted(args_.num_args, "argument"),
                                            program_.arguments.size()));
    }
    if (args_.execute_device != nullptr && args_.num_devices != 1)
      return InvalidProgram({}, "an execute_device for a program on several devices");
    if (args_.execute_device != nullptr && args_.execute_device->client != executable_.client)
      return InvalidProgram({}, "the execute_device is another client's");
    if (args_.num_args > 0) ASSAY_RETURN_IF_ERROR(Wanted(args_.argument_lists, "argument_lists"));
    if (!program_.outputs.empty()) ASSAY_RETURN_IF_ERROR(Wanted(args_.output_lists, "output_lists"));
    for (size_t i = 0; i < options.num_non_donatable_input_indices; ++i)
      kept_.insert(options.non_donatable_input_indices[i]);
    return CheckArguments();
  }

  // Before anything is donated, so that nothing is lost where the call is wrong.
  absl::Status CheckArguments() const {
    for (size_t d = 0; d < args_.num_devices; ++d) {
      if (args_.num_args > 0) ASSAY_RETURN_IF_ERROR(Wanted(args_.argument_lists[d], "argument_lists"));
      if (!program_.outputs.empty()) ASSAY_RETURN_IF_ERROR(Wanted(args_.output_lists[d], "output_lists"));
      for (size_t i = 0; i < args_.num_args; ++i) {
        const Buffer* const buffer = args_.argument_lists[d][i];
        ASSAY_RETURN_IF_ERROR(Wanted(buffer, "an argument"));
        const Shape& wanted = *program_.arguments[i].local_shape;
        // JAX has an empty array of pred in place of a token.
        if (!wanted.IsToken() && !Shape::Compatible(buffer->shape(), wanted)) {
          return InvalidProgram({}, fmt::format("argument {} is {}, the program wants {}", i,
                                                buffer->shape().ToString(), wanted.ToString()));
        }
        ASSAY_RETURN_IF_ERROR(buffer->Value().status());
      }
    }
    return CheckDonated();
  }

  // A buffer that is donated is one argument of one device.
  absl::Status CheckDonated() const {
    const auto is_donated = [](const Leaf& leaf) { return leaf.donated; };
    if (std::none_of(program_.arguments.begin(), program_.arguments.end(), is_donated))
      return absl::OkStatus();
    std::map<const Buffer*, std::pair<size_t, size_t>> places;  // device and number of the first argument
    for (size_t d = 0; d < args_.num_devices; ++d) {
      for (size_t i = 0; i < args_.num_args; ++i) {
        const auto [at, is_new] = places.try_emplace(args_.argument_lists[d][i], d, i);
        const auto [device, number] = at->second;
        if (is_new || !(IsDonated(i) || IsDonated(number))) continue;
        const size_t donated = IsDonated(number) ? number : i;
        if (device != d) {
          return InvalidProgram({}, fmt::format("the buffer of argument {} is donated, of devices {} and {}",
                                                donated, device, d));
        }
        return InvalidProgram({}, fmt::format("the buffer of argument {} is donated, and argument {} as well",
                                              donated, donated == i ? number : i));
      }
    }
    return absl::OkStatus();
  }

  bool IsDonated(size_t i) const {
    return program_.arguments[i].donated && !kept_.contains(static_cast<int64_t>(i));
  }

  // Without arguments there may be no lists.
  absl::StatusOr<std::vector<Literal>> TakeArguments(size_t device) const {
    std::vector<Literal> values;
    values.reserve(args_.num_args);
    for (size_t i = 0; i < args_.num_args; ++i) {
      Buffer& buffer = *args_.argument_lists[device][i];
      ASSAY_ASSIGN_OR_RETURN(Literal value, IsDonated(i) ? buffer.Donate() : buffer.Value());
      values.push_back(program_.arguments[i].shape->IsToken() ? Literal::Token() : std::move(value));
    }
    return values;
  }

  RunOptions Options() const {
    RunOptions run = executable_.client->options.run;
    run.interrupted = IsInterrupted;
    return run;
  }

  // By device: the leaves of its results.
  absl::StatusOr<std::vector<std::vector<Literal>>> RunGrid(
      const DeviceGrid& grid, std::vector<std::vector<Literal>> arguments) const {
    std::vector<DeviceInputs> inputs;
    inputs.reserve(arguments.size());
    for (std::vector<Literal>& leaves : arguments)
      inputs.push_back({.arguments = ParametersOf(program_.module(), std::move(leaves))});
    ASSAY_ASSIGN_OR_RETURN(
        std::vector<DeviceOutputs> outputs,
        RunDevices(*program_.plan, grid, std::move(inputs), Options(), nullptr, &executable_.run_counts));
    std::vector<std::vector<Literal>> results;
    results.reserve(outputs.size());
    for (DeviceOutputs& device : outputs) results.push_back(LeavesOf(std::move(device.root)));
    return results;
  }

  // The whole program on whole values, which are put together before and cut after. Where devices differ in
  // what is one value to the program, each has its own.
  absl::StatusOr<std::vector<std::vector<Literal>>> RunWhole(
      std::vector<std::vector<Literal>> arguments) const {
    std::vector<std::vector<Literal>> given(static_cast<size_t>(program_.grid.size()));
    for (size_t i = 0; i < program_.arguments.size(); ++i) {
      std::vector<Literal> pieces;
      pieces.reserve(arguments.size());
      for (std::vector<Literal>& device : arguments) pieces.push_back(std::move(device[i]));
      if (given.size() == 1) {
        ASSAY_ASSIGN_OR_RETURN(Literal value, WholeOf(program_.arguments[i], pieces, 0));
        given[0].push_back(std::move(value));
        continue;
      }
      ASSAY_ASSIGN_OR_RETURN(std::vector<Literal> values, WholesOf(program_.arguments[i], pieces));
      for (size_t d = 0; d < given.size(); ++d) given[d].push_back(std::move(values[d]));
    }
    ASSAY_ASSIGN_OR_RETURN(const std::vector<std::vector<Literal>> results,
                           RunGrid(program_.grid, std::move(given)));
    std::vector<std::vector<Literal>> cut(args_.num_devices);
    for (size_t d = 0; d < args_.num_devices; ++d) {
      for (size_t i = 0; i < program_.outputs.size(); ++i) {
        ASSAY_ASSIGN_OR_RETURN(
            Literal piece,
            PieceOf(program_.outputs[i], results[results.size() == 1 ? 0 : d][i], static_cast<int64_t>(d)));
        cut[d].push_back(std::move(piece));
      }
    }
    return cut;
  }

  // A result shares no memory with an argument that the caller still has, with a constant, or with another
  // result of its device. Copies of one value on several devices share theirs.
  static absl::Status OwnBuffers(std::vector<std::vector<Literal>>& results) {
    std::map<const std::byte*, std::vector<std::pair<size_t, size_t>>>
        places;  // device and number, by storage
    for (size_t d = 0; d < results.size(); ++d) {
      for (size_t i = 0; i < results[d].size(); ++i) {
        if (results[d][i].shape().IsArray() && results[d][i].shape().num_bytes() > 0)
          places[results[d][i].data()].emplace_back(d, i);
      }
    }
    for (const auto& place : places) {
      const std::vector<std::pair<size_t, size_t>>& shared = place.second;
      const auto at = [&](size_t k) -> Literal& { return results[shared[k].first][shared[k].second]; };
      // While this one is unshared there is no other among the results.
      for (size_t k = 1; k < shared.size(); ++k) at(k) = Literal();
      ASSAY_RETURN_IF_ERROR(at(0).Unshare());
      for (size_t k = 1; k < shared.size(); ++k) {
        at(k) = at(0);
        if (shared[k].first == shared[k - 1].first) ASSAY_RETURN_IF_ERROR(at(k).Unshare());
      }
    }
    return absl::OkStatus();
  }

  Memory* MemoryOf(size_t device, size_t output) const {
    const Device* const at =
        args_.execute_device != nullptr ? args_.execute_device : executable_.devices[device];
    return MemoryOfKind(*at, program_.outputs[output].memory_kind);
  }

  void Give(std::vector<std::vector<Literal>> results) {
    for (size_t d = 0; d < args_.num_devices; ++d) {
      for (size_t i = 0; i < results[d].size(); ++i) {
        args_.output_lists[d][i] = new Buffer(MemoryOf(d, i), std::move(results[d][i]));
        args_.output_lists[d][i]->set_minor_to_major(program_.outputs[i].minor_to_major);
      }
      if (args_.device_complete_events != nullptr) args_.device_complete_events[d] = ReadyEvent();
    }
  }
  void GiveFailed(const absl::Status& why) {
    for (size_t d = 0; d < args_.num_devices; ++d) {
      for (size_t i = 0; i < program_.outputs.size(); ++i) {
        args_.output_lists[d][i] = new Buffer(MemoryOf(d, i), program_.outputs[i].local_shape, why);
        args_.output_lists[d][i]->set_minor_to_major(program_.outputs[i].minor_to_major);
      }
      if (args_.device_complete_events != nullptr) args_.device_complete_events[d] = ReadyEvent(why);
    }
  }

  LoadedExecutableExecuteArgs& args_;
  const LoadedExecutable& executable_;
  const CompiledProgram& program_;
  std::set<int64_t> kept_;  // arguments that this execution does not donate
};

absl::Status Execute(LoadedExecutableExecuteArgs& args) {
  ASSAY_PJRT_WANT(executable);
  ASSAY_PJRT_WANT(options);
  return Execution(args).Run();
}

absl::Status CreateContext(ExecuteContextCreateArgs& args) {
  args.context = new ExecuteContext;
  return absl::OkStatus();
}

absl::Status DestroyContext(ExecuteContextDestroyArgs& args) {
  delete args.context;
  return absl::OkStatus();
}

}  // namespace

void AddExecuteFunctions(FunctionTable& table) {
  table.Set<Execute>(FunctionId::kLoadedExecutable_Execute);
  table.Set<CreateContext>(FunctionId::kExecuteContext_Create);
  table.Set<DestroyContext>(FunctionId::kExecuteContext_Destroy);
}

}  // namespace assay::pjrt
