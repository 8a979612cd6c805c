// The Python module assay._assay: programs, and arrays in and out. Everything that is Python's business
// (names, pytrees, JAX) is in python/assay/; here arrays are (descriptor, element type, sizes, buffer),
// as .npy files have them.
#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

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
#include "python/ffi_bindings.h"
#include "python/ops_bindings.h"
#include "run/inputs/known_arguments.h"
#include "run/inputs/program_io.h"
#include "run/program_cache.h"

namespace py = pybind11;

namespace assay {

// Raised as assay.Error's subclasses: (message, exit code of the command line).
class StatusError : public std::runtime_error {
 public:
  StatusError(const std::string& message, int code) : std::runtime_error(message), code(code) {}
  const int code;
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
  explicit Lender(const py::buffer& buffer) : info_(buffer.request()), object_(buffer) {}
  ~Lender() {
    const py::gil_scoped_acquire gil;
    info_ = {};
    object_.release().dec_ref();
  }
  std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(info_.ptr), static_cast<size_t>(info_.size * info_.itemsize)};
  }

 private:
  py::buffer_info info_;
  py::object object_;
};

constexpr uintptr_t kAlignment = 16;  // what any element type wants

// C-contiguous bytes, shared where their alignment allows.
RawBytes BytesOf(const py::buffer& buffer) {
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
py::tuple ToPython(const std::string& key, Literal value) {
  if (const absl::Status status = value.Unshare(); !status.ok()) Throw(status, key, "");
  const Shape& shape = value.shape();
  py::tuple sizes(shape.rank());
  for (int64_t d = 0; d < shape.rank(); ++d) sizes[d] = shape.size(d);
  py::object bytes;
  if (StoredAsNpy(value)) {
    auto* const owner = new Literal(std::move(value));
    const py::capsule capsule(owner, [](void* p) { delete static_cast<Literal*>(p); });
    bytes = py::array(py::dtype("u1"), {static_cast<py::ssize_t>(owner->bytes().size())}, {py::ssize_t{1}},
                      owner->data(), capsule);
    return py::make_tuple(key, Name(owner->shape().element_type()), sizes, bytes);
  }
  const std::string file = EncodeNpy(value);
  const std::string_view data = std::string_view(file).substr(NpyHeader(value).size());
  return py::make_tuple(key, Name(shape.element_type()), sizes,
                        py::array(py::dtype("u1"), {static_cast<py::ssize_t>(data.size())}, data.data()));
}

// An array is ("f32", (2, 3)), with None for a free dimension; a tuple a list, a token None.
py::object Describe(const Shape& shape) {
  if (shape.IsTuple()) {
    py::list elements;
    for (const Shape& element : shape.elements()) elements.append(Describe(element));
    return elements;
  }
  if (!shape.IsArray()) return py::none();
  py::list sizes;
  for (int64_t size : shape.sizes())
    sizes.append(size == kUnboundedSize ? py::object(py::none()) : py::object(py::int_(size)));
  return py::make_tuple(std::string(Name(shape.element_type())), py::tuple(sizes));
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
  throw py::value_error("engine is '" + engine + "', wanted 'exact', 'fast', 'gpu' or 'reference'");
}

Crosscheck CrosscheckOf(const std::string& word) {
  if (word == "off") return Crosscheck::kOff;
  if (word == "sample") return Crosscheck::kSample;
  if (word == "full") return Crosscheck::kFull;
  throw py::value_error("crosscheck is '" + word + "', wanted 'off', 'sample' or 'full'");
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
  py::bytes ToProto() const {
    RequireShapes();
    return Exported(ExportProto(program_.as_written()));
  }
  std::string DescribeInputs() const { return DescribeParameters(program_.verified()); }

  py::list Parameters() const {
    const Computation& entry = program_.module().entry_computation();
    py::list parameters;
    for (int32_t parameter : entry.parameters)
      parameters.append(Describe(*entry.instructions[parameter].shape));
    return parameters;
  }
  py::object Result() const {
    return Describe(*PrintedShape(program_.module().entry_computation().root_instruction()));
  }

  // What arrays are given by: key -> (descriptor, element type where the descriptor does
  // not say it, sizes, C-contiguous buffer of bytes).
  using Arrays =
      std::map<std::string, std::tuple<std::string, std::string, std::vector<int64_t>, py::buffer>>;

  // The results, by key, which all devices agree on.
  py::list Evaluate(const Arrays& arrays, const Options& options) {
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
  py::list EvaluateDevices(const Arrays& arrays, const Options& options, int64_t replicas,
                           int64_t partitions) {
    py::list all;
    for (const NamedLiterals& device :
         RunChecked(arrays, options, {.replicas = replicas, .partitions = partitions}))
      all.append(Leaves(device));
    return all;
  }

  // How outputs of a backend, by key, lie in what the profile lets a backend give.
  // A page of it is written to `html`, where that is not empty.
  py::dict Diff(const Arrays& arrays, const Arrays& outputs, const std::string& profile_name,
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
      const py::gil_scoped_release no_gil;
      judged = JudgeAll(choice, run, *profile, inputs, actual, samples, isolate_command);
      if (judged.ok() && !html.empty()) {
        const absl::Status written = WritePage(html, *profile, options.engine, *judged);
        if (!written.ok()) judged = written;
      }
      inputs.clear();
      actual.clear();
    }
    if (PyErr_Occurred() != nullptr) throw py::error_already_set();  // Ctrl-C
    if (!judged.ok()) Throw(judged.status(), name_, text_);
    py::list conformances, notes;
    for (const ReportedOutput& output : judged->outputs) conformances.append(DictOf(output.judged));
    for (const DerivedBounds::Note& note : judged->unchecked)
      notes.append(py::make_tuple(note.instruction, note.op, note.why));
    py::dict result;
    result["outputs"] = conformances;
    result["undecided_from"] = notes;
    result["samples"] = judged->samples;
    py::list reasons;
    for (const Reason& reason : judged->reasons) reasons.append(DictOf(reason));
    result["reasons"] = reasons;
    return result;
  }

  // (replicas, partitions) that the program runs on where these are asked for, 0 for as many as it wants.
  py::tuple Grid(int64_t replicas, int64_t partitions) const {
    const absl::StatusOr<DeviceGrid> grid =
        ResolveDeviceGrid(program_.module(), {.replicas = replicas, .partitions = partitions});
    if (!grid.ok()) Throw(grid.status(), name_, text_);
    return py::make_tuple(grid->replicas, grid->partitions);
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
      const py::gil_scoped_release no_gil;
      results = Run(choice, run, inputs, devices);
      inputs.clear();
    }
    if (PyErr_Occurred() != nullptr) throw py::error_already_set();  // Ctrl-C
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

  static py::dict DictOf(const Conformance& output) {
    py::list worst;
    for (const Conformance::Element& element : output.worst) {
      worst.append(py::make_tuple(
          py::tuple(py::cast(std::vector<int64_t>(element.index.begin(), element.index.end()))),
          element.exact, element.actual, element.radius, element.ulps, element.share));
    }
    py::list farthest;
    for (const Conformance::Estimated& element : output.farthest) {
      farthest.append(py::make_tuple(
          py::tuple(py::cast(std::vector<int64_t>(element.index.begin(), element.index.end()))),
          element.exact, element.actual, element.ulps, element.spread, element.share, element.distance,
          element.allowed));
    }
    py::dict result;
    result["key"] = output.key;
    result["error"] = output.error;
    result["elements"] = output.elements;
    result["inside"] = output.inside;
    result["outside"] = output.outside;
    result["undecided"] = output.unchecked;
    result["plausible"] = output.plausible;
    result["implausible"] = output.implausible;
    result["farthest"] = farthest;
    result["largest_share"] = output.largest_share;
    result["worst"] = worst;
    return result;
  }

  // The fields of assay.Reason.
  static py::dict DictOf(const Reason& reason) {
    const auto iteration = [](const FirstUndecided& at) -> py::object {
      return at.iteration < 0 ? py::object(py::none()) : py::object(py::int_(at.iteration));
    };
    py::dict result;
    result["output"] = reason.key;
    result["instruction"] = reason.first.instruction;
    result["op"] = reason.first.op;
    result["inside"] = reason.first.inside;
    result["iteration"] = iteration(reason.first);
    result["why"] = reason.first.why;
    result["plausible"] = reason.plausible;
    result["implausible"] = reason.implausible;
    result["undecided"] = reason.undecided;
    result["lacks_rule"] = reason.lacks_rule;
    result["next"] = reason.next;
    result["text"] = fmt::format("nothing is proven of {} {}", ElementsOf(reason), WhyOf(reason));
    result["samples_part"] = PartingOf(reason);
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
      const py::gil_scoped_acquire gil;
      return PyErr_CheckSignals() != 0;
    };
    run.print = [](const std::string& name, const Literal& value) {
      const py::gil_scoped_acquire gil;
      py::print(
          fmt::format("{} {}\n{}", EscapeControls(name), value.shape().ToString(), LiteralToDisplay(value)));
    };
    return run;
  }

  static py::list Leaves(const NamedLiterals& results) {
    py::list leaves;
    for (const auto& [key, value] : results) leaves.append(ToPython(key, value));
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

}  // namespace
}  // namespace assay

PYBIND11_MODULE(_assay, m) {
  using assay::Options;
  using assay::PyModule;
  m.doc() = "The evaluator. Use the package assay, not this module.";
  m.def("key_of_seed", &assay::KeyOfSeed);
  m.attr("version") = ASSAY_VERSION;

  static py::exception<assay::StatusError> status_error(m, "StatusError");
  // pybind11 says what the parameter is. NOLINTNEXTLINE(performance-unnecessary-value-param)
  py::register_exception_translator([](std::exception_ptr p) {
    try {
      if (p) std::rethrow_exception(p);
    } catch (const assay::StatusError& error) {
      const py::tuple arguments = py::make_tuple(error.what(), error.code);
      PyErr_SetObject(status_error.ptr(), arguments.ptr());
    }
  });

  py::class_<Options>(m, "Options")
      .def(py::init<>())
      .def_readwrite("engine", &Options::engine)
      .def_readwrite("crosscheck", &Options::crosscheck)
      .def_readwrite("jobs", &Options::jobs)
      .def_readwrite("max_steps", &Options::max_steps)
      .def_readwrite("memory_limit", &Options::memory_limit)
      .def_readwrite("timeout", &Options::timeout)
      .def_readwrite("seed", &Options::seed);

  py::class_<PyModule>(m, "Module")
      .def(py::init([](const std::string& name, const py::bytes& program, bool lapack) {
        return std::make_unique<PyModule>(name, std::string(program), lapack);
      }))
      .def("to_hlo", &PyModule::ToHlo)
      .def("to_mlir", &PyModule::ToMlir)
      .def("to_proto", &PyModule::ToProto)
      .def("describe_inputs", &PyModule::DescribeInputs)
      .def("parameters", &PyModule::Parameters)
      .def("result", &PyModule::Result)
      .def("evaluate", &PyModule::Evaluate)
      .def("evaluate_devices", &PyModule::EvaluateDevices)
      .def("diff", &PyModule::Diff)
      .def("sampled", &PyModule::Sampled)
      .def("grid", &PyModule::Grid);
  assay::BindOps(m);
  assay::DefineFfi(m, [](const absl::Status& status) { assay::Throw(status, "assay", ""); });
}
