#include "find/reduce/finding.h"

#include "base/file_io.h"
#include "base/new_folder.h"
#include "find/reduce/interest.h"
#include "fmt/format.h"
#include "hlo/text/printer.h"
#include "run/inputs/program_io.h"

namespace assay {
namespace {

// Lines that stand as they are, whatever they contain.
std::string Verbatim(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  std::string lines = "    ";
  for (const char c : text) {
    lines += c;
    if (c == '\n') lines += "    ";
  }
  return lines;
}

std::string Readme(const FindingFolder& finding, const std::string& command) {
  std::string text = fmt::format("# {}\n\nIt shows:\n\n{}\n\nThis command shows it again:\n\n{}\n",
                                 finding.title, Verbatim(finding.what), Verbatim(command));
  for (const std::string& note : finding.notes) text += "\n" + note + "\n";
  return text;
}

}  // namespace

absl::StatusOr<std::string> WriteFinding(const std::string& wanted, const FindingFolder& finding,
                                         const Module& module, const std::vector<Literal>& arguments,
                                         ProgramForm form) {
  absl::StatusOr<WrittenProgram> asked = WriteProgram(module, form);
  const std::string program = asked.ok() ? asked->file : "program.hlo";
  NamedLiterals leaves;
  for (auto& [key, value] : LeavesOfArguments(arguments)) leaves.emplace_back(key, value);
  const auto fill = [&](const std::string& folder, const std::string& name) -> absl::Status {
    ASSAY_RETURN_IF_ERROR(WriteFileAtomically(folder + "/program.hlo", ModuleToText(module)));
    if (asked.ok()) ASSAY_RETURN_IF_ERROR(WriteFileAtomically(folder + "/" + program, asked->bytes));
    ASSAY_RETURN_IF_ERROR(WriteNpzFile(folder + "/inputs.npz", leaves));
    const std::string command = finding.command(name + "/" + program, name + "/inputs.npz");
    return WriteFileAtomically(folder + "/README.md", Readme(finding, command));
  };
  return WriteNewFolder(wanted, fill);
}

}  // namespace assay
