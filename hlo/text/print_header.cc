// The first line of a module's text and the stack frame tables below it (docs/spec/hlo-text.md sections 3 and
// 8).
#include "hlo/text/print_header.h"

#include "fmt/format.h"
#include "hlo/text/print_values.h"
#include "shape/shape_text.h"

namespace assay::print {
namespace {

// "{ {0}: (0, {}, may-alias), ... }"
void AppendInputOutputAlias(const std::vector<InputOutputAlias>& aliases, std::string& out) {
  if (aliases.empty()) return;
  out += ", input_output_alias={ ";
  for (size_t i = 0; i < aliases.size(); ++i) {
    if (i > 0) out += ", ";
    AppendInts(aliases[i].output_index, out);
    out += ": (" + std::to_string(aliases[i].parameter_number) + ", ";
    AppendInts(aliases[i].parameter_index, out);
    out += aliases[i].must_alias ? ", must-alias)" : ", may-alias)";
  }
  out += " }";
}

void AppendBufferDonor(const std::vector<BufferDonor>& donors, std::string& out) {
  if (donors.empty()) return;
  out += ", buffer_donor={ ";
  for (size_t i = 0; i < donors.size(); ++i) {
    if (i > 0) out += ", ";
    out += "(" + std::to_string(donors[i].parameter_number) + ", ";
    AppendInts(donors[i].parameter_index, out);
    out += ")";
  }
  out += " }";
}

// The layout that the program states, or that of the entry computation.
ProgramShape EntryLayout(const Module& module) {
  if (module.entry_computation_layout.has_value()) return *module.entry_computation_layout;
  ProgramShape shape;
  const Computation& entry = module.entry_computation();
  for (const int32_t parameter : entry.parameters) {
    if (parameter < 0 || entry.instructions[parameter].shape == nullptr) continue;
    shape.parameters.push_back(*entry.instructions[parameter].shape);
  }
  if (entry.root_instruction().shape != nullptr) shape.result = *PrintedShape(entry.root_instruction());
  return shape;
}

void AppendEntryLayout(const Module& module, std::string& out) {
  const ProgramShape shape = EntryLayout(module);
  out += ", entry_computation_layout={(";
  for (size_t i = 0; i < shape.parameters.size(); ++i) {
    AppendListSeparator(i, out);
    out += ShapeToText(shape.parameters[i], LayoutText::kAlways);
  }
  out += ")->" + ShapeToText(shape.result, LayoutText::kAlways) + "}";
}

// Left out where it says what is the default: one false.
void AppendPropagation(std::string_view name, const std::vector<bool>& allow, std::string& out) {
  if (allow.empty() || (allow.size() == 1 && !allow[0])) return;
  out += name;
  for (size_t i = 0; i < allow.size(); ++i) {
    if (i > 0) out += ",";
    out += allow[i] ? "true" : "false";
  }
  out += "}";
}

void AppendNumberedTexts(std::string_view title, const std::vector<std::string>& texts, std::string& out) {
  out += title;
  out += "\n";
  for (size_t i = 0; i < texts.size(); ++i) {
    out += std::to_string(i + 1) + " ";
    AppendQuoted(texts[i], out);
    out += "\n";
  }
  out += "\n";
}

void AppendFrameTables(const FrameTables& tables, std::string& out) {
  if (tables.empty()) return;
  AppendNumberedTexts("FileNames", tables.file_names, out);
  AppendNumberedTexts("FunctionNames", tables.function_names, out);
  out += "FileLocations\n";
  for (size_t i = 0; i < tables.locations.size(); ++i) {
    const FrameTables::Location& l = tables.locations[i];
    out += fmt::format(
        "{} {{file_name_id={} function_name_id={} line={} end_line={} column={} end_column={}}}\n", i + 1,
        l.file_name_id, l.function_name_id, l.line, l.end_line, l.column, l.end_column);
  }
  out += "\nStackFrames\n";
  for (size_t i = 0; i < tables.frames.size(); ++i) {
    out += fmt::format("{} {{file_location_id={} parent_frame_id={}}}\n", i + 1,
                       tables.frames[i].file_location_id, tables.frames[i].parent_frame_id);
  }
  out += "\n\n";
}

}  // namespace

void AppendModuleHeader(const Module& module, const FrameTables& tables, std::string& out) {
  out += "HloModule " + (IsLegalName(module.name) ? module.name : SanitizedName(module.name));
  if (module.is_scheduled) out += ", is_scheduled=true";
  AppendInputOutputAlias(module.input_output_alias, out);
  AppendBufferDonor(module.buffer_donor, out);
  if (module.alias_passthrough_params) out += ", alias_passthrough_params=true";
  AppendEntryLayout(module, out);
  AppendPropagation(", allow_spmd_sharding_propagation_to_parameters={",
                    module.allow_spmd_sharding_propagation_to_parameters, out);
  AppendPropagation(", allow_spmd_sharding_propagation_to_output={",
                    module.allow_spmd_sharding_propagation_to_output, out);
  if (module.replica_count != 1) out += fmt::format(", replica_count={}", module.replica_count);
  if (module.num_partitions != 1) out += fmt::format(", num_partitions={}", module.num_partitions);
  if (!module.frontend_attributes.empty()) {
    out += ", frontend_attributes=";
    AppendFrontendAttributes(module.frontend_attributes, out);
  }
  // Decision: debug-attributes-not-printed. XLA 0.10's reader refuses debug_attributes; they say nothing
  // about values.
  if (!module.origin_recovery_table.empty()) out += ", origin_recovery_table=" + module.origin_recovery_table;
  out += "\n\n";
  AppendFrameTables(tables, out);
}

}  // namespace assay::print
