#include "check/measure/both.h"

#include "base/run_guard.h"
#include "fmt/format.h"
#include "run/inputs/program_io.h"
#include "run/program.h"

namespace assay {

absl::StatusOr<BothOutputs> Both::Run(const std::string& text, const std::vector<Literal>& arguments) {
  ASSAY_ASSIGN_OR_RETURN(const Program program, Program::Load("measured.hlo", "HloModule measured\n" + text));
  ASSAY_ASSIGN_OR_RETURN(const Literal root, program.Run(arguments, options_.run, options_.engines));
  ASSAY_ASSIGN_OR_RETURN(Backend::Outputs given, backend_.Run({program.module(), "", arguments}));
  BothOutputs outputs;
  for (auto& [key, exact] : ResultsOf(root)) {
    const auto it = given.find(key);
    if (it == given.end()) return EvalError({}, fmt::format("the backend gave no {}", key));
    outputs.exact.push_back(exact);
    outputs.actual.push_back(std::move(it->second));
  }
  return outputs;
}

bool IsRefusal(const absl::Status& status) {
  return PollWork().ok() && !IsMemoryError(status) &&
         (status.code() == EvalError({}, "").code() || status.code() == NotSupported({}, "").code());
}

}  // namespace assay
