#include "python/signals.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <ctime>

namespace assay {
namespace {

// Python runs handlers in this thread alone.
bool IsMainThread() { return syscall(SYS_gettid) == getpid(); }

// A thread that waits for the interpreter's lock may wait for 5 ms, Python's switch interval: one wait in
// 50 ms is little, and Ctrl-C ends a run within a tenth of a second.
bool IsTime() {
  static std::atomic<int64_t> next = 0;
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  const int64_t time = now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
  if (time < next.load(std::memory_order_relaxed)) return false;
  next.store(time + 50, std::memory_order_relaxed);
  return true;
}

// The exception that ends the run, with the interpreter's lock; null: none.
PyObject* raised = nullptr;
bool is_scheduled = false;
std::atomic<bool> has_raised = false;

void Keep(PyObject* exception) {
  Py_XDECREF(raised);
  raised = exception;
  has_raised = exception != nullptr;
  is_scheduled = false;
}

int RaiseKept(void* /*unused*/) {
  if (raised == nullptr) return 0;
  const py::Object exception = py::Object::Share(raised);
  Keep(nullptr);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.get())), exception.get());
  return -1;
}

int PollSignals() {
  if (!IsMainThread() || (!has_raised && !IsTime()) || Py_IsInitialized() == 0) return 0;
  const py::WithLock lock;
  if (raised == nullptr) {
    if (PyErr_CheckSignals() == 0) return 0;
    PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != nullptr) PyException_SetTraceback(value, traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    Keep(value);
  }
  // As soon as the interpreter goes on. Where its list of such calls is full, by a signal that does the same.
  if (!is_scheduled && Py_AddPendingCall(RaiseKept, nullptr) != 0) {
    Keep(nullptr);
    PyErr_SetInterrupt();
    return 1;
  }
  is_scheduled = true;
  return 1;
}

}  // namespace

int64_t SignalPollAddress() { return reinterpret_cast<int64_t>(&PollSignals); }

void KeepSignalException(const py::Object& exception) {
  if (IsMainThread()) Keep(py::Object(exception).release());
}

}  // namespace assay
