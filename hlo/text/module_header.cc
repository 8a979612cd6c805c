// Module attributes, in any order and each once, and the stack frame tables.
#include "hlo/text/module_header.h"

#include <utility>

#include "fmt/format.h"
#include "hlo/text/attribute_values.h"
#include "hlo/text/common_attributes.h"
#include "hlo/text/print_values.h"

namespace assay {
namespace {

// A positive count such as replica_count.
absl::Status ReadCount(TokenReader& in, std::string_view name, int64_t* count) {
  const SourcePosition where = in.position();
  ASSAY_RETURN_IF_ERROR(in.ReadInt(count));
  if (*count >= 1) return absl::OkStatus();
  return InvalidProgram(where, fmt::format("{} is {}, want at least 1", name, *count));
}

// {0}: (1, {}, may-alias)
absl::Status ReadInputOutputAlias(TokenReader& in, InputOutputAlias* alias) {
  ASSAY_RETURN_IF_ERROR(ReadShapeIndex(in, &alias->output_index));
  ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kColon));
  ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kLeftParen));
  ASSAY_RETURN_IF_ERROR(in.ReadNonNegative(&alias->parameter_number, "parameter number"));
  ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kComma));
  ASSAY_RETURN_IF_ERROR(ReadShapeIndex(in, &alias->parameter_index));
  if (in.Eat(TokenKind::kComma)) {
    alias->must_alias = in.AtWord(TokenKind::kIdent, "must-alias");
    if (!alias->must_alias && !in.AtWord(TokenKind::kIdent, "may-alias")) {
      return in.Unexpected("may-alias or must-alias");
    }
    in.Next();
  }
  return in.Expect(TokenKind::kRightParen);
}

// (0, {1})
absl::Status ReadBufferDonor(TokenReader& in, BufferDonor* donor) {
  ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kLeftParen));
  ASSAY_RETURN_IF_ERROR(in.ReadNonNegative(&donor->parameter_number, "parameter number"));
  ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kComma));
  ASSAY_RETURN_IF_ERROR(ReadShapeIndex(in, &donor->parameter_index));
  return in.Expect(TokenKind::kRightParen);
}

// {(f32[2]{0}, f32[])->f32[2]{0}}
absl::Status ReadEntryLayout(TokenReader& in, ProgramShape* layout) {
  ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kLeftBrace));
  std::shared_ptr<const Shape> shape;
  const auto read_item = [&]() -> absl::Status {
    ASSAY_RETURN_IF_ERROR(in.ReadShape(&shape));
    layout->parameters.push_back(*shape);
    return absl::OkStatus();
  };
  ASSAY_RETURN_IF_ERROR(in.ReadList(TokenKind::kLeftParen, TokenKind::kRightParen, read_item));
  ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kArrow));
  ASSAY_RETURN_IF_ERROR(in.ReadShape(&shape));
  layout->result = *shape;
  return in.Expect(TokenKind::kRightBrace);
}

// true, or {true,false}
absl::Status ReadBools(TokenReader& in, std::vector<bool>* values) {
  const auto read_one = [&]() -> absl::Status {
    bool value;
    ASSAY_RETURN_IF_ERROR(in.ReadBool(&value));
    values->push_back(value);
    return absl::OkStatus();
  };
  if (!in.At(TokenKind::kLeftBrace)) return read_one();
  return in.ReadList(TokenKind::kLeftBrace, TokenKind::kRightBrace, read_one);
}

// { {"x" {0}} : {"y"}, "module text" ... }: entries follow each other without separator; a comma is
// tolerated.
absl::Status ReadOriginRecoveryTable(TokenReader& in, std::string* canonical) {
  ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kLeftBrace));
  *canonical = "{";
  while (!in.At(TokenKind::kRightBrace)) {
    *canonical += "\n  ";
    ASSAY_RETURN_IF_ERROR(ReadOriginArray(in, canonical));
    ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kColon));
    *canonical += " : ";
    ASSAY_RETURN_IF_ERROR(ReadOriginArray(in, canonical));
    const bool comma = in.Eat(TokenKind::kComma);
    if (comma && in.At(TokenKind::kString)) {
      std::string text;
      ASSAY_RETURN_IF_ERROR(in.ReadString(&text));
      *canonical += fmt::format(",\n  {}", Quoted(text));
      in.Eat(TokenKind::kComma);
    }
  }
  *canonical += canonical->size() == 1 ? "}" : "\n}";
  return in.Expect(TokenKind::kRightBrace);
}

// {log_mode=default, callback_id=1, op_id=2, partitioned=true}
absl::Status ReadDebugEntry(TokenReader& in, std::string* canonical) {
  std::string_view separator = "{";
  ASSAY_RETURN_IF_ERROR(in.ReadList(TokenKind::kLeftBrace, TokenKind::kRightBrace, [&]() -> absl::Status {
    if (!in.At(TokenKind::kAttrName)) return in.Unexpected("log_mode=, callback_id=, op_id= or partitioned=");
    const std::string name(in.token().text);
    in.Next();
    *canonical += fmt::format("{}{}={}", separator, name, in.lexer().Spelling());
    separator = ", ";
    if (name == "log_mode") {
      std::string mode;
      if (!in.AtWord(TokenKind::kIdent, "default") && !in.AtWord(TokenKind::kIdent, "fusion_debugger")) {
        return in.Unexpected("default or fusion_debugger");
      }
      return in.ReadWord(&mode, "a log mode");
    }
    int64_t id;
    bool partitioned;
    if (name == "callback_id" || name == "op_id") return in.ReadInt(&id);
    if (name == "partitioned") return in.ReadBool(&partitioned);
    return InvalidProgram(in.position(),
                          fmt::format("debug_attributes: unknown field '{}'", name.substr(0, 40)));
  }));
  *canonical += separator == "{" ? "{}" : "}";
  return absl::OkStatus();
}

absl::Status ReadDebugAttributes(TokenReader& in, std::string* canonical) {
  std::string_view separator = "{";
  const auto read_item = [&]() -> absl::Status {
    *canonical += std::exchange(separator, ", ");
    ASSAY_RETURN_IF_ERROR(ReadOriginArray(in, canonical));
    ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kColon));
    *canonical += ": ";
    if (!in.At(TokenKind::kLeftParen)) return ReadDebugEntry(in, canonical);
    std::string_view inner = "(";
    ASSAY_RETURN_IF_ERROR(in.ReadList(TokenKind::kLeftParen, TokenKind::kRightParen, [&] {
      *canonical += std::exchange(inner, ", ");
      return ReadDebugEntry(in, canonical);
    }));
    *canonical += inner == "(" ? "()" : ")";
    return absl::OkStatus();
  };
  ASSAY_RETURN_IF_ERROR(in.ReadList(TokenKind::kLeftBrace, TokenKind::kRightBrace, read_item));
  *canonical += separator == "{" ? "{}" : "}";
  return absl::OkStatus();
}

absl::Status ReadModuleAttribute(TokenReader& in, std::string_view name, SourcePosition where,
                                 Module* module) {
  if (name == "is_scheduled") return in.ReadBool(&module->is_scheduled);
  if (name == "alias_passthrough_params") return in.ReadBool(&module->alias_passthrough_params);
  if (name == "replica_count") return ReadCount(in, name, &module->replica_count);
  if (name == "num_partitions") return ReadCount(in, name, &module->num_partitions);
  if (name == "input_output_alias") {
    return in.ReadList(TokenKind::kLeftBrace, TokenKind::kRightBrace,
                       [&] { return ReadInputOutputAlias(in, &module->input_output_alias.emplace_back()); });
  }
  if (name == "buffer_donor") {
    return in.ReadList(TokenKind::kLeftBrace, TokenKind::kRightBrace,
                       [&] { return ReadBufferDonor(in, &module->buffer_donor.emplace_back()); });
  }
  if (name == "entry_computation_layout")
    return ReadEntryLayout(in, &module->entry_computation_layout.emplace());
  if (name == "frontend_attributes") return ReadFrontendAttributes(in, &module->frontend_attributes);
  if (name == "allow_spmd_sharding_propagation_to_parameters") {
    return ReadBools(in, &module->allow_spmd_sharding_propagation_to_parameters);
  }
  if (name == "allow_spmd_sharding_propagation_to_output") {
    return ReadBools(in, &module->allow_spmd_sharding_propagation_to_output);
  }
  if (name == "origin_recovery_table") return ReadOriginRecoveryTable(in, &module->origin_recovery_table);
  if (name == "debug_attributes") return ReadDebugAttributes(in, &module->debug_attributes);
  return InvalidProgram(where, fmt::format("module: unknown attribute '{}'", name.substr(0, 60)));
}

// {file_name_id=1 function_name_id=2 ...}: every field once, separated by space or comma.
absl::Status ReadFrameFields(TokenReader& in, std::span<const std::pair<std::string_view, int64_t*>> fields) {
  const SourcePosition where = in.position();
  ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kLeftBrace));
  uint32_t seen = 0;
  while (in.At(TokenKind::kAttrName)) {
    size_t i = 0;
    while (i < fields.size() && fields[i].first != in.token().text) ++i;
    if (i == fields.size() || (seen >> i & 1) != 0) {
      return InvalidProgram(in.position(), fmt::format("frame table: field '{}' is unknown or written twice",
                                                       in.token().text.substr(0, 40)));
    }
    seen |= 1u << i;
    in.Next();
    const SourcePosition at = in.position();
    int64_t& value = *fields[i].second;
    ASSAY_RETURN_IF_ERROR(in.ReadInt(&value));
    // As in XLA: protos have 32 bits for it.
    if (value < INT32_MIN || value > INT32_MAX) {
      return InvalidProgram(
          at, fmt::format("frame table: {} is {}, want a number of 32 bits", fields[i].first, value));
    }
    in.Eat(TokenKind::kComma);
  }
  ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kRightBrace));
  for (size_t i = 0; i < fields.size(); ++i) {
    if ((seen >> i & 1) != 0) continue;
    return InvalidProgram(where, fmt::format("frame table: field '{}' is missing", fields[i].first));
  }
  return absl::OkStatus();
}

// { INT item }
absl::Status ReadFrameRows(TokenReader& in, std::string_view table, absl::FunctionRef<absl::Status()> row) {
  if (!in.EatKeyword(table)) return in.Unexpected(fmt::format("the table {}", table));
  while (in.Eat(TokenKind::kInt)) ASSAY_RETURN_IF_ERROR(row());
  return absl::OkStatus();
}

absl::Status ReadFrameTables(TokenReader& in, FrameTables* tables) {
  ASSAY_RETURN_IF_ERROR(
      ReadFrameRows(in, "FileNames", [&] { return in.ReadString(&tables->file_names.emplace_back()); }));
  ASSAY_RETURN_IF_ERROR(ReadFrameRows(in, "FunctionNames",
                                      [&] { return in.ReadString(&tables->function_names.emplace_back()); }));
  ASSAY_RETURN_IF_ERROR(ReadFrameRows(in, "FileLocations", [&] {
    FrameTables::Location& row = tables->locations.emplace_back();
    const std::pair<std::string_view, int64_t*> fields[] = {{"file_name_id", &row.file_name_id},
                                                            {"function_name_id", &row.function_name_id},
                                                            {"line", &row.line},
                                                            {"end_line", &row.end_line},
                                                            {"column", &row.column},
                                                            {"end_column", &row.end_column}};
    return ReadFrameFields(in, fields);
  }));
  return ReadFrameRows(in, "StackFrames", [&] {
    FrameTables::Frame& row = tables->frames.emplace_back();
    const std::pair<std::string_view, int64_t*> fields[] = {{"file_location_id", &row.file_location_id},
                                                            {"parent_frame_id", &row.parent_frame_id}};
    return ReadFrameFields(in, fields);
  });
}

}  // namespace

absl::Status ReadModuleHeader(TokenReader& in, Module* module) {
  if (!in.EatKeyword("HloModule")) return in.Unexpected("'HloModule'");
  std::string_view name;
  ASSAY_RETURN_IF_ERROR(in.ReadName(&name, "the module's name"));
  module->name = std::string(name);
  std::vector<std::string_view> seen;
  while (in.Eat(TokenKind::kComma)) {
    if (!in.At(TokenKind::kAttrName))
      return in.Unexpected("a module attribute, its name followed at once by '='");
    const SourcePosition where = in.position();
    const std::string_view attribute = in.token().text;
    if (std::find(seen.begin(), seen.end(), attribute) != seen.end()) {
      return InvalidProgram(where, fmt::format("module: attribute '{}' is written twice", attribute));
    }
    seen.push_back(attribute);
    in.Next();
    ASSAY_RETURN_IF_ERROR(ReadModuleAttribute(in, attribute, where, module));
  }
  if (in.AtWord(TokenKind::kKeyword, "FileNames")) return ReadFrameTables(in, &module->frame_tables);
  return absl::OkStatus();
}

}  // namespace assay
