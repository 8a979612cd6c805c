// Objects of Python, within the stable ABI of CPython 3.11 and later (Py_LIMITED_API), so that one module
// serves every version from there on. pybind11 has no stable ABI, and nanobind's begins with 3.12, while
// Debian 12 has 3.11.
#ifndef ASSAY_PYTHON_OBJECTS_H_
#define ASSAY_PYTHON_OBJECTS_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <exception>
#include <initializer_list>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace assay::py {

// An owned reference, or none. Copied and destroyed with the interpreter's lock.
class Object {
 public:
  Object() = default;
  // Throws PythonError where `object` is null: a function of Python's then has set an exception.
  static Object Steal(PyObject* object);
  static Object Share(PyObject* object) {
    Py_XINCREF(object);
    return Object(object);
  }
  static Object None() { return Share(Py_None); }
  static Object Import(const char* module) { return Steal(PyImport_ImportModule(module)); }
  Object(const Object& other) : Object(Share(other.object_).release()) {}
  Object(Object&& other) noexcept : object_(other.release()) {}
  Object& operator=(Object other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Object() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  bool is_none() const { return object_ == Py_None; }
  Object Attribute(const char* name) const { return Steal(PyObject_GetAttrString(object_, name)); }
  Object Call(const Object& arguments) const { return Steal(PyObject_CallObject(object_, arguments.get())); }

 private:
  explicit Object(PyObject* object) : object_(object) {}
  PyObject* object_ = nullptr;
};

// What a bound function ends with where it fails; the border makes it Python's exception.
class Exception : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  virtual void Set() const = 0;
};
class TypeError : public Exception {
 public:
  using Exception::Exception;
  void Set() const override { PyErr_SetString(PyExc_TypeError, what()); }
};
class ValueError : public Exception {
 public:
  using Exception::Exception;
  void Set() const override { PyErr_SetString(PyExc_ValueError, what()); }
};

// Python's exception that is set, taken away from the interpreter.
class PythonError : public Exception {
 public:
  PythonError() : PythonError(Taken()) {}
  void Set() const override;

 private:
  struct Parts {
    Object type, value, traceback;
  };
  static Parts Taken();
  static std::string TextOf(const Parts& parts);
  explicit PythonError(Parts parts) : Exception(TextOf(parts)), parts_(std::move(parts)) {}
  Parts parts_;
};

// The interpreter's lock, for a while or not.
class WithLock {
 public:
  WithLock() : state_(PyGILState_Ensure()) {}
  ~WithLock() { PyGILState_Release(state_); }
  WithLock(const WithLock&) = delete;
  WithLock& operator=(const WithLock&) = delete;

 private:
  PyGILState_STATE state_;
};
class WithoutLock {
 public:
  WithoutLock() : state_(PyEval_SaveThread()) {}
  ~WithoutLock() { PyEval_RestoreThread(state_); }
  WithoutLock(const WithoutLock&) = delete;
  WithoutLock& operator=(const WithoutLock&) = delete;

 private:
  PyThreadState* state_;
};

// The contiguous bytes of an object, as long as this lives.
class Buffer {
 public:
  explicit Buffer(const Object& object);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(view_.buf), static_cast<size_t>(view_.len)};
  }

 private:
  Py_buffer view_;
};

// Memory that Python may read and write (memoryview, np.frombuffer), as long as `owner` lives.
Object Memory(std::shared_ptr<void> owner, std::span<std::byte> bytes);
Object CopiedMemory(std::string_view bytes);

// print(text), wherever Python prints to.
void Print(std::string_view text);
// The text as str; PythonError where it is no UTF-8.
Object Text(std::string_view text);
Object BytesObject(std::string_view bytes);
Object TupleOf(std::initializer_list<Object> items);
// What is in a capsule, whatever its name is.
void* PointerIn(const Object& capsule);

// list, and dict with keys of text.
class List : public Object {
 public:
  List() : Object(Steal(PyList_New(0))) {}
  void Append(const Object& item) {
    if (PyList_Append(get(), item.get()) != 0) throw PythonError();
  }
};
class Dict : public Object {
 public:
  Dict() : Object(Steal(PyDict_New())) {}
  void Set(std::string_view key, const Object& value) {
    if (PyObject_SetItem(get(), Text(key).get(), value.get()) != 0) throw PythonError();
  }
};

// Adds to the module the type of what Memory gives.
void DefineMemory(PyObject* module);

}  // namespace assay::py

#endif  // ASSAY_PYTHON_OBJECTS_H_
