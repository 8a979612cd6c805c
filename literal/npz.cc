// .npz archives: zip files of .npy members, in memory through libzip (npz.h, zip_library.h). Single arrays
// are in npy.cc, files in file_io.cc.
#include "literal/npz.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
#include <set>

#include "base/counted.h"
#include "base/file_io.h"
#include "base/run_guard.h"
#include "base/zip_library.h"
#include "fmt/format.h"

namespace assay {
namespace {

constexpr uint64_t kMaxRatio = 1000;
constexpr std::string_view kSuffix = ".npy";
constexpr size_t kInflatedAtOnce = size_t{1} << 20;  // between two polls

struct ZipDiscard {
  void operator()(zip_t* archive) const { Zip().discard(archive); }
};
struct ZipFileClose {
  void operator()(zip_file_t* file) const { Zip().fclose(file); }
};
struct ZipSourceFree {
  void operator()(zip_source_t* source) const { Zip().source_free(source); }
};
struct ZipError {
  ZipError() { Zip().error_init(&error); }
  ~ZipError() { Zip().error_fini(&error); }
  ZipError(const ZipError&) = delete;
  ZipError& operator=(const ZipError&) = delete;
  zip_error_t error;
};

std::string Printable(std::string_view text) {
  std::string result;
  for (char c : text.substr(0, 256)) {
    const auto byte = static_cast<unsigned char>(c);
    result += byte >= 0x20 && byte < 0x7f ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return result;
}

// Takes the source over. Null: it could not be made, as the error says.
absl::StatusOr<std::unique_ptr<zip_t, ZipDiscard>> OpenArchive(std::string_view file_name,
                                                               zip_source_t* source, ZipError& zip_error) {
  zip_t* archive = source ? Zip().open_from_source(source, ZIP_RDONLY, &zip_error.error) : nullptr;
  if (archive == nullptr) {
    const std::string why = Zip().error_strerror(&zip_error.error);
    if (source != nullptr) Zip().source_free(source);
    return BadInput(fmt::format("{}: not a readable .npz file: {}", Printable(file_name), why));
  }
  return std::unique_ptr<zip_t, ZipDiscard>(archive);
}

// Reads up to `size` bytes of a member; fewer only at its end, where the checksum is compared.
absl::StatusOr<size_t> ReadUpTo(zip_file_t* file, char* data, size_t size, std::string_view where) {
  size_t done = 0;
  while (done < size) {
    ASSAY_RETURN_IF_ERROR(PollWork());
    const zip_int64_t got = Zip().fread(file, data + done, std::min(size - done, kInflatedAtOnce));
    if (got < 0) {
      return BadInput(
          fmt::format("{}: damaged: {}", where, Zip().error_strerror(Zip().file_get_error(file))));
    }
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

// The array of a member, read into the storage of its elements. Their pages are touched as they come, so a
// size that lies costs nothing.
absl::StatusOr<NpyArray> ReadMember(zip_t* archive, uint64_t index, uint64_t size, std::string_view name,
                                    std::string_view where, std::string_view file_name) {
  const std::unique_ptr<zip_file_t, ZipFileClose> file(Zip().fopen_index(archive, index, 0));
  if (file == nullptr) {
    return BadInput(fmt::format("{}: {}", where, Zip().error_strerror(Zip().get_error(archive))));
  }
  const auto too_short = [&](size_t held) {
    return BadInput(fmt::format("{}: holds {}, {} announced", where, Counted(held, "byte"), size));
  };
  std::string prefix(std::min<uint64_t>(size, kMaxNpyHeader), '\0');
  ASSAY_ASSIGN_OR_RETURN(const size_t first, ReadUpTo(file.get(), prefix.data(), prefix.size(), where));
  if (first < prefix.size()) return too_short(first);
  // Reading reaches the end, so that the checksum is compared.
  const auto at_end = [&]() -> absl::Status {
    char beyond;
    ASSAY_ASSIGN_OR_RETURN(const size_t more, ReadUpTo(file.get(), &beyond, 1, where));
    if (more == 0) return absl::OkStatus();
    return BadInput(fmt::format("{}: holds more than the {} announced", where, Counted(size, "byte")));
  };
  if (prefix.size() == size) ASSAY_RETURN_IF_ERROR(at_end());
  size_t begin = 0;
  absl::StatusOr<NpyArray> array = ParseNpyHeader(name, prefix, size, &begin);
  if (!array.ok()) return WithPrefix(array.status(), Printable(file_name));
  if (array->data.size() > 0) {
    const size_t held = prefix.size() - begin;
    char* const data = array->data.mutable_data();
    std::memcpy(data, prefix.data() + begin, held);
    ASSAY_ASSIGN_OR_RETURN(const size_t rest,
                           ReadUpTo(file.get(), data + held, array->data.size() - held, where));
    if (held + rest < array->data.size()) return too_short(prefix.size() + rest);
  }
  if (prefix.size() < size) ASSAY_RETURN_IF_ERROR(at_end());
  return array;
}

// What the directory says of one member, checked without reading it.
struct Member {
  std::string key;
  uint64_t size = 0;
  std::optional<ElementType> type;  // that its comment names
};
std::string WhereOf(std::string_view file_name, const Member& member) {
  return fmt::format("{}: member '{}.npy'", Printable(file_name), Printable(member.key));
}

// Comments of other programs mean nothing.
std::optional<ElementType> TypeInComment(zip_t* archive, uint64_t index) {
  zip_uint32_t length = 0;
  const char* const comment = Zip().file_get_comment(archive, index, &length, ZIP_FL_ENC_RAW);
  return comment == nullptr ? std::nullopt : ElementTypeFromName({comment, length});
}

absl::StatusOr<Member> CheckMember(zip_t* archive, uint64_t index, std::string_view file_name,
                                   uint64_t archive_size) {
  const auto error = [&](std::string_view name, std::string_view message) {
    return BadInput(fmt::format("{}: member '{}' {}", Printable(file_name), Printable(name), message));
  };
  zip_stat_t stat;
  if (Zip().stat_index(archive, index, ZIP_FL_ENC_RAW, &stat) != 0) return error("?", "can't be read");
  const zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  if ((stat.valid & needed) != needed) return error("?", "has an incomplete entry");
  const std::string_view name = stat.name;
  if ((stat.valid & ZIP_STAT_ENCRYPTION_METHOD) && stat.encryption_method != ZIP_EM_NONE) {
    return error(name, "is encrypted");
  }
  if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE) {
    return error(name,
                 fmt::format("is compressed by method {}, wanted stored or deflated", stat.comp_method));
  }
  if (!name.ends_with(kSuffix)) return error(name, "is not a .npy file");
  if (stat.comp_size > archive_size) return error(name, "is larger than the archive");
  if (stat.size > kMaxRatio * stat.comp_size) {
    return error(name, fmt::format("grows from {} to {}, over the limit of {} times; save it uncompressed",
                                   stat.comp_size, Counted(stat.size, "byte"), kMaxRatio));
  }
  return Member{std::string(name.substr(0, name.size() - kSuffix.size())), stat.size,
                TypeInComment(archive, index)};
}

// There is room for the arrays of the members up to one, of `total` bytes.
absl::Status CheckRoomForMembers(uint64_t total, std::string_view where) {
  const std::shared_ptr<MemoryBudget>& budget = BudgetScope::Current();
  const auto bytes = static_cast<int64_t>(std::min<uint64_t>(total, INT64_MAX));
  if (budget == nullptr) return absl::OkStatus();
  if (!budget->Reserve(bytes)) return budget->Refusal(where, bytes);
  budget->Release(bytes);
  return absl::OkStatus();
}

// All that the directory tells is checked before the first member is read.
absl::StatusOr<std::vector<Member>> CheckMembers(zip_t* archive, std::string_view file_name,
                                                 uint64_t file_size) {
  std::vector<Member> members;
  std::set<std::string_view> keys;
  const zip_int64_t count = Zip().get_num_entries(archive, 0);
  members.reserve(static_cast<size_t>(count));
  uint64_t total = 0;
  for (zip_int64_t i = 0; i < count; ++i) {
    ASSAY_RETURN_IF_ERROR(PollWork());
    ASSAY_ASSIGN_OR_RETURN(Member member, CheckMember(archive, i, file_name, file_size));
    members.push_back(std::move(member));
    const std::string where = WhereOf(file_name, members.back());
    if (!keys.insert(members.back().key).second) return BadInput(fmt::format("{} is there twice", where));
    // Members that overlap could give more, all together, than each may alone.
    total += members.back().size;
    if (total > kMaxRatio * file_size) {
      return BadInput(fmt::format("{}: {} grow to more than {} times as many", Printable(file_name),
                                  Counted(file_size, "byte"), kMaxRatio));
    }
    ASSAY_RETURN_IF_ERROR(CheckRoomForMembers(total, where));
  }
  return members;
}

absl::StatusOr<std::map<std::string, NpyArray>> ParseArchive(std::string_view file_name, zip_source_t* source,
                                                             ZipError& zip_error, uint64_t file_size) {
  ASSAY_ASSIGN_OR_RETURN(const auto archive, OpenArchive(file_name, source, zip_error));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Member> members,
                         CheckMembers(archive.get(), file_name, file_size));
  std::map<std::string, NpyArray> arrays;
  for (size_t i = 0; i < members.size(); ++i) {
    const Member& member = members[i];
    ASSAY_ASSIGN_OR_RETURN(NpyArray array,
                           ReadMember(archive.get(), i, member.size, fmt::format("{}{}", member.key, kSuffix),
                                      WhereOf(file_name, member), file_name));
    array.type = member.type;
    array.member = static_cast<int64_t>(i);
    if (array.type && !MayHoldBitsOf(array, *array.type)) {
      return BadInput(fmt::format("{} is of type {} by its comment, and '{}' by its header",
                                  WhereOf(file_name, member), Name(*array.type), Printable(array.descr)));
    }
    arrays.emplace(member.key, std::move(array));
  }
  return arrays;
}

absl::Status WriteError(zip_t* archive) {
  return BadInput(fmt::format("writing .npz: {}", Zip().error_strerror(Zip().get_error(archive))));
}

// Stored, with the first time that a zip file can express, and the element type as its comment where the
// descriptor does not say it. The source is the member's bytes.
absl::Status AddMember(zip_t* archive, const std::string& name, ElementType type, zip_source_t* source) {
  if (source == nullptr) return WriteError(archive);
  const zip_int64_t index = Zip().file_add(archive, name.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    Zip().source_free(source);
    return WriteError(archive);
  }
  constexpr zip_uint16_t kFirstJanuary1980 = 1 << 5 | 1;
  if (Zip().set_file_compression(archive, index, ZIP_CM_STORE, 0) != 0 ||
      Zip().file_set_dostime(archive, index, 0, kFirstJanuary1980, 0) != 0) {
    return WriteError(archive);
  }
  const std::string_view comment = Name(type);
  if (Info(type).numpy_descr[1] == 'V' &&
      Zip().file_set_comment(archive, index, comment.data(), static_cast<zip_uint16_t>(comment.size()),
                             ZIP_FL_ENC_UTF_8) != 0) {
    return WriteError(archive);
  }
  return absl::OkStatus();
}

// Adds the arrays. `texts` holds what the archive reads beside the arrays themselves until it is closed.
absl::Status AddMembers(zip_t* archive, const std::vector<std::pair<std::string, Literal>>& arrays,
                        std::vector<std::string>& texts) {
  texts.reserve(arrays.size());
  for (const auto& [key, literal] : arrays) {
    if (!literal.shape().IsArray())
      return BadInput(fmt::format("writing .npz: '{}' is not an array", Printable(key)));
    const bool as_stored = StoredAsNpy(literal);
    const std::string& text = texts.emplace_back(as_stored ? NpyHeader(literal) : EncodeNpy(literal));
    // libzip's fragments are not const, but it only reads them.
    const auto fragment = [](const void* data, size_t size) {
      return zip_buffer_fragment_t{static_cast<zip_uint8_t*>(const_cast<void*>(data)), size};
    };
    const zip_buffer_fragment_t fragments[] = {fragment(text.data(), text.size()),
                                               fragment(literal.data(), literal.bytes().size())};
    const bool whole = as_stored && !literal.bytes().empty();
    ASSAY_RETURN_IF_ERROR(AddMember(archive, fmt::format("{}{}", key, kSuffix),
                                    literal.shape().element_type(),
                                    Zip().source_buffer_fragment(archive, fragments, whole ? 2 : 1, 0)));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadSource(zip_source_t* source) {
  zip_stat_t stat;
  Zip().stat_init(&stat);
  if (Zip().source_stat(source, &stat) != 0 || (stat.valid & ZIP_STAT_SIZE) == 0 ||
      Zip().source_open(source) != 0) {
    return BadInput("writing .npz: the archive can't be read back");
  }
  std::string bytes(stat.size, '\0');
  const zip_int64_t got = Zip().source_read(source, bytes.data(), bytes.size());
  Zip().source_close(source);
  if (got != static_cast<zip_int64_t>(bytes.size()))
    return BadInput("writing .npz: the archive can't be read back");
  return bytes;
}

absl::StatusOr<std::string> BuildArchive(const std::vector<std::pair<std::string, Literal>>& arrays) {
  std::vector<std::string> texts;
  ZipError zip_error;
  const std::unique_ptr<zip_source_t, ZipSourceFree> target(
      Zip().source_buffer_create(nullptr, 0, 0, &zip_error.error));
  if (target == nullptr) return OutOfMemory("an .npz file");
  Zip().source_keep(target.get());
  std::unique_ptr<zip_t, ZipDiscard> archive(
      Zip().open_from_source(target.get(), ZIP_CREATE | ZIP_TRUNCATE, &zip_error.error));
  if (archive == nullptr) {
    Zip().source_free(target.get());
    return BadInput(fmt::format("writing .npz: {}", Zip().error_strerror(&zip_error.error)));
  }
  ASSAY_RETURN_IF_ERROR(AddMembers(archive.get(), arrays, texts));
  if (Zip().close(archive.get()) != 0) return WriteError(archive.get());
  static_cast<void>(archive.release());
  return ReadSource(target.get());
}

// An archive that is being written to a file, as libzip asks for it.
struct FileTarget {
  int fd;
  zip_uint64_t position = 0, size = 0;
  int error = 0;
  absl::Status ended;  // by the guard
};

zip_int64_t WriteToTarget(void* state, void* data, zip_uint64_t length, zip_source_cmd_t command) {
  FileTarget& target = *static_cast<FileTarget*>(state);
  switch (command) {
    case ZIP_SOURCE_SUPPORTS:
      return Zip().source_make_command_bitmap(
          ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR,
          ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, ZIP_SOURCE_BEGIN_WRITE, ZIP_SOURCE_COMMIT_WRITE,
          ZIP_SOURCE_ROLLBACK_WRITE, ZIP_SOURCE_WRITE, ZIP_SOURCE_SEEK_WRITE, ZIP_SOURCE_TELL_WRITE,
          ZIP_SOURCE_REMOVE, -1);
    case ZIP_SOURCE_STAT: {  // nothing is there yet
      auto* stat = static_cast<zip_stat_t*>(data);
      Zip().stat_init(stat);
      stat->size = 0;
      stat->valid |= ZIP_STAT_SIZE;
      return sizeof(*stat);
    }
    case ZIP_SOURCE_WRITE: {
      const auto* bytes = static_cast<const char*>(data);
      if (target.ended = PollWork(); !target.ended.ok()) return -1;
      for (zip_uint64_t done = 0; done < length;) {
        const ssize_t written =
            ::pwrite(target.fd, bytes + done, length - done, static_cast<off_t>(target.position));
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) {
          target.error = errno;
          return -1;
        }
        done += static_cast<zip_uint64_t>(written);
        target.position += static_cast<zip_uint64_t>(written);
      }
      target.size = std::max(target.size, target.position);
      return static_cast<zip_int64_t>(length);
    }
    case ZIP_SOURCE_SEEK_WRITE: {
      const zip_int64_t position =
          Zip().source_seek_compute_offset(target.position, target.size, data, length, nullptr);
      if (position < 0) return -1;
      target.position = static_cast<zip_uint64_t>(position);
      return 0;
    }
    case ZIP_SOURCE_TELL_WRITE:
      return static_cast<zip_int64_t>(target.position);
    case ZIP_SOURCE_ERROR: {
      if (length < 2 * sizeof(int)) return -1;
      const int codes[2] = {target.error != 0 ? ZIP_ER_WRITE : ZIP_ER_OK, target.error};
      std::memcpy(data, codes, sizeof(codes));
      return sizeof(codes);
    }
    default:
      return 0;
  }
}

// 0, or the errno of what went wrong. Where the guard ended it, `ended` says so.
int WriteArchive(int fd, const std::vector<std::pair<std::string, Literal>>& arrays, absl::Status& ended) {
  FileTarget target{.fd = fd};
  std::vector<std::string> texts;
  ZipError zip_error;
  zip_source_t* source = Zip().source_function_create(WriteToTarget, &target, &zip_error.error);
  if (source == nullptr) return ENOMEM;
  std::unique_ptr<zip_t, ZipDiscard> archive(
      Zip().open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, &zip_error.error));
  if (archive == nullptr) {
    Zip().source_free(source);
    return ENOMEM;
  }
  if (!AddMembers(archive.get(), arrays, texts).ok()) return ENOMEM;
  if (Zip().close(archive.get()) != 0) {
    ended = target.ended;
    return !ended.ok() ? ECANCELED : target.error != 0 ? target.error : ENOMEM;
  }
  static_cast<void>(archive.release());
  return 0;
}

// A zip file without members: its end record alone.
std::string EmptyArchive() {
  std::string bytes(22, '\0');
  bytes.replace(0, 4, "PK\5\6");
  return bytes;
}

}  // namespace

absl::StatusOr<std::map<std::string, NpyArray>> ParseNpz(std::string_view file_name, std::string_view bytes) {
  if (bytes == EmptyArchive()) return std::map<std::string, NpyArray>();
  // libzip takes no bytes at all for an archive without members.
  if (bytes.empty())
    return BadInput(fmt::format("{}: not a readable .npz file: empty", Printable(file_name)));
  ASSAY_RETURN_IF_ERROR(LoadZipLibrary());
  try {
    ZipError error;
    zip_source_t* source = Zip().source_buffer_create(bytes.data(), bytes.size(), 0, &error.error);
    return ParseArchive(file_name, source, error, bytes.size());
  } catch (const std::bad_alloc&) {
    return OutOfMemory(fmt::format("the arrays of {}", Printable(file_name)));
  }
}

absl::StatusOr<std::map<std::string, NpyArray>> ReadNpzFile(const std::string& path) {
  // A large archive is read where it lies, member by member.
  constexpr off_t kReadWhole = 1 << 20;
  struct stat target;
  char magic[4] = {};
  if (::stat(path.c_str(), &target) == 0 && S_ISREG(target.st_mode) && target.st_size > kReadWhole) {
    std::ifstream(path, std::ios::binary).read(magic, sizeof(magic));
  }
  if (std::string_view(magic, sizeof(magic)) == "PK\3\4") {
    ASSAY_RETURN_IF_ERROR(LoadZipLibrary());
    try {
      ZipError error;
      zip_source_t* source = Zip().source_file_create(path.c_str(), 0, -1, &error.error);
      return ParseArchive(path, source, error, static_cast<uint64_t>(target.st_size));
    } catch (const std::bad_alloc&) {
      return OutOfMemory(fmt::format("the arrays of {}", Printable(path)));
    }
  }
  ASSAY_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  if (bytes.starts_with("\x93NUMPY")) {
    ASSAY_ASSIGN_OR_RETURN(NpyArray array, ParseNpy(path, bytes));
    std::map<std::string, NpyArray> arrays;
    arrays.emplace("", std::move(array));
    return arrays;
  }
  return ParseNpz(path, bytes);
}

absl::StatusOr<std::string> EncodeNpz(const std::vector<std::pair<std::string, Literal>>& arrays) {
  if (arrays.empty()) return EmptyArchive();
  ASSAY_RETURN_IF_ERROR(LoadZipLibrary());
  try {
    return BuildArchive(arrays);
  } catch (const std::bad_alloc&) {
    return OutOfMemory("an .npz file");
  }
}

absl::Status WriteNpzFile(const std::string& path,
                          const std::vector<std::pair<std::string, Literal>>& arrays) {
  struct stat target;
  const bool seekable = ::stat(path.c_str(), &target) != 0 || S_ISREG(target.st_mode);
  bool all_arrays = true;
  for (const auto& [key, literal] : arrays) all_arrays &= literal.shape().IsArray();
  if (!seekable || !all_arrays || arrays.empty()) {
    ASSAY_ASSIGN_OR_RETURN(const std::string bytes, EncodeNpz(arrays));
    return WriteFileAtomically(path, bytes);
  }
  ASSAY_RETURN_IF_ERROR(LoadZipLibrary());
  absl::Status ended;
  const absl::Status written = WriteFileAtomically(path, [&](int fd) {
    try {
      return WriteArchive(fd, arrays, ended);
    } catch (const std::bad_alloc&) {
      return ENOMEM;
    }
  });
  return ended.ok() ? written : ended;
}

}  // namespace assay
