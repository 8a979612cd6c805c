#include "python/ops_bindings.h"

#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/counted.h"
#include "custom/combined_ops.h"
#include "custom/gradient_program.h"
#include "custom/library.h"
#include "custom/op_document.h"
#include "custom/registry.h"
#include "fmt/format.h"
#include "hlo/load/load.h"
#include "hlo/mlir/export/export.h"
#include "hlo/proto/words.h"
#include "python/classes.h"
#include "python/ffi_bindings.h"
#include "run/program.h"

namespace assay {
namespace {

// Never destroyed: kernels hold Python objects, and the interpreter may be gone.
custom::OpRegistry& RegistryOfProcess() {
  static auto* const registry = new custom::OpRegistry;
  return *registry;
}

void Check(const absl::Status& status) {
  if (!status.ok()) Throw(status, "assay.ops", "");
}

template <typename T>
T Valued(absl::StatusOr<T> value) {
  Check(value.status());
  return *std::move(value);
}

std::string TypeName(AssayType code) {
  const std::optional<ElementType> type = proto::ElementTypeFromNumber(code);
  return type ? std::string(Name(*type)) : "?";
}

std::string_view BytesOf(const AssayArray& array) {
  return {static_cast<const char*>(array.data), static_cast<size_t>(array.bytes)};
}

py::Object SizesOf(const AssayArray& array) {
  return py::SizesOf(std::span(array.sizes, static_cast<size_t>(array.rank)));
}

py::Object ValueOf(const AssayAttr& attr) {
  const auto known_sizes = [](const AssayShape& shape) {
    if (shape.rank < 0) return py::Object::None();
    py::List sizes;
    for (int64_t d = 0; d < shape.rank; ++d)
      sizes.Append(shape.sizes[d] < 0 ? py::Object::None() : py::To(shape.sizes[d]));
    return py::AsTuple(sizes);
  };
  switch (attr.kind) {
    case ASSAY_ATTR_STRING: {
      const std::string_view text(attr.text.data, attr.text.size);
      try {
        return py::Text(text);
      } catch (const py::PythonError&) {
        return py::BytesObject(text);
      }
    }
    case ASSAY_ATTR_INT:
      return py::To(attr.integer);
    case ASSAY_ATTR_FLOAT:
      return py::To(attr.number);
    case ASSAY_ATTR_BOOL:
      return py::To(attr.integer != 0);
    case ASSAY_ATTR_TYPE:
      return py::To(TypeName(static_cast<AssayType>(attr.integer)));
    case ASSAY_ATTR_SHAPE:
      return known_sizes(attr.shape);
    case ASSAY_ATTR_TENSOR:
      return py::Tuple(TypeName(attr.tensor.type), SizesOf(attr.tensor),
                       py::BytesObject(BytesOf(attr.tensor)));
    default: {
      py::List items;
      for (size_t i = 0; i < attr.count; ++i) items.Append(ValueOf(attr.items[i]));
      return items;
    }
  }
}

py::Dict AttrsOf(const AssayAttr* attrs, size_t count) {
  py::Dict values;
  for (size_t i = 0; i < count; ++i) values.Set({attrs[i].name.data, attrs[i].name.size}, ValueOf(attrs[i]));
  return values;
}

// Runs `work` with the interpreter's lock; a Python exception is told to `fail`.
template <typename Work, typename Fail>
void InPython(Work&& work, Fail&& fail) {
  const py::WithLock lock;
  const auto say = [&](const std::string& text) { fail(AssayText{text.data(), text.size()}); };
  try {
    work();
  } catch (const py::PythonError& raised) {
    say(fmt::format("raised {}", raised.what()));
  } catch (const std::exception& thrown) {
    say(thrown.what());
  }
}

// The functions that Python gave for an operation. They live as long as the process.
struct PyOp {
  py::Object kernel, shape;
};

struct PyKernel {
  const PyOp* op;
  py::Dict attrs;
};

void* CreateKernel(void* user, const AssayConstruction* call) {
  PyKernel* made = nullptr;
  InPython(
      [&] {
        made = new PyKernel{static_cast<const PyOp*>(user), AttrsOf(call->attrs, call->num_attrs)};
      },
      [&](AssayText why) { call->fail(call->self, ASSAY_INTERNAL, why); });
  return made;
}

void DestroyKernel(void* kernel) {
  const py::WithLock lock;
  delete static_cast<PyKernel*>(kernel);
}

// kernel([(type, sizes, bytes)], [(type, sizes)], attrs) -> [(sizes, bytes)].
void ComputeKernel(void* self, const AssayCompute* call) {
  const auto& kernel = *static_cast<const PyKernel*>(self);
  const auto run = [&] {
    py::List inputs, outputs;
    for (size_t i = 0; i < call->num_inputs; ++i) {
      const AssayArray& input = call->inputs[i];
      if (input.kind != 0) {
        inputs.Append(py::Object::None());
        continue;
      }
      inputs.Append(py::Tuple(TypeName(input.type), SizesOf(input), py::CopiedMemory(BytesOf(input))));
    }
    for (size_t i = 0; i < call->num_outputs; ++i)
      outputs.Append(py::Tuple(TypeName(call->outputs[i].type), SizesOf(call->outputs[i])));
    const auto results =
        py::From<std::vector<py::Object>>(kernel.op->kernel.Call(py::Tuple(inputs, outputs, kernel.attrs)));
    if (results.size() != call->num_outputs)
      throw std::runtime_error(
          fmt::format("gave {}, wanted {}", Counted(results.size(), "result"), call->num_outputs));
    for (size_t i = 0; i < call->num_outputs; ++i) {
      const auto [sizes, object] = py::From<std::tuple<std::vector<int64_t>, py::Object>>(results[i]);
      const py::Buffer buffer(object);
      void* const data = call->allocate_output(call->self, i, std::ssize(sizes), sizes.data());
      if (data == nullptr) return;  // the run has failed
      std::memcpy(data, buffer.bytes().data(), buffer.bytes().size());
    }
  };
  InPython(run, [&](AssayText why) { call->fail(call->self, ASSAY_FAILED, why); });
}

// shape([sizes, None where unknown], attrs) -> [sizes].
void InferShapes(void* user, const AssayInference* call) {
  const auto run = [&] {
    py::List inputs;
    for (size_t i = 0; i < call->num_inputs; ++i) {
      AssayAttr attr = {};
      attr.kind = ASSAY_ATTR_SHAPE;
      attr.shape = call->inputs[i];
      inputs.Append(ValueOf(attr));
    }
    const auto shapes = py::From<std::vector<py::Object>>(
        static_cast<const PyOp*>(user)->shape.Call(py::Tuple(inputs, AttrsOf(call->attrs, call->num_attrs))));
    if (shapes.size() != call->num_outputs)
      throw std::runtime_error(fmt::format("the shape function gave {}, wanted {}",
                                           Counted(shapes.size(), "shape"), call->num_outputs));
    for (size_t i = 0; i < call->num_outputs; ++i) {
      if (shapes[i].is_none()) continue;
      std::vector<int64_t> sizes;
      for (const py::Object& size : py::From<std::vector<py::Object>>(shapes[i]))
        sizes.push_back(size.is_none() ? int64_t{ASSAY_UNKNOWN} : py::From<int64_t>(size));
      call->set_output(call->self, i, {std::ssize(sizes), sizes.data()});
    }
  };
  InPython(run, [&](AssayText why) { call->fail(call->self, ASSAY_INVALID_ARGUMENT, why); });
}

// gradient(builder, attrs): builder has the methods of PyGradient.
struct PyGradient {
  const AssayGradient* call;
  int64_t Add(const std::string& opcode, const std::vector<int64_t>& operands, const std::string& attributes,
              const std::string& shape) const {
    return call->add(call->self, {opcode.data(), opcode.size()}, {shape.data(), shape.size()},
                     operands.size(), operands.data(), {attributes.data(), attributes.size()});
  }
  py::Object ShapeOf(int64_t instruction) const {
    const AssayShape shape = call->shape_of(call->self, instruction);
    return py::Tuple(TypeName(call->type_of(call->self, instruction)),
                     py::SizesOf(std::span(shape.sizes, static_cast<size_t>(shape.rank))));
  }
  std::vector<int64_t> inputs() const { return {call->inputs, call->inputs + call->num_inputs}; }
  std::vector<int64_t> outputs() const { return {call->outputs, call->outputs + call->num_outputs}; }
  std::vector<int64_t> gradients() const { return {call->gradients, call->gradients + call->num_outputs}; }
  void SetGradient(size_t input, int64_t instruction) const {
    call->set_gradient(call->self, input, instruction);
  }
};

void BuildGradient(void* user, const AssayGradient* call) {
  const auto run = [&] {
    static_cast<const py::Object*>(user)->Call(
        py::Tuple(std::make_unique<PyGradient>(call), AttrsOf(call->attrs, call->num_attrs)));
  };
  InPython(run, [&](AssayText why) { call->fail(call->self, ASSAY_INVALID_ARGUMENT, why); });
}

// The texts of a registration, and what keeps the C views of them.
struct Texts {
  explicit Texts(const std::vector<std::string>& strings) {
    for (const std::string& text : strings) views.push_back({text.data(), text.size()});
  }
  std::vector<AssayText> views;
};

// Returns the name of the operation where it is new.
void RegisterOp(const std::string& name, const std::vector<std::string>& attrs,
                const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                const std::string& doc, bool has_side_effect, const py::Object& kernel,
                const py::Object& shape) {
  auto* const functions = new PyOp{kernel, shape};
  const Texts attr_texts(attrs), input_texts(inputs), output_texts(outputs);
  const auto tell = [&](const AssayRegistrar* registrar) {
    AssayOp op = {};
    op.size = sizeof(op);
    op.name = {name.data(), name.size()}, op.doc = {doc.data(), doc.size()};
    op.attrs = attr_texts.views.data(), op.num_attrs = attr_texts.views.size();
    op.inputs = input_texts.views.data(), op.num_inputs = input_texts.views.size();
    op.outputs = output_texts.views.data(), op.num_outputs = output_texts.views.size();
    op.has_side_effect = has_side_effect ? 1 : 0;
    op.user = functions;
    op.infer = shape.is_none() ? nullptr : InferShapes;
    registrar->op(registrar->self, &op);
    if (kernel.is_none()) return;
    AssayKernel made = {};
    made.size = sizeof(made);
    made.op = op.name;
    made.user = functions;
    made.create = CreateKernel, made.compute = ComputeKernel, made.destroy = DestroyKernel;
    registrar->kernel(registrar->self, &made);
  };
  absl::StatusOr<custom::Registrations> registrations = custom::Collect(tell);
  Check(registrations.status());
  if (RegistryOfProcess().ops()->FindOp(name) != nullptr)
    Check(InvalidProgram({}, fmt::format("op {} is registered already", name)));
  Check(RegistryOfProcess().Add(*registrations).status());
}

void RegisterGradient(const std::string& name, const py::Object& function) {
  auto* const kept = new py::Object(function);
  const auto tell = [&](const AssayRegistrar* registrar) {
    AssayGradientDef gradient = {};
    gradient.size = sizeof(gradient);
    gradient.op = {name.data(), name.size()};
    gradient.user = kept;
    gradient.build = function.is_none() ? nullptr : BuildGradient;
    registrar->gradient(registrar->self, &gradient);
  };
  absl::StatusOr<custom::Registrations> registrations = custom::Collect(tell);
  Check(registrations.status());
  Check(RegistryOfProcess().Add(*registrations).status());
}

std::shared_ptr<const custom::RegisteredOp> OpOf(const std::string& name) {
  const std::shared_ptr<const custom::OpSet> ops = RegistryOfProcess().ops();
  const custom::RegisteredOp* const op = ops->FindOp(name);
  if (op == nullptr) Check(InvalidProgram({}, fmt::format("there is no registered op '{}'", name)));
  return {ops, op};
}

using PyShape = std::tuple<std::string, std::vector<int64_t>>;

Shape ShapeOf(const PyShape& given) {
  const auto& [name, sizes] = given;
  const std::optional<ElementType> type = ElementTypeFromName(name);
  if (!type) Check(BadInput(fmt::format("there is no element type '{}'", name)));
  return Valued(Shape::Array(*type, sizes));
}

// A call of an operation that stands in no program yet.
struct LooseCall {
  LooseCall(const std::vector<PyShape>& operands, const std::string& config) {
    instruction.opcode = Opcode::kCustomCall;
    auto extras = std::make_shared<InstructionExtras>();
    extras->backend_config.text = config;
    instruction.extras = std::move(extras);
    for (const PyShape& operand : operands) views.push_back(&shapes.emplace_back(ShapeOf(operand)));
  }
  Instruction instruction;
  std::deque<Shape> shapes;
  std::vector<const Shape*> views;
};

// Of each result (type, sizes); sizes None where the shape function does not say them all.
py::List InferOutputs(const std::string& name, const std::vector<PyShape>& operands,
                      const std::string& config) {
  const LooseCall call(operands, config);
  py::List results;
  for (const auto& output : Valued(OpOf(name)->InferOutputs(call.instruction, call.views))) {
    bool is_known = output.shape.dims.has_value();
    for (const int64_t size : output.shape.dims.value_or(std::vector<int64_t>()))
      is_known = is_known && size >= 0;
    results.Append(
        py::Tuple(Name(output.type), is_known ? py::SizesOf(*output.shape.dims) : py::Object::None()));
  }
  return results;
}

// The gradient's program as StableHLO text.
std::string GradientMlir(const std::string& name, const std::vector<PyShape>& operands,
                         const std::string& config, const std::vector<PyShape>& results) {
  const LooseCall call(operands, config);
  std::vector<Shape> shapes;
  shapes.reserve(results.size());
  for (const PyShape& result : results) shapes.push_back(ShapeOf(result));
  const std::string text = Valued(custom::GradientProgram(*OpOf(name), call.instruction, call.views, shapes));
  const Program program = Valued(Program::Load("gradient.hlo", text));
  return Valued(ExportStableHlo(program.as_written()));
}

std::vector<std::string> LoadLibrary(const std::string& path, bool isolate) {
  return Valued(custom::LoadOps(RegistryOfProcess(), path, isolate));
}

std::vector<std::string> OpNames() {
  std::vector<std::string> names;
  for (const auto& [name, op] : RegistryOfProcess().ops()->ops()) names.push_back(name);
  return names;
}

std::string OpWrapper(const std::string& name) { return custom::PythonWrapper(OpOf(name)->interface()); }
std::string OpWrapperName(const std::string& name) { return custom::WrapperName(name); }
std::string OpDocument(const std::string& name) { return custom::DocumentOf(OpOf(name)->interface()); }
bool OpHasGradient(const std::string& name) { return OpOf(name)->gradient() != nullptr; }

// Of each input (the attribute that says how many arrays a sequence has, or "",
// whether it lists their types).
std::vector<std::pair<std::string, bool>> OpInputs(const std::string& name) {
  std::vector<std::pair<std::string, bool>> inputs;
  for (const custom::OpArgument& input : OpOf(name)->interface().inputs)
    inputs.emplace_back(input.length_attr(), input.has_type_list);
  return inputs;
}

}  // namespace

std::shared_ptr<const CustomOps> OpsOfProcess() {
  // As long as nothing is registered it is one object: programs that are loaded again are known by it.
  struct Known {
    std::mutex mutex;
    std::shared_ptr<const CustomOps> ops, handlers, both;
  };
  static auto* const known = new Known;
  const std::shared_ptr<const custom::OpSet> ops = RegistryOfProcess().ops();
  std::shared_ptr<const CustomOps> handlers = FfiOpsOfProcess();
  if (ops->ops().empty()) return handlers;
  if (handlers == nullptr) return ops;
  const std::lock_guard<std::mutex> lock(known->mutex);
  if (known->ops != ops || known->handlers != handlers) {
    known->ops = ops, known->handlers = handlers;
    known->both = std::make_shared<const custom::CombinedOps>(std::vector{known->ops, known->handlers});
  }
  return known->both;
}

void DefineOps(PyObject* module) {
  static PyMethodDef methods[] = {py::Method<&PyGradient::Add>("add"),
                                  py::Method<&PyGradient::ShapeOf>("shape"),
                                  py::Method<&PyGradient::SetGradient>("set_gradient"),
                                  {}};
  static PyGetSetDef fields[] = {py::Property<&PyGradient::inputs>("inputs"),
                                 py::Property<&PyGradient::outputs>("outputs"),
                                 py::Property<&PyGradient::gradients>("gradients"),
                                 {}};
  static PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(py::Class<PyGradient>::Destroy)},
                                {Py_tp_methods, methods},
                                {Py_tp_getset, fields},
                                {0, nullptr}};
  py::Class<PyGradient>::Define(module, "Gradient", slots, Py_TPFLAGS_DISALLOW_INSTANTIATION);
  static PyMethodDef functions[] = {
      py::Function<&LoadLibrary>("load_ops"),          py::Function<&OpNames>("op_names"),
      py::Function<&RegisterOp>("register_op"),        py::Function<&RegisterGradient>("register_gradient"),
      py::Function<&OpWrapper>("op_wrapper"),          py::Function<&OpWrapperName>("op_wrapper_name"),
      py::Function<&OpDocument>("op_document"),        py::Function<&OpInputs>("op_inputs"),
      py::Function<&OpHasGradient>("op_has_gradient"), py::Function<&InferOutputs>("op_outputs"),
      py::Function<&GradientMlir>("op_gradient"),      {}};
  if (PyModule_AddFunctions(module, functions) != 0) throw py::PythonError();
}

}  // namespace assay
