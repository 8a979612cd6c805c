// The Python module assay._assay: programs, and arrays in and out. Everything that is Python's business
// (names, pytrees, JAX) is in python/assay/; here arrays are (descriptor, element type, sizes, buffer),
// as .npy files have them.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/file_io.h"
#include "check/backends/output_keys.h"
#include "check/conformance.h"
#include "check/estimate/estimate.h"
#include "check/estimate/mover.h"
#include "check/estimate/sample_program.h"
#include "check/report/report.h"
#include "check/why/reason.h"
#include "custom/lapack/lapack_ops.h"
#include "devices/device_io.h"
#include "devices/run_devices.h"
#include "evaluator/grid/device_grid.h"
#include "fmt/format.h"
#include "hlo/diagnostics.h"
#include "hlo/load/load.h"
#include "hlo/mlir/export/export.h"
#include "hlo/proto/export.h"
#include "hlo/text/printer.h"
#include "literal/compare.h"
#include "literal/literal_text.h"
#include "literal/npz.h"
#include "python/classes.h"
#include "python/ffi_bindings.h"
#include "python/ops_bindings.h"
#include "python/signals.h"
#include "run/inputs/known_arguments.h"
#include "run/inputs/program_io.h"
#include "run/program_cache.h"

namespace assay {

// Raised as assay.Error's subclasses: (message, exit code of the command line).
class StatusError : public py::Exception {
 public:
  StatusError(const std::string& message, int code) : Exception(message), code_(code) {}
  void Set() const override { PyErr_SetObject(type_, py::Tuple(what(), code_).get()); }
  static void Define(PyObject* module) {
    type_ = py::Object::Steal(PyErr_NewException("assay._assay.StatusError", nullptr, nullptr)).release();
    if (PyModule_AddObjectRef(module, "StatusError", type_) != 0) throw py::PythonError();
  }

 private:
  static inline PyObject* type_ = nullptr;
  int code_;
};

void Throw(const absl::Status& status, const std::string& file, std::string_view source) {
  std::string message = RenderDiagnostic(status, file, source);
  while (!message.empty() && message.back() == '\n') message.pop_back();
  throw StatusError(message, ExitCodeOf(status));
}

namespace {

// Keeps a Python buffer alive. The last Literal that shares it may go on any thread.
class Lender {
 public:
  explicit Lender(const py::Object& object) : buffer_(std::in_place, object) {}
  ~Lender() {
    const py::WithLock lock;
    buffer_.reset();
  }
  std::span<const std::byte> bytes() const { return buffer_->bytes(); }

 private:
  std::optional<py::Buffer> buffer_;
};

constexpr uintptr_t kAlignment = 16;  // what any element type wants

// C-contiguous bytes, shared where their alignment allows.
RawBytes BytesOf(const py::Object& buffer) {
  auto lender = std::make_shared<const Lender>(buffer);
  const std::span<const std::byte> bytes = lender->bytes();
  if (bytes.empty() || reinterpret_cast<uintptr_t>(bytes.data()) % kAlignment != 0) {
    return RawBytes(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  const auto size = static_cast<int64_t>(bytes.size());
  absl::StatusOr<Shape> shape = Shape::Array(ElementType::kU8, {&size, 1});
  if (!shape.ok()) Throw(shape.status(), "", "");
  return RawBytes(Literal::Borrow(std::make_shared<const Shape>(*std::move(shape)), bytes, lender));
}

// A leaf of the results: element type, sizes, and its bytes as .npy files hold them.
py::Object ToPython(const std::string& key, Literal value) {
  if (const absl::Status status = value.Unshare(); !status.ok()) Throw(status, key, "");
  const std::string_view type = Name(value.shape().element_type());
  const py::Object sizes = py::SizesOf(value.shape().sizes());
  if (!StoredAsNpy(value)) {
    const std::string file = EncodeNpy(value);
    return py::Tuple(key, type, sizes,
                     py::CopiedMemory(std::string_view(file).substr(NpyHeader(value).size())));
  }
  const auto owner = std::make_shared<Literal>(std::move(value));
  const std::span<const std::byte> bytes = owner->bytes();
  // The literal is this object's alone.
  return py::Tuple(key, type, sizes, py::Memory(owner, {const_cast<std::byte*>(bytes.data()), bytes.size()}));
}

// An array is ("f32", (2, 3)), with None for a free dimension; a tuple a list, a token None.
py::Object Describe(const Shape& shape) {
  if (shape.IsTuple()) {
    py::List elements;
    for (const Shape& element : shape.elements()) elements.Append(Describe(element));
    return elements;
  }
  if (!shape.IsArray()) return py::Object::None();
  py::List sizes;
  for (const int64_t size : shape.sizes())
    sizes.Append(size == kUnboundedSize ? py::Object::None() : py::To(size));
  return py::Tuple(Name(shape.element_type()), py::AsTuple(sizes));
}

struct Options {
  std::string engine = "exact", crosscheck = "off";
  int jobs = 0;
  int64_t max_steps = 0, memory_limit = 0;
  double timeout = 0;
  uint64_t seed = 42;
};

EngineChoice ChoiceOf(const std::string& engine) {
  if (engine == "exact") return EngineChoice::kExact;
  if (engine == "reference") return EngineChoice::kReference;
  if (engine == "fast") return EngineChoice::kFast;
  if (engine == "gpu") return EngineChoice::kGpu;
  if (engine == "gpu-fast") return EngineChoice::kGpuFast;
  throw py::ValueError("engine is '" + engine +
                       "', wanted 'exact', 'fast', 'gpu', 'gpu-fast' or 'reference'");
}

Crosscheck CrosscheckOf(const std::string& word) {
  if (word == "off") return Crosscheck::kOff;
  if (word == "sample") return Crosscheck::kSample;
  if (word == "full") return Crosscheck::kFull;
  throw py::ValueError("crosscheck is '" + word + "', wanted 'off', 'sample' or 'full'");
}

class PyModule {
 public:
  PyModule(std::string name, std::string text, bool lapack)
      : name_(std::move(name)), text_(std::move(text)), program_(Loaded(name_, text_, lapack)) {}

  // The program of sampled conforming backends (check/estimate): it takes a key, u32[], behind its
  // arguments. Any argument may have subnormal numbers.
  std::unique_ptr<PyModule> Sampled(const std::string& profile_name) const {
    RequireShapes();
    const absl::StatusOr<Profile> profile = LoadProfile(profile_name);
    if (!profile.ok()) Throw(profile.status(), profile_name, "");
    std::vector<bool> subnormals;
    const Computation& entry = program_.module().entry_computation();
    for (const int32_t parameter : entry.parameters) {
      ForEachLeaf(*entry.instructions[parameter].shape, [&](const ShapeIndex&, const Shape& leaf) {
        subnormals.push_back(leaf.IsArray() &&
                             (IsFloat(leaf.element_type()) || IsComplex(leaf.element_type())));
      });
    }
    absl::StatusOr<SampledProgram> made =
        SampleProgram(program_.verified(), *profile, subnormals, SampleRadii::kOfEachSample);
    if (!made.ok()) Throw(made.status(), name_, text_);
    absl::StatusOr<Program> sampled = Program::OfModule(std::move(made->module));
    if (!sampled.ok()) Throw(sampled.status(), name_, text_);
    return std::unique_ptr<PyModule>(new PyModule(name_, *std::move(sampled)));
  }

  std::string ToHlo() const {
    RequireShapes();
    return ModuleToText(program_.as_written());
  }
  std::string ToMlir() const {
    if (!program_.has_free_dimensions()) return Exported(ExportStableHlo(program_.as_written()));
    const absl::StatusOr<std::optional<std::string>> text = FreeProgramText(name_, text_);
    if (!text.ok()) Throw(text.status(), name_, text_);
    return text->value_or("");
  }
  py::Object ToProto() const {
    RequireShapes();
    return py::BytesObject(Exported(ExportProto(program_.as_written())));
  }
  std::string DescribeInputs() const { return DescribeParameters(program_.verified()); }

  py::List Parameters() const {
    const Computation& entry = program_.module().entry_computation();
    py::List parameters;
    for (int32_t parameter : entry.parameters)
      parameters.Append(Describe(*entry.instructions[parameter].shape));
    return parameters;
  }
  py::Object Result() const {
    return Describe(*PrintedShape(program_.module().entry_computation().root_instruction()));
  }

  // What arrays are given by: key -> (descriptor, element type where the descriptor does
  // not say it, sizes, C-contiguous buffer of bytes).
  using Arrays =
      std::map<std::string, std::tuple<std::string, std::string, std::vector<int64_t>, py::Object>>;

  // The results, by key, which all devices agree on.
  py::List Evaluate(const Arrays& arrays, const Options& options) {
    const std::vector<NamedLiterals> devices = RunChecked(arrays, options, {.replicas = 0, .partitions = 0});
    const auto same = [](const auto& a, const auto& b) { return Literal::BitwiseEqual(a.second, b.second); };
    for (const NamedLiterals& device : devices) {
      if (!std::equal(device.begin(), device.end(), devices[0].begin(), devices[0].end(), same)) {
        Throw(
            NotSupported(
                {}, "devices give different results, which evaluate() can't return: use evaluate_devices()"),
            name_, text_);
      }
    }
    return Leaves(devices[0]);
  }

  // The results of each device; keys of arrays have the names of devices before them, or are every device's.
  py::List EvaluateDevices(const Arrays& arrays, const Options& options, int64_t replicas,
                           int64_t partitions) {
    py::List all;
    for (const NamedLiterals& device :
         RunChecked(arrays, options, {.replicas = replicas, .partitions = partitions}))
      all.Append(Leaves(device));
    return all;
  }

  // How outputs of a backend, by key, lie in what the profile lets a backend give.
  // A page of it is written to `html`, where that is not empty.
  py::Dict Diff(const Arrays& arrays, const Arrays& outputs, const std::string& profile_name,
                const Options& options, const std::string& html, int64_t samples,
                const std::string& isolate_command) {
    const absl::StatusOr<Profile> profile = LoadProfile(profile_name);
    if (!profile.ok()) Throw(profile.status(), profile_name, "");
    if (const absl::Status status = html.empty() ? absl::OkStatus() : CheckWritable(html); !status.ok())
      Throw(status, html, "");
    std::map<std::string, NpyArray> inputs = NpyArraysOf(arrays), actual = NpyArraysOf(outputs);
    const EngineChoice choice = ChoiceOf(options.engine);
    const RunOptions run = RunOptionsOf(options);
    absl::StatusOr<Judged> judged;
    {
      const py::WithoutLock unlocked;
      judged = JudgeAll(choice, run, *profile, inputs, actual, samples, isolate_command);
      if (judged.ok() && !html.empty()) {
        const absl::Status written = WritePage(html, *profile, options.engine, *judged);
        if (!written.ok()) judged = written;
      }
      inputs.clear();
      actual.clear();
    }
    if (PyErr_Occurred() != nullptr) throw py::PythonError();  // Ctrl-C
    if (!judged.ok()) Throw(judged.status(), name_, text_);
    py::List conformances, notes;
    for (const ReportedOutput& output : judged->outputs) conformances.Append(DictOf(output.judged));
    for (const DerivedBounds::Note& note : judged->unchecked)
      notes.Append(py::Tuple(note.instruction, note.op, note.why));
    py::Dict result;
    result.Set("outputs", py::To(conformances));
    result.Set("undecided_from", py::To(notes));
    result.Set("samples", py::To(judged->samples));
    py::List reasons;
    for (const Reason& reason : judged->reasons) reasons.Append(DictOf(reason));
    result.Set("reasons", py::To(reasons));
    return result;
  }

  // (replicas, partitions) that the program runs on where these are asked for, 0 for as many as it wants.
  py::Object Grid(int64_t replicas, int64_t partitions) const {
    const absl::StatusOr<DeviceGrid> grid =
        ResolveDeviceGrid(program_.module(), {.replicas = replicas, .partitions = partitions});
    if (!grid.ok()) Throw(grid.status(), name_, text_);
    return py::Tuple(grid->replicas, grid->partitions);
  }

 private:
  PyModule(std::string name, Program program) : name_(std::move(name)), program_(std::move(program)) {}

  std::vector<NamedLiterals> RunChecked(const Arrays& arrays, const Options& options,
                                        const DeviceGrid& devices) {
    std::map<std::string, NpyArray> inputs = NpyArraysOf(arrays);
    const EngineChoice choice = ChoiceOf(options.engine);
    const RunOptions run = RunOptionsOf(options);
    absl::StatusOr<std::vector<NamedLiterals>> results;
    {
      const py::WithoutLock unlocked;
      results = Run(choice, run, inputs, devices);
      inputs.clear();
    }
    if (PyErr_Occurred() != nullptr) throw py::PythonError();  // Ctrl-C
    if (!results.ok()) Throw(results.status(), name_, text_);
    return *std::move(results);
  }

  void RequireShapes() const {
    if (program_.has_free_dimensions()) Throw(LacksShapes(program_.module()), name_, text_);
  }

  // The program for these inputs: where its dimensions are free, refined for their shapes.
  absl::StatusOr<Program> ProgramFor(const std::map<std::string, NpyArray>& inputs) const {
    if (!program_.has_free_dimensions()) return program_;
    ASSAY_ASSIGN_OR_RETURN(const std::vector<KnownArgument> arguments,
                           KnownArgumentsFrom(program_.module(), inputs));
    return program_.RefinedFor(arguments);
  }

  struct Judged {
    std::vector<ReportedOutput> outputs;
    std::vector<DerivedBounds::Note> unchecked;
    std::optional<Program> program;  // as it was run
    int64_t samples = 0;             // that ran
    std::vector<Reason> reasons;
  };
  absl::StatusOr<Judged> JudgeAll(EngineChoice choice, const RunOptions& options, const Profile& profile,
                                  const std::map<std::string, NpyArray>& inputs,
                                  const std::map<std::string, NpyArray>& actual, int64_t samples,
                                  const std::string& isolate_command) {
    ASSAY_ASSIGN_OR_RETURN(const Program program, ProgramFor(inputs));
    ASSAY_RETURN_IF_ERROR(
        DecodeOutputs(program.module(), actual).status());  // told before anything is computed
    ASSAY_ASSIGN_OR_RETURN(const DeviceGrid grid,
                           ResolveDeviceGrid(program.module(), {.replicas = 0, .partitions = 0}));
    ASSAY_ASSIGN_OR_RETURN(std::vector<DeviceInputs> given,
                           InputsOfDevices(program.verified(), grid, inputs));
    ASSAY_ASSIGN_OR_RETURN(BoundedOutputs bounded,
                           RunWithBounds(program, profile, grid, given, options, EnginesOf(choice)));
    ASSAY_ASSIGN_OR_RETURN(const Estimates estimates,
                           AddSamples(program, profile, grid, given[0], options, {samples, options.run_seed},
                                      bounded.outputs, EnginesOf(choice)));
    Judged judged{{}, bounded.unchecked, program, estimates.samples, {}};
    for (const BoundedOutput& output : bounded.outputs) {
      const NpyArray* const array = ActualOf(actual, output);
      if (array == nullptr) {
        judged.outputs.push_back(JudgeForReport(output, nullptr));
        continue;
      }
      ASSAY_ASSIGN_OR_RETURN(const Literal value, DecodeNpy(output.key, *array, output.exact.shape()));
      judged.outputs.push_back(JudgeForReport(output, &value));
    }
    std::vector<Conformance> outputs;
    for (const ReportedOutput& output : judged.outputs) outputs.push_back(output.judged);
    ASSAY_ASSIGN_OR_RETURN(judged.reasons, ReasonsOf({program,
                                                      profile,
                                                      given[0].arguments,
                                                      options,
                                                      {samples, options.run_seed},
                                                      EnginesOf(choice),
                                                      isolate_command},
                                                     bounded, outputs));
    return judged;
  }

  absl::Status WritePage(const std::string& path, const Profile& profile, const std::string& engine,
                         const Judged& judged) const {
    ReportHeader header;
    header.program = name_;
    header.inputs = header.actual = "arrays of Python";
    header.engine = engine;
    header.command = "assay.diff(...)";
    header.version = ASSAY_VERSION;
    ASSAY_ASSIGN_OR_RETURN(const std::string page,
                           HtmlReport({header, judged.program->module(), profile, judged.outputs,
                                       judged.unchecked, judged.reasons, nullptr}));
    return WriteFileAtomically(path, page);
  }

  static py::Dict DictOf(const Conformance& output) {
    py::List worst;
    for (const Conformance::Element& element : output.worst) {
      worst.Append(py::Tuple(py::SizesOf(element.index), element.exact, element.actual, element.radius,
                             element.ulps, element.share));
    }
    py::List farthest;
    for (const Conformance::Estimated& element : output.farthest) {
      farthest.Append(py::Tuple(py::SizesOf(element.index), element.exact, element.actual, element.ulps,
                                element.spread, element.share, element.distance, element.allowed));
    }
    py::Dict result;
    result.Set("key", py::To(output.key));
    result.Set("error", py::To(output.error));
    result.Set("elements", py::To(output.elements));
    result.Set("inside", py::To(output.inside));
    result.Set("outside", py::To(output.outside));
    result.Set("undecided", py::To(output.unchecked));
    result.Set("plausible", py::To(output.plausible));
    result.Set("implausible", py::To(output.implausible));
    result.Set("farthest", py::To(farthest));
    result.Set("largest_share", py::To(output.largest_share));
    result.Set("worst", py::To(worst));
    return result;
  }

  // The fields of assay.Reason.
  static py::Dict DictOf(const Reason& reason) {
    const auto iteration = [](const FirstUndecided& at) {
      return at.iteration < 0 ? py::Object::None() : py::To(at.iteration);
    };
    py::Dict result;
    result.Set("output", py::To(reason.key));
    result.Set("instruction", py::To(reason.first.instruction));
    result.Set("op", py::To(reason.first.op));
    result.Set("inside", py::To(reason.first.inside));
    result.Set("iteration", py::To(iteration(reason.first)));
    result.Set("why", py::To(reason.first.why));
    result.Set("plausible", py::To(reason.plausible));
    result.Set("implausible", py::To(reason.implausible));
    result.Set("undecided", py::To(reason.undecided));
    result.Set("lacks_rule", py::To(reason.lacks_rule));
    result.Set("next", py::To(reason.next));
    result.Set("text", py::To(fmt::format("nothing is proven of {} {}", ElementsOf(reason), WhyOf(reason))));
    result.Set("samples_part", py::To(PartingOf(reason)));
    return result;
  }

  static std::map<std::string, NpyArray> NpyArraysOf(const Arrays& arrays) {
    std::map<std::string, NpyArray> all;
    for (const auto& [key, array] : arrays) {
      const auto& [descr, type, sizes, buffer] = array;
      all.emplace(key, NpyArray{descr, false, sizes, BytesOf(buffer), ElementTypeFromName(type)});
    }
    return all;
  }

  static RunOptions RunOptionsOf(const Options& options) {
    RunOptions run;
    run.limits = {options.max_steps, options.memory_limit, options.timeout};
    run.jobs = options.jobs;
    run.crosscheck = CrosscheckOf(options.crosscheck);
    run.run_seed = options.seed;
    run.interrupted = [] {
      const py::WithLock lock;
      return PyErr_CheckSignals() != 0;
    };
    run.print = [](const std::string& name, const Literal& value) {
      const py::WithLock lock;
      py::Print(
          fmt::format("{} {}\n{}", EscapeControls(name), value.shape().ToString(), LiteralToDisplay(value)));
    };
    return run;
  }

  static py::List Leaves(const NamedLiterals& results) {
    py::List leaves;
    for (const auto& [key, value] : results) leaves.Append(ToPython(key, value));
    return leaves;
  }

  static Program Loaded(const std::string& name, const std::string& text, bool lapack) {
    std::shared_ptr<const CustomOps> ops = OpsOfProcess();
    if (lapack) ops = custom::WithLibraryLapack(std::move(ops));
    absl::StatusOr<Program> program = ProgramCache::OfProcess().Load(name, text, ops);
    if (!program.ok()) Throw(program.status(), name, text);
    return *std::move(program);
  }

  std::string Exported(absl::StatusOr<std::string> form) const {
    if (!form.ok()) Throw(form.status(), name_, text_);
    return *std::move(form);
  }

  absl::StatusOr<std::vector<NamedLiterals>> Run(EngineChoice choice, const RunOptions& options,
                                                 const std::map<std::string, NpyArray>& inputs,
                                                 const DeviceGrid& devices) {
    ASSAY_ASSIGN_OR_RETURN(const Program program, ProgramFor(inputs));
    ASSAY_ASSIGN_OR_RETURN(const std::shared_ptr<const Plan> plan, program.PlanFor(EnginesOf(choice)));
    ASSAY_ASSIGN_OR_RETURN(const DeviceGrid grid, ResolveDeviceGrid(program.module(), devices));
    ASSAY_ASSIGN_OR_RETURN(std::vector<DeviceInputs> given,
                           InputsOfDevices(program.verified(), grid, inputs));
    ASSAY_ASSIGN_OR_RETURN(
        std::vector<DeviceOutputs> outputs,
        RunDevices(*plan, grid, std::move(given), options, /*observer=*/nullptr, &run_counts_));
    std::vector<NamedLiterals> results;  // what went to the host is not returned
    for (const DeviceOutputs& device : outputs) {
      if (!grid.logical || results.empty()) results.push_back(ResultsOf(device.root));
    }
    return results;
  }

  const std::string name_, text_;
  const Program
      program_;  // of the process, for every module with this text, but where it calls registered operations
  RunCounts run_counts_;  // of this module: loaded again, it is sampled from its first run
};

std::unique_ptr<PyModule> MakeModule(const std::string& name, const std::string& program, bool lapack) {
  return std::make_unique<PyModule>(name, program, lapack);
}
std::unique_ptr<Options> MakeOptions() { return std::make_unique<Options>(); }

void DefineOptions(PyObject* module) {
  static PyGetSetDef fields[] = {py::Field<&Options::engine>("engine"),
                                 py::Field<&Options::crosscheck>("crosscheck"),
                                 py::Field<&Options::jobs>("jobs"),
                                 py::Field<&Options::max_steps>("max_steps"),
                                 py::Field<&Options::memory_limit>("memory_limit"),
                                 py::Field<&Options::timeout>("timeout"),
                                 py::Field<&Options::seed>("seed"),
                                 {}};
  static PyType_Slot slots[] = {
      {Py_tp_new, reinterpret_cast<void*>(py::Caller<decltype(&MakeOptions)>::New<Options, &MakeOptions>)},
      {Py_tp_dealloc, reinterpret_cast<void*>(py::Class<Options>::Destroy)},
      {Py_tp_getset, fields},
      {0, nullptr}};
  py::Class<Options>::Define(module, "Options", slots);
}

void DefineModule(PyObject* module) {
  static PyMethodDef methods[] = {py::Method<&PyModule::ToHlo>("to_hlo"),
                                  py::Method<&PyModule::ToMlir>("to_mlir"),
                                  py::Method<&PyModule::ToProto>("to_proto"),
                                  py::Method<&PyModule::DescribeInputs>("describe_inputs"),
                                  py::Method<&PyModule::Parameters>("parameters"),
                                  py::Method<&PyModule::Result>("result"),
                                  py::Method<&PyModule::Evaluate>("evaluate"),
                                  py::Method<&PyModule::EvaluateDevices>("evaluate_devices"),
                                  py::Method<&PyModule::Diff>("diff"),
                                  py::Method<&PyModule::Sampled>("sampled"),
                                  py::Method<&PyModule::Grid>("grid"),
                                  {}};
  static PyType_Slot slots[] = {
      {Py_tp_new, reinterpret_cast<void*>(py::Caller<decltype(&MakeModule)>::New<PyModule, &MakeModule>)},
      {Py_tp_dealloc, reinterpret_cast<void*>(py::Class<PyModule>::Destroy)},
      {Py_tp_methods, methods},
      {0, nullptr}};
  py::Class<PyModule>::Define(module, "Module", slots);
}

py::Object MakeExtension() {
  static PyMethodDef functions[] = {py::Function<&KeyOfSeed>("key_of_seed"),
                                    py::Function<&SignalPollAddress>("signal_poll_address"),
                                    py::Function<&KeepSignalException>("keep_signal_exception"),
                                    {}};
  static PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                   "_assay",
                                   "The evaluator. Use the package assay, not this module.",
                                   -1,
                                   functions,
                                   nullptr,
                                   nullptr,
                                   nullptr,
                                   nullptr};
  py::Object module = py::Object::Steal(PyModule_Create(&definition));
  if (PyModule_AddStringConstant(module.get(), "version", ASSAY_VERSION) != 0) throw py::PythonError();
  StatusError::Define(module.get());
  py::DefineMemory(module.get());
  DefineOptions(module.get());
  DefineModule(module.get());
  DefineOps(module.get());
  DefineFfi(module.get());
  return module;
}

}  // namespace
}  // namespace assay

PyMODINIT_FUNC PyInit__assay() { return assay::py::Guarded(assay::MakeExtension); }
