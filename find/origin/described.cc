#include "find/origin/described.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "find/values/value_names.h"
#include "fmt/format.h"
#include "hlo/diagnostics.h"
#include "literal/literal_text.h"

namespace assay {
namespace {

std::string ArgumentName(int64_t number, const ShapeIndex& leaf) {
  return fmt::format("arg{}{}{}", number, leaf.empty() ? "" : ".", absl::StrJoin(leaf, "."));
}

// "FILE:12" where the metadata has a file, itself or by its stack frame; else the op_name.
std::string SourceText(const Module& module, const Instruction& instruction) {
  if (instruction.extras == nullptr) return {};
  const OpMetadata& metadata = instruction.extras->metadata;
  const auto with_line = [](std::string_view file, int64_t line) {
    return line > 0 ? fmt::format("{}:{}", EscapeControls(file), line) : EscapeControls(file);
  };
  const std::string_view file = metadata.source_file;
  if (!file.empty()) return with_line(file, metadata.source_line);
  const FrameTables& tables = module.frame_tables;
  const auto in = [](int64_t id, size_t size) { return id >= 1 && static_cast<size_t>(id) <= size; };
  if (in(metadata.stack_frame_id, tables.frames.size())) {
    const int64_t location = tables.frames[static_cast<size_t>(metadata.stack_frame_id - 1)].file_location_id;
    if (in(location, tables.locations.size())) {
      const FrameTables::Location& at = tables.locations[static_cast<size_t>(location - 1)];
      if (in(at.file_name_id, tables.file_names.size()))
        return with_line(tables.file_names[static_cast<size_t>(at.file_name_id - 1)], at.line);
    }
  }
  const std::string_view op_name = metadata.op_name;
  return EscapeControls(op_name);
}

std::vector<LoopIteration> LoopsAround(const Module& module, const RecordedCall& call) {
  std::vector<LoopIteration> loops;
  for (const RecordedCall* at = &call; at->around != nullptr; at = at->around) {
    if (at->place.iteration < 0) continue;
    const Instruction& loop =
        module.computation(at->around->place.computation).instructions[static_cast<size_t>(at->place.caller)];
    loops.push_back({at->around->path + LeafName(loop, {}), at->place.iteration, at->place.is_condition});
  }
  std::reverse(loops.begin(), loops.end());
  return loops;
}

}  // namespace

std::string ElementText(const Literal& array, int64_t position) {
  const ElementType type = array.shape().element_type();
  return ElementToText(type, array.data() + position * Bytes(type));
}

std::string OutputName(const ShapeIndex& leaf) {
  if (leaf.empty()) return "out0";
  return "out" + absl::StrJoin(leaf, ".");
}

std::string IndexText(const std::vector<int64_t>& index) {
  return index.empty() ? "" : fmt::format("[{}]", absl::StrJoin(index, ","));
}

DescribedElement Describe(const RunRecord& record, const Backward& backward, const ElementPlace& place) {
  const Instruction& instruction = backward.InstructionOf(place);
  const Shape& shape = LeafShape(instruction, place.value.leaf);
  const RecordedDevice& device = record.devices[place.device];
  DescribedElement described;
  const bool is_argument = instruction.opcode == Opcode::kParameter && place.value.call->around == nullptr;
  described.name = is_argument ? device.prefix + ArgumentName(instruction.parameter_number, place.value.leaf)
                               : backward.NameOf(place);
  described.op = Name(instruction.opcode);
  described.shape = shape.ToString();
  described.source = SourceText(*record.module, instruction);
  described.loops = LoopsAround(*record.module, *place.value.call);
  described.device = device.prefix.substr(0, device.prefix.size() - (device.prefix.empty() ? 0 : 1));
  if (!shape.IsArray()) return described;
  described.index = IndexAt(shape, place.position);
  if (const std::optional<Literal> array = backward.ArrayOf(place)) {
    described.value = ElementText(*array, place.position);
  }
  return described;
}

std::string ToText(const DescribedElement& element) {
  std::string text = fmt::format("%{} = {} {}", element.name, element.shape, element.op);
  if (!element.index.empty()) text += ", element " + IndexText(element.index);
  if (!element.value.empty()) text += ", is " + element.value;
  if (!element.source.empty()) text += fmt::format(" ({})", element.source);
  return text;
}

}  // namespace assay
