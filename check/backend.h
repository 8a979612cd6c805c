// What is checked: something that runs programs, a command of the user's or a library with the PJRT C API.
#ifndef ASSAY_CHECK_BACKEND_H_
#define ASSAY_CHECK_BACKEND_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/module.h"
#include "literal/literal.h"

namespace assay {

class Backend {
 public:
  struct Request {
    const Module& module;
    std::string path;  // the file that the module was read from, unchanged; empty: it was made in memory
    const std::vector<Literal>&
        arguments;  // one for each parameter of the entry computation, tuples included
  };
  // By the keys of an .npz of outputs: out0, out1, out1.0, ….
  using Outputs = std::map<std::string, Literal>;

  virtual ~Backend() = default;
  // For messages and reports: a command, or a library and its platform.
  virtual std::string Name() const = 0;
  // The device that it computes on, in the backend's words; empty: it says none.
  virtual std::string Device() const { return {}; }
  // Outputs have the types and shapes of the entry computation's result. One that the backend did not give is
  // left out; one of another type or shape, and a backend that fails,
  // is an EvalError with the backend's own words.
  virtual absl::StatusOr<Outputs> Run(const Request& request) = 0;
};

}  // namespace assay

#endif  // ASSAY_CHECK_BACKEND_H_
