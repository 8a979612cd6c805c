// Values of C++ from and to Python's objects, and functions and classes of C++ as Python's (objects.h).
//
//   static PyMethodDef functions[] = {py::Function<Half>("half"), {}};          double Half(double)
//   static PyMethodDef methods[] = {py::Method<&Module::ToHlo>("to_hlo"), {}};
#ifndef ASSAY_PYTHON_CLASSES_H_
#define ASSAY_PYTHON_CLASSES_H_

#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "python/objects.h"

namespace assay::py {

// A bound value lies beside its object. Instances are made by Make, or by Python where the class has a
// constructor.
template <typename T>
class Class {
 public:
  // `slots`, which end with {0, nullptr}, and `name` live as long as the process.
  static void Define(PyObject* module, const char* name, PyType_Slot* slots, unsigned int flags = 0) {
    static std::string qualified = std::string("assay._assay.") + name;
    PyType_Spec spec = {qualified.c_str(), sizeof(Instance), 0,
                        static_cast<unsigned int>(Py_TPFLAGS_DEFAULT) | flags, slots};
    type_ = Object::Steal(PyType_FromSpec(&spec)).release();
    if (PyModule_AddObjectRef(module, name, type_) != 0) throw PythonError();
  }

  static Object Make(std::unique_ptr<T> value) {
    return New(reinterpret_cast<PyTypeObject*>(type_), std::move(value));
  }
  static Object New(PyTypeObject* type, std::unique_ptr<T> value) {
    Object made = Object::Steal(PyType_GenericAlloc(type, 0));
    reinterpret_cast<Instance*>(made.get())->value = value.release();
    return made;
  }
  static T& ValueOf(PyObject* object) { return *reinterpret_cast<Instance*>(object)->value; }
  static bool Is(PyObject* object) {
    return PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(type_));
  }

  // The slot Py_tp_dealloc.
  static void Destroy(PyObject* self) {
    PyTypeObject* const type = Py_TYPE(self);
    delete reinterpret_cast<Instance*>(self)->value;
    reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
  }

 private:
  struct Instance {
    PyObject_HEAD T* value;
  };
  static inline PyObject* type_ = nullptr;
};

// ---- from Python ----

[[noreturn]] inline void Mismatch(PyObject* given, const char* wanted) {
  const Object name =
      Object::Steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(given)), "__name__"));
  const char* const text = PyUnicode_AsUTF8AndSize(name.get(), nullptr);
  throw TypeError(std::string("a ") + (text == nullptr ? "?" : text) + ", wanted " + wanted);
}

template <typename T>
struct Conversion {  // a reference to a bound value
  static T& From(PyObject* object) {
    if (!Class<T>::Is(object)) Mismatch(object, "an object of the module's own");
    return Class<T>::ValueOf(object);
  }
};

template <typename T>
decltype(auto) From(const Object& object) {
  return Conversion<T>::From(object.get());
}

template <>
struct Conversion<Object> {
  static Object From(PyObject* object) { return Object::Share(object); }
};
// Text, or bytes as they are.
template <>
struct Conversion<std::string> {
  static std::string From(PyObject* object) {
    Py_ssize_t size = 0;
    if (PyUnicode_Check(object)) {
      const char* const text = PyUnicode_AsUTF8AndSize(object, &size);
      if (text == nullptr) throw PythonError();
      return {text, static_cast<size_t>(size)};
    }
    char* bytes = nullptr;
    if (!PyBytes_Check(object)) Mismatch(object, "a str or bytes");
    if (PyBytes_AsStringAndSize(object, &bytes, &size) != 0) throw PythonError();
    return {bytes, static_cast<size_t>(size)};
  }
};
template <>
struct Conversion<bool> {
  static bool From(PyObject* object) {
    const int truth = PyObject_IsTrue(object);
    if (truth < 0) throw PythonError();
    return truth != 0;
  }
};
template <std::integral T>
struct Conversion<T> {
  static T From(PyObject* object) {
    const Object index = Object::Steal(PyNumber_Index(object));
    const auto value = std::is_signed_v<T> ? static_cast<uint64_t>(PyLong_AsLongLong(index.get()))
                                           : PyLong_AsUnsignedLongLong(index.get());
    if (value == UINT64_MAX && PyErr_Occurred() != nullptr) throw PythonError();
    const auto narrow = static_cast<T>(value);
    if (static_cast<uint64_t>(narrow) != value)
      throw ValueError("an integer that has more than " + std::to_string(8 * sizeof(T)) + " bits");
    return narrow;
  }
};
template <>
struct Conversion<double> {
  static double From(PyObject* object) {
    const double value = PyFloat_AsDouble(object);
    if (value == -1 && PyErr_Occurred() != nullptr) throw PythonError();
    return value;
  }
};

inline Py_ssize_t SizeOfSequence(PyObject* object) {
  if (!PySequence_Check(object) || PyUnicode_Check(object) || PyBytes_Check(object))
    Mismatch(object, "a sequence");
  const Py_ssize_t size = PySequence_Size(object);
  if (size < 0) throw PythonError();
  return size;
}

template <typename T>
struct Conversion<std::vector<T>> {
  static std::vector<T> From(PyObject* object) {
    std::vector<T> items;
    const Py_ssize_t size = SizeOfSequence(object);
    for (Py_ssize_t i = 0; i < size; ++i)
      items.push_back(py::From<T>(Object::Steal(PySequence_GetItem(object, i))));
    return items;
  }
};
template <typename... T>
struct Conversion<std::tuple<T...>> {
  static std::tuple<T...> From(PyObject* object) {
    if (SizeOfSequence(object) != sizeof...(T))
      throw TypeError("a sequence of another size, wanted " + std::to_string(sizeof...(T)));
    return OfItems(object, std::index_sequence_for<T...>());
  }

 private:
  template <size_t... kIds>
  static std::tuple<T...> OfItems(PyObject* object, std::index_sequence<kIds...>) {
    return {py::From<T>(Object::Steal(PySequence_GetItem(object, kIds)))...};
  }
};
template <typename T>
struct Conversion<std::map<std::string, T>> {
  static std::map<std::string, T> From(PyObject* object) {
    if (!PyDict_Check(object)) Mismatch(object, "a dict");
    std::map<std::string, T> items;
    PyObject *key = nullptr, *value = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(object, &at, &key, &value) != 0;)
      items.emplace(Conversion<std::string>::From(key), Conversion<T>::From(value));
    return items;
  }
};

// ---- to Python ----

inline Object To(Object object) { return object; }
inline Object To(std::string_view text) { return Text(text); }
inline Object To(const std::string& text) { return Text(text); }
inline Object To(const char* text) { return Text(text); }
inline Object To(double value) { return Object::Steal(PyFloat_FromDouble(value)); }
template <std::integral T>
Object To(T value) {
  if constexpr (std::same_as<T, bool>)
    return Object::Steal(PyBool_FromLong(value));
  else if constexpr (std::is_signed_v<T>)
    return Object::Steal(PyLong_FromLongLong(value));
  else
    return Object::Steal(PyLong_FromUnsignedLongLong(value));
}
template <typename T>
Object To(std::unique_ptr<T> value) {
  return Class<T>::Make(std::move(value));
}
template <typename A, typename B>
Object To(const std::pair<A, B>& pair) {
  return TupleOf({To(pair.first), To(pair.second)});
}
template <typename T>
Object To(const std::vector<T>& items) {
  List list;
  for (const T& item : items) list.Append(To(item));
  return list;
}
template <typename... T>
Object Tuple(T&&... items) {
  return TupleOf({To(std::forward<T>(items))...});
}
// A tuple of the items of a sequence.
inline Object AsTuple(const Object& sequence) { return Object::Steal(PySequence_Tuple(sequence.get())); }

// (2, 3)
inline Object SizesOf(std::span<const int64_t> sizes) {
  return AsTuple(To(std::vector<int64_t>(sizes.begin(), sizes.end())));
}

// ---- functions and classes ----

// work(), whose exceptions become Python's. Null where there is one.
template <typename Work>
PyObject* Guarded(Work&& work) noexcept {
  try {
    return work().release();
  } catch (const Exception& error) {
    error.Set();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

template <typename... Args, typename Call, size_t... kIds>
decltype(auto) ApplyItems(Call&& call, [[maybe_unused]] PyObject* items, std::index_sequence<kIds...>) {
  return call(Conversion<std::remove_cvref_t<Args>>::From(PyTuple_GetItem(items, kIds))...);
}

// call(items of the tuple), as To makes it; None where it returns nothing.
template <typename Result, typename... Args, typename Call>
Object Apply(Call&& call, PyObject* items) {
  if (PyTuple_Size(items) != sizeof...(Args)) {
    throw TypeError("wants " + std::to_string(sizeof...(Args)) + " arguments, got " +
                    std::to_string(PyTuple_Size(items)));
  }
  if constexpr (std::is_void_v<Result>) {
    ApplyItems<Args...>(call, items, std::index_sequence_for<Args...>());
    return Object::None();
  } else {
    return To(ApplyItems<Args...>(call, items, std::index_sequence_for<Args...>()));
  }
}

template <typename F>
struct Caller;
template <typename Result, typename... Args>
struct Caller<Result (*)(Args...)> {
  template <auto kFunction>
  static PyObject* Call(PyObject*, PyObject* items) {
    return Guarded([&] { return Apply<Result, Args...>(kFunction, items); });
  }
  // Py_tp_new by a function that gives a std::unique_ptr<T>.
  template <typename T, auto kFunction>
  static PyObject* New(PyTypeObject* type, PyObject* items, PyObject*) {
    return Guarded([&] {
      if (PyTuple_Size(items) != sizeof...(Args))
        throw TypeError("wants " + std::to_string(sizeof...(Args)) + " arguments");
      return Class<T>::New(type, ApplyItems<Args...>(kFunction, items, std::index_sequence_for<Args...>()));
    });
  }
};
template <typename T, typename Result, typename... Args>
struct Caller<Result (T::*)(Args...)> {
  template <auto kFunction>
  static PyObject* Call(PyObject* self, PyObject* items) {
    const auto call = [&](auto&&... args) -> Result {
      return (Class<T>::ValueOf(self).*kFunction)(std::forward<decltype(args)>(args)...);
    };
    return Guarded([&] { return Apply<Result, Args...>(call, items); });
  }
};
template <typename T, typename Result, typename... Args>
struct Caller<Result (T::*)(Args...) const> : Caller<Result (T::*)(Args...)> {};

template <auto kFunction>
constexpr PyMethodDef Function(const char* name) {
  return {name, &Caller<decltype(kFunction)>::template Call<kFunction>, METH_VARARGS, nullptr};
}
template <auto kFunction>
constexpr PyMethodDef Method(const char* name) {
  return Function<kFunction>(name);
}

template <typename F>
struct FieldOf;
template <typename T, typename V>
struct FieldOf<V T::*> {
  template <auto kField>
  static PyObject* Get(PyObject* self, void*) {
    return Guarded([&] { return To(Class<T>::ValueOf(self).*kField); });
  }
  template <auto kField>
  static int Set(PyObject* self, PyObject* value, void*) {
    const auto assign = [&] {
      if (value == nullptr) throw TypeError("the field can't be deleted");
      Class<T>::ValueOf(self).*kField = Conversion<V>::From(value);
      return Object::None();
    };
    PyObject* const done = Guarded(assign);
    Py_XDECREF(done);
    return done == nullptr ? -1 : 0;
  }
};
template <auto kField>
constexpr PyGetSetDef Field(const char* name) {
  return {name, &FieldOf<decltype(kField)>::template Get<kField>,
          &FieldOf<decltype(kField)>::template Set<kField>, nullptr, nullptr};
}
// A method without arguments as a field that can only be read.
template <auto kFunction>
constexpr PyGetSetDef Property(const char* name) {
  return {name,
          [](PyObject* self, void*) -> PyObject* {
            const Object nothing = TupleOf({});
            return Caller<decltype(kFunction)>::template Call<kFunction>(self, nothing.get());
          },
          nullptr, nullptr, nullptr};
}

}  // namespace assay::py

#endif  // ASSAY_PYTHON_CLASSES_H_
