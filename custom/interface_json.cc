// Registrations as JSON and back: the first half of compatibility.h.
#include <algorithm>

#include "base/json_writer.h"
#include "custom/compatibility.h"
#include "custom/config_dictionary.h"
#include "custom/spec_reader.h"
#include "fmt/format.h"

namespace assay::custom {
namespace {

void WriteOp(const OpInterface& op, JsonWriter& json) {
  const auto add = [&](std::string_view key, bool is_there, const auto& value) {
    if (is_there) json.Fields(key, value);
  };
  const auto specs = [&](const auto& items) {
    return [&] { json.Array(items, [&](const auto& item) { json.Write(item.spec); }); };
  };
  json.Begin("  {", ",\n   ");
  json.Fields("name", op.name);
  add("attrs", !op.attrs.empty(), specs(op.attrs));
  add("inputs", !op.inputs.empty(), specs(op.inputs));
  add("outputs", !op.outputs.empty(), specs(op.outputs));
  add("doc", !op.doc.empty(), op.doc);
  add("has_side_effect", op.has_side_effect, true);
  add("is_stateful", op.is_stateful, true);
  add("composite", !op.composite.empty(), op.composite);
  add("composite_version", !op.composite.empty(), op.composite_version);
  json.End("}");
}

// A value of the wrong kind, or a key that nobody knows, at `place` ("ops[1], attrs").
absl::Status JsonError(std::string_view place, const ConfigValue& found, std::string_view wanted) {
  return InvalidProgram({}, fmt::format("registrations: {} is {}, wanted {}", place,
                                        ShownText(ConfigText({{"value", found}})), wanted));
}

template <class T>
absl::Status Get(std::string_view place, const ConfigValue& found, std::string_view wanted, T* value) {
  const T* const typed = std::get_if<T>(&found.value);
  if (typed == nullptr) return JsonError(place, found, wanted);
  *value = *typed;
  return absl::OkStatus();
}

absl::Status GetTexts(std::string_view place, const ConfigValue& found, std::vector<std::string>* texts) {
  ConfigList list;
  ASSAY_RETURN_IF_ERROR(Get(place, found, "a list of strings", &list));
  for (const ConfigValue& item : list) {
    ASSAY_RETURN_IF_ERROR(Get(place, item, "a list of strings", &texts->emplace_back()));
  }
  return absl::OkStatus();
}

absl::Status ReadField(std::string_view place, const std::string& key, const ConfigValue& value,
                       OpRegistration* op) {
  const std::string at = fmt::format("{}, {}", place, key);
  if (key == "name") return Get(at, value, "a string", &op->name);
  if (key == "attrs") return GetTexts(at, value, &op->attrs);
  if (key == "inputs") return GetTexts(at, value, &op->inputs);
  if (key == "outputs") return GetTexts(at, value, &op->outputs);
  if (key == "doc") return Get(at, value, "a string", &op->doc);
  if (key == "has_side_effect") return Get(at, value, "true or false", &op->has_side_effect);
  if (key == "is_stateful") return Get(at, value, "true or false", &op->is_stateful);
  if (key == "composite") return Get(at, value, "a string", &op->composite);
  if (key == "composite_version") {
    ConfigInt version;
    ASSAY_RETURN_IF_ERROR(Get(at, value, "an integer", &version));
    op->composite_version = version.value;
    return absl::OkStatus();
  }
  return JsonError(fmt::format("{}, the key {}", place, ShownText(key)), value,
                   "name, attrs, inputs, outputs, doc, has_side_effect, is_stateful, composite or "
                   "composite_version as keys");
}

}  // namespace

std::string InterfacesToJson(const std::vector<OpInterface>& ops) {
  JsonWriter json;
  json.Object("ops", [&] {
    json.Begin(ops.empty() ? "[" : "[\n", ",\n");
    for (const OpInterface& op : ops) WriteOp(op, json);
    json.End("]");
  });
  return json.text() + "\n";
}

absl::StatusOr<std::vector<OpInterface>> InterfacesFromJson(std::string_view json) {
  const absl::StatusOr<ConfigDictionary> whole = ParseJsonConfig(json);
  if (!whole.ok()) return WithPrefix(whole.status(), "registrations");
  if (whole->size() != 1 || whole->front().first != "ops") {
    return InvalidProgram({}, "registrations: found another object, wanted {\"ops\": [...]}");
  }
  ConfigList list;
  ASSAY_RETURN_IF_ERROR(Get("ops", whole->front().second, "a list of objects", &list));
  std::vector<OpInterface> ops;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string place = fmt::format("ops[{}]", i);
    ConfigDictionary fields;
    ASSAY_RETURN_IF_ERROR(Get(place, list[i], "an object", &fields));
    OpRegistration registration;
    for (const auto& [key, value] : fields)
      ASSAY_RETURN_IF_ERROR(ReadField(place, key, value, &registration));
    ASSAY_ASSIGN_OR_RETURN(OpInterface op, MakeInterface(registration));
    if (std::ranges::count(ops, op.name, &OpInterface::name) > 0) {
      return InvalidProgram(
          {}, fmt::format("registrations: {} is op {} again, wanted each op once", place, op.name));
    }
    ops.push_back(std::move(op));
  }
  return ops;
}

}  // namespace assay::custom
