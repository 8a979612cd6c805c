#include "python/objects.h"

#include "python/classes.h"

namespace assay::py {
namespace {

struct SharedMemory {
  std::shared_ptr<void> owner;
  std::span<std::byte> bytes;
};

int FillView(PyObject* self, Py_buffer* view, int flags) {
  const std::span<std::byte> bytes = Class<SharedMemory>::ValueOf(self).bytes;
  return PyBuffer_FillInfo(view, self, bytes.data(), std::ssize(bytes), /*readonly=*/0, flags);
}

// "\n\nAt:\n  file(line): function" of the innermost call, as far as Python knows it.
std::string PlaceOf(const Object& traceback) {
  const Object frames = Object::Import("traceback").Attribute("extract_tb").Call(TupleOf({traceback}));
  std::string text = "\n\nAt:";
  for (Py_ssize_t i = PySequence_Size(frames.get()); i-- > 0;) {
    const Object frame = Object::Steal(PySequence_GetItem(frames.get(), i));
    text += "\n  " + From<std::string>(frame.Attribute("filename")) + "(" +
            std::to_string(From<int64_t>(frame.Attribute("lineno"))) +
            "): " + From<std::string>(frame.Attribute("name"));
  }
  return text;
}

}  // namespace

Object Object::Steal(PyObject* object) {
  if (object == nullptr) throw PythonError();
  return Object(object);
}

PythonError::Parts PythonError::Taken() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  Parts parts;
  if (type != nullptr) parts.type = Object::Steal(type);
  if (value != nullptr) parts.value = Object::Steal(value);
  if (traceback != nullptr) parts.traceback = Object::Steal(traceback);
  return parts;
}

std::string PythonError::TextOf(const Parts& parts) {
  if (parts.type.get() == nullptr) return "a function of Python's failed, and set no exception";
  try {
    std::string text = From<std::string>(parts.type.Attribute("__name__"));
    text += ": " + From<std::string>(Object::Steal(PyObject_Str(parts.value.get())));
    if (parts.traceback.get() != nullptr) text += PlaceOf(parts.traceback);
    return text;
  } catch (const Exception&) {
    return "an exception of Python's that has no text";
  }
}

void PythonError::Set() const {
  if (parts_.type.get() == nullptr) return PyErr_SetString(PyExc_SystemError, what());
  Parts parts = parts_;
  PyErr_Restore(parts.type.release(), parts.value.release(), parts.traceback.release());
}

Buffer::Buffer(const Object& object) {
  if (PyObject_GetBuffer(object.get(), &view_, PyBUF_SIMPLE) != 0) throw PythonError();
}

Buffer::~Buffer() { PyBuffer_Release(&view_); }

Object Memory(std::shared_ptr<void> owner, std::span<std::byte> bytes) {
  return Class<SharedMemory>::Make(std::make_unique<SharedMemory>(SharedMemory{std::move(owner), bytes}));
}

Object CopiedMemory(std::string_view bytes) {
  const auto copy = std::make_shared<std::string>(bytes);
  return Memory(copy, std::as_writable_bytes(std::span(copy->data(), copy->size())));
}

void DefineMemory(PyObject* module) {
  static PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(FillView)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(Class<SharedMemory>::Destroy)},
                                {0, nullptr}};
  Class<SharedMemory>::Define(module, "Memory", slots, Py_TPFLAGS_DISALLOW_INSTANTIATION);
}

void Print(std::string_view text) {
  Object::Import("builtins").Attribute("print").Call(TupleOf({Text(text)}));
}

Object Text(std::string_view text) {
  return Object::Steal(PyUnicode_DecodeUTF8(text.data(), std::ssize(text), nullptr));
}

Object BytesObject(std::string_view bytes) {
  return Object::Steal(PyBytes_FromStringAndSize(bytes.data(), std::ssize(bytes)));
}

Object TupleOf(std::initializer_list<Object> items) {
  Object tuple = Object::Steal(PyTuple_New(std::ssize(items)));
  Py_ssize_t i = 0;
  for (const Object& item : items) {
    if (PyTuple_SetItem(tuple.get(), i++, Object(item).release()) != 0) throw PythonError();
  }
  return tuple;
}

void* PointerIn(const Object& capsule) {
  if (!PyCapsule_CheckExact(capsule.get()))
    throw TypeError("want a PyCapsule, as jax.ffi.pycapsule makes them");
  void* const pointer = PyCapsule_GetPointer(capsule.get(), PyCapsule_GetName(capsule.get()));
  if (pointer == nullptr) throw PythonError();
  return pointer;
}

}  // namespace assay::py
