// Device lists. The forms are compact, their expansion is not: a limit bounds it for each program.
#include "hlo/text/device_groups.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/numbers.h"
#include "base/checked.h"
#include "base/counted.h"
#include "base/limits.h"
#include "fmt/format.h"
#include "hlo/text/print_values.h"

namespace assay {
namespace {

// Each is compared with those before it.
constexpr size_t kMaxAxisRefs = 4 * kMaxRank;

// The product of dims >= 1; an error where one is smaller or the product is too large.
absl::Status NumDevices(SourcePosition where, std::span<const int64_t> dims, int64_t* size) {
  for (int64_t dim : dims) {
    if (dim < 1)
      return InvalidProgram(where, fmt::format("device list: dimension is {}, want at least 1", dim));
  }
  *size = CheckedProduct(dims).value_or(std::numeric_limits<int64_t>::max());
  return absl::OkStatus();
}

absl::Status CheckPermutation(SourcePosition where, const Ints& values, size_t size, std::string_view what) {
  if (values.size() != size) {
    return InvalidProgram(where,
                          fmt::format("{} has {}, want {}", what, Counted(values.size(), "entry"), size));
  }
  std::vector<bool> seen(size);
  for (int64_t value : values) {
    if (value < 0 || value >= static_cast<int64_t>(size) || seen[value]) {
      return InvalidProgram(where,
                            fmt::format("{} holds {}, want each of 0 to {} once", what, value, size - 1));
    }
    seen[value] = true;
  }
  return absl::OkStatus();
}

// Drops dimensions of size 1 and merges dimensions that are neighbours before and after the transposition.
void Canonicalize(IotaDevices* iota) {
  Ints kept;  // source dimensions in the order of the result
  for (int64_t d : iota->permutation) {
    if (iota->dims[d] != 1) kept.push_back(d);
  }
  // The next source dimension that is not 1, to see neighbours.
  Ints next(iota->dims.size(), -1);
  int64_t after = -1;
  for (int64_t d = static_cast<int64_t>(iota->dims.size()) - 1; d >= 0; --d) {
    next[d] = after;
    if (iota->dims[d] != 1) after = d;
  }
  std::vector<std::pair<int64_t, int64_t>> runs;  // first source dimension, size
  int64_t last = -1;
  for (int64_t d : kept) {
    if (last >= 0 && next[last] == d) {
      runs.back().second *= iota->dims[d];
    } else {
      runs.emplace_back(d, iota->dims[d]);
    }
    last = d;
  }
  if (runs.empty()) runs.emplace_back(0, 1);
  std::vector<std::pair<int64_t, int64_t>> by_source = runs;
  std::sort(by_source.begin(), by_source.end());
  iota->dims.clear();
  iota->permutation.clear();
  for (const auto& [first, size] : by_source) iota->dims.push_back(size);
  for (const auto& run : runs) {
    iota->permutation.push_back(std::lower_bound(by_source.begin(), by_source.end(), run) -
                                by_source.begin());
  }
}

// The groups of a compact text: known ones, or those that `expand` lists out.
absl::StatusOr<std::shared_ptr<const ReplicaGroups>> CompactGroupsOf(TokenReader& in, SourcePosition where,
                                                                     int64_t devices, std::string text,
                                                                     absl::FunctionRef<IntLists()> expand) {
  std::shared_ptr<const ReplicaGroups>& known = in.compact_groups()[text];
  if (known != nullptr) return known;
  if (!in.CountExpandedDevices(devices)) {
    return ProgramLimitExceeded(where, "number of devices listed by compact replica groups", devices,
                                TokenReader::kMaxExpandedDevices);
  }
  known = std::make_shared<const ReplicaGroups>(ReplicaGroups{expand(), std::move(text)});
  return known;
}

// device_ids=([2,4]T(1,0)) or (7,6,5,4,3,2,1,0)
absl::Status ReadMeshDevices(TokenReader& in, DeviceMesh* mesh) {
  const SourcePosition where = in.position();
  if (in.Ahead() != TokenKind::kLeftSquare) {
    ASSAY_RETURN_IF_ERROR(in.ReadIntList(TokenKind::kLeftParen, TokenKind::kRightParen, &mesh->listed));
    ASSAY_RETURN_IF_ERROR(
        CheckPermutation(where, mesh->listed, static_cast<size_t>(mesh->size), "device_ids"));
    mesh->text += fmt::format(", device_ids=({})", fmt::join(mesh->listed, ","));
    return absl::OkStatus();
  }
  ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kLeftParen));
  IotaDevices iota;
  ASSAY_RETURN_IF_ERROR(ReadIotaDevices(in, &iota));
  if (iota.size != mesh->size) {
    return InvalidProgram(
        where, fmt::format("device_ids lists {}, the mesh has {}", Counted(iota.size, "device"), mesh->size));
  }
  if (iota.dims.size() > 1) mesh->text += fmt::format(", device_ids=({})", iota.ToText());
  mesh->iota = std::move(iota);
  return in.Expect(TokenKind::kRightParen);
}

absl::Status ReadMeshAxes(TokenReader& in, DeviceMesh* mesh) {
  mesh->text = "mesh[";
  return in.ReadList(TokenKind::kLeftSquare, TokenKind::kRightSquare, [&]() -> absl::Status {
    const SourcePosition where = in.position();
    if (mesh->axes.size() >= kMaxRank) {
      return ProgramLimitExceeded(where, "number of mesh axes", kMaxRank + 1, kMaxRank);
    }
    DeviceMesh::Axis axis;
    ASSAY_RETURN_IF_ERROR(in.ReadString(&axis.name));
    for (const DeviceMesh::Axis& other : mesh->axes) {
      if (other.name == axis.name) {
        return InvalidProgram(where, fmt::format("mesh: axis {} stands twice", Quoted(axis.name)));
      }
    }
    ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kEqual));
    ASSAY_RETURN_IF_ERROR(in.ReadInt(&axis.size));
    if (axis.size < 1) {
      return InvalidProgram(
          where, fmt::format("mesh: size of axis {} is {}, want at least 1", Quoted(axis.name), axis.size));
    }
    mesh->text += fmt::format("{}{}={}", mesh->axes.empty() ? "" : ",", AxisNameText(axis.name), axis.size);
    mesh->size = CheckedMul(mesh->size, axis.size).value_or(std::numeric_limits<int64_t>::max());
    mesh->axes.push_back(std::move(axis));
    return absl::OkStatus();
  });
}

// (before)size after the axis name
absl::Status ReadSubAxis(TokenReader& in, int64_t axis_size, MeshAxisRef* ref, std::string* text) {
  const SourcePosition where = in.position();
  ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kLeftParen));
  ASSAY_RETURN_IF_ERROR(in.ReadInt(&ref->before));
  ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kRightParen));
  ASSAY_RETURN_IF_ERROR(in.ReadInt(&ref->size));
  const auto product = CheckedMul(ref->before, ref->size);
  if (ref->before < 1 || ref->size < 1 || !product || axis_size % *product != 0) {
    return InvalidProgram(where, fmt::format("sub-axis ({}){} does not divide an axis of size {}",
                                             ref->before, ref->size, axis_size));
  }
  if (ref->size == 1 || ref->size == axis_size) {
    return InvalidProgram(where, fmt::format("sub-axis ({}){} of an axis of size {}, want a part of it",
                                             ref->before, ref->size, axis_size));
  }
  ref->inner = axis_size / *product;
  *text += fmt::format(":({}){}", ref->before, ref->size);
  return absl::OkStatus();
}

bool Overlap(const MeshAxisRef& a, const MeshAxisRef& b) {
  if (a.axis != b.axis) return false;
  const MeshAxisRef& outer = a.before <= b.before ? a : b;
  const MeshAxisRef& inner = a.before <= b.before ? b : a;
  return inner.before % (outer.before * outer.size) != 0;
}

// One group for each setting of what `refs` leave free, in row-major order of the mesh; inside a group the
// first axis is the slowest.
IntLists MeshGroups(const DeviceMesh& mesh, const std::vector<MeshAxisRef>& refs) {
  Ints strides(mesh.axes.size(), 1);
  for (size_t d = mesh.axes.size(); d-- > 1;) strides[d - 1] = strides[d] * mesh.axes[d].size;
  const Ints devices = mesh.Devices();
  IntLists groups;
  Ints group_of(mesh.size, -1);  // by the position with all of `refs` at 0
  int64_t group_size = 1;
  for (const MeshAxisRef& ref : refs) group_size *= ref.size;
  for (int64_t position = 0; position < mesh.size; ++position) {
    int64_t base = position, member = 0;
    for (const MeshAxisRef& ref : refs) {
      const int64_t stride = strides[ref.axis] * ref.inner;
      const int64_t value = position / stride % ref.size;
      base -= value * stride;
      member = member * ref.size + value;
    }
    if (group_of[base] < 0) {
      group_of[base] = static_cast<int64_t>(groups.size());
      groups.emplace_back(group_size);
    }
    groups[group_of[base]][member] = devices[position];
  }
  return groups;
}

// [groups, group size]<=[dims]T(permutation)
absl::StatusOr<std::shared_ptr<const ReplicaGroups>> ReadIotaGroups(TokenReader& in) {
  const SourcePosition where = in.position();
  Ints sizes;
  ASSAY_RETURN_IF_ERROR(in.ReadIntList(TokenKind::kLeftSquare, TokenKind::kRightSquare, &sizes));
  if (sizes.size() != 2) {
    return InvalidProgram(where, fmt::format("replica_groups: found {} before '<=', want 2 (number of "
                                             "groups, group size)",
                                             Counted(sizes.size(), "size")));
  }
  ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kLessEqual));
  int64_t size;
  ASSAY_RETURN_IF_ERROR(NumDevices(where, sizes, &size));
  IotaDevices iota;
  ASSAY_RETURN_IF_ERROR(ReadIotaDevices(in, &iota));
  if (iota.size != size) {
    return InvalidProgram(
        where, fmt::format("replica_groups: {} of {} do not take up {}", Counted(sizes[0], "group"), sizes[1],
                           Counted(iota.size, "device")));
  }
  std::string text = fmt::format("[{},{}]<={}", sizes[0], sizes[1], iota.ToText());
  return CompactGroupsOf(in, where, size, std::move(text), [&] {
    const Ints devices = iota.Expand();
    IntLists groups;
    for (auto at = devices.begin(); at != devices.end(); at += sizes[1])
      groups.emplace_back(at, at + sizes[1]);
    return groups;
  });
}

absl::StatusOr<std::shared_ptr<const ReplicaGroups>> ReadMeshGroups(TokenReader& in) {
  const SourcePosition where = in.position();
  DeviceMesh mesh;
  ASSAY_RETURN_IF_ERROR(ReadMesh(in, &mesh));
  in.Eat(TokenKind::kComma);
  std::vector<MeshAxisRef> refs;
  std::string axes;
  ASSAY_RETURN_IF_ERROR(ReadAxisRefs(in, mesh, &refs, &axes));
  return CompactGroupsOf(in, where, mesh.size, fmt::format("{} {}", mesh.text, axes),
                         [&] { return MeshGroups(mesh, refs); });
}

}  // namespace

std::string AxisNameText(std::string_view name) {
  const std::string quoted = Quoted(name);
  return fmt::format("'{}'", quoted.substr(1, quoted.size() - 2));
}

Ints IotaDevices::Expand() const {
  const size_t rank = dims.size();
  Ints strides(rank, 1), result_strides(rank), index(rank, 0), devices(size);
  for (size_t d = rank; d-- > 1;) strides[d - 1] = strides[d] * dims[d];
  for (size_t k = 0; k < rank; ++k) result_strides[k] = strides[permutation[k]];
  int64_t device = 0;
  for (int64_t& out : devices) {
    out = device;
    for (size_t k = rank; k-- > 0;) {
      device += result_strides[k];
      if (++index[k] < dims[permutation[k]]) break;
      device -= result_strides[k] * index[k];
      index[k] = 0;
    }
  }
  return devices;
}

std::string IotaDevices::ToText() const {
  std::string text = fmt::format("[{}]", fmt::join(dims, ","));
  if (dims.size() > 1) text += fmt::format("T({})", fmt::join(permutation, ","));
  return text;
}

absl::Status ReadIotaDevices(TokenReader& in, IotaDevices* iota) {
  const SourcePosition where = in.position();
  ASSAY_RETURN_IF_ERROR(in.ReadIntList(TokenKind::kLeftSquare, TokenKind::kRightSquare, &iota->dims));
  if (iota->dims.empty()) return InvalidProgram(where, "device list: found no dimensions, want at least one");
  ASSAY_RETURN_IF_ERROR(NumDevices(where, iota->dims, &iota->size));
  if (iota->dims.size() == 1) {
    iota->permutation = {0};
    return absl::OkStatus();
  }
  if (!in.AtWord(TokenKind::kIdent, "T")) return in.Unexpected("T(...), the order of the dimensions");
  in.Next();
  ASSAY_RETURN_IF_ERROR(in.ReadIntList(TokenKind::kLeftParen, TokenKind::kRightParen, &iota->permutation));
  ASSAY_RETURN_IF_ERROR(CheckPermutation(where, iota->permutation, iota->dims.size(), "device list: T(...)"));
  Canonicalize(iota);
  return absl::OkStatus();
}

bool AtMesh(const TokenReader& in) {
  return in.AtWord(TokenKind::kIdent, "mesh") || in.AtWord(TokenKind::kIdent, "maximal_mesh");
}

absl::Status ReadMesh(TokenReader& in, DeviceMesh* mesh) {
  mesh->is_maximal = in.AtWord(TokenKind::kIdent, "maximal_mesh");
  in.Next();
  if (mesh->is_maximal) {
    ASSAY_RETURN_IF_ERROR(in.Expect(TokenKind::kLeftSquare));
    ASSAY_RETURN_IF_ERROR(in.ExpectAttrName("device_id"));
    ASSAY_RETURN_IF_ERROR(in.ReadNonNegative(&mesh->listed.emplace_back(), "device_id"));
    mesh->text = fmt::format("maximal_mesh[device_id={}]", mesh->listed[0]);
    return in.Expect(TokenKind::kRightSquare);
  }
  ASSAY_RETURN_IF_ERROR(ReadMeshAxes(in, mesh));
  mesh->text += ']';
  if (in.At(TokenKind::kComma)) {
    Lexer ahead = in.lexer();
    ahead.Next();
    if (ahead.token().kind == TokenKind::kAttrName && ahead.token().text == "device_ids") {
      in.Next();
      in.Next();
      return ReadMeshDevices(in, mesh);
    }
  }
  return absl::OkStatus();
}

Ints DeviceMesh::Devices() const {
  if (iota) return iota->Expand();
  if (!listed.empty()) return listed;
  Ints devices(size);
  std::iota(devices.begin(), devices.end(), int64_t{0});
  return devices;
}

absl::Status ReadAxisRef(TokenReader& in, const DeviceMesh& mesh, std::vector<MeshAxisRef>* used,
                         std::string* text) {
  const SourcePosition where = in.position();
  if (used->size() >= kMaxAxisRefs) {
    return ProgramLimitExceeded(where, "number of mesh axes named", kMaxAxisRefs + 1, kMaxAxisRefs);
  }
  std::string name;
  ASSAY_RETURN_IF_ERROR(in.ReadString(&name));
  MeshAxisRef ref;
  while (ref.axis < mesh.axes.size() && mesh.axes[ref.axis].name != name) ++ref.axis;
  if (int64_t number = 0; ref.axis == mesh.axes.size() && absl::SimpleAtoi(name, &number) && number >= 0 &&
                          number < std::ssize(mesh.axes)) {
    ref.axis = static_cast<size_t>(number);  // '0' is the first axis, where none has that name
  }
  if (ref.axis == mesh.axes.size()) {
    return InvalidProgram(where, fmt::format("axis {} is not in the mesh {}", Quoted(name), mesh.text));
  }
  name = mesh.axes[ref.axis].name;
  *text += AxisNameText(name);
  ref.size = mesh.axes[ref.axis].size;
  if (in.Eat(TokenKind::kColon)) {
    ASSAY_RETURN_IF_ERROR(ReadSubAxis(in, mesh.axes[ref.axis].size, &ref, text));
  }
  for (const MeshAxisRef& other : *used) {
    if (Overlap(ref, other)) return InvalidProgram(where, fmt::format("axis {} is used twice", Quoted(name)));
  }
  used->push_back(ref);
  return absl::OkStatus();
}

absl::Status ReadAxisRefs(TokenReader& in, const DeviceMesh& mesh, std::vector<MeshAxisRef>* used,
                          std::string* text) {
  std::string_view separator = "";
  *text += '{';
  ASSAY_RETURN_IF_ERROR(in.ReadList(TokenKind::kLeftBrace, TokenKind::kRightBrace, [&] {
    *text += std::exchange(separator, ",");
    return ReadAxisRef(in, mesh, used, text);
  }));
  *text += '}';
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const ReplicaGroups>> ReadReplicaGroups(TokenReader& in) {
  if (AtMesh(in)) return ReadMeshGroups(in);
  if (in.At(TokenKind::kLeftSquare)) return ReadIotaGroups(in);
  if (!in.At(TokenKind::kLeftBrace)) return in.Unexpected("'{', '[' or mesh[...]");
  auto groups = std::make_shared<ReplicaGroups>();
  ASSAY_RETURN_IF_ERROR(in.ReadList(TokenKind::kLeftBrace, TokenKind::kRightBrace,
                                    [&] { return in.ReadInts(&groups->groups.emplace_back()); }));
  return std::shared_ptr<const ReplicaGroups>(std::move(groups));
}

}  // namespace assay
