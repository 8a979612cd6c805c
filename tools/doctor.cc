// assay doctor: what this machine has of what Assay can use.
#include <unistd.h>

#include <array>
#include <filesystem>
#include <map>
#include <thread>

#include "base/counted.h"
#include "base/json_writer.h"
#include "base/quoted.h"
#include "base/run_guard.h"
#include "check/backends/command_process.h"
#include "custom/lapack/library.h"
#include "devices/transport.h"
#include "engines/native/contraction/integer_kernels.h"
#include "engines/onednn/version.h"
#include "fmt/format.h"
#include "gpu/driver/device.h"
#include "hlo/diagnostics.h"
#include "tools/commands.h"

namespace assay::cli {
namespace {

struct Part {
  std::string name;
  bool is_present;
  std::string detail;  // version and place, or why it is missing
  std::string cost;    // what is lost without it
  std::string remedy;  // how to get it; empty: not by installing something
};

std::string Gibibytes(double bytes) { return fmt::format("{:.1f} GiB", bytes / (1 << 30)); }

std::string MachineText() {
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  return fmt::format("{}, {} of memory", Counted(std::thread::hardware_concurrency(), "processor"),
                     Gibibytes(memory));
}

std::vector<Part> Processor() {
  const Isa isa = MachineIsa();
  return {
      {"AVX2", isa >= Isa::kAvx2, isa >= Isa::kAvx2 ? "with FMA, BMI, BMI2" : "not in this processor",
       "compiled kernels for baseline x86-64 alone, and no generated code: the same bits, more slowly", ""},
      {"AVX-512", isa == Isa::kAvx512, isa == Isa::kAvx512 ? "F, DQ, VL, BW" : "not in this processor",
       "vectors of 256 bits in place of 512: the same bits, more slowly", ""},
      {"AMX", native::HasPairTiles(),
       native::HasPairTiles() ? "matrix registers for bf16 and int8" : "not in this processor",
       "dots of small integers and bf16 by vector instructions: the same bits of --engine exact, more slowly",
       ""}};
}

Part Onednn() {
  const absl::StatusOr<std::string> version = onednn::LibraryVersion();
  return {"oneDNN", version.ok(), version.ok() ? *version : std::string(version.status().message()),
          "--engine fast --allow-rwx computes large dots and convolutions of f32 by its own kernels",
          "apt-get install libdnnl2"};
}

Part Lapack() {
  const absl::StatusOr<void*> routine = custom::FindLapackRoutine("ilaver");
  std::array<int, 3> version = {0, 0, 0};
  if (routine.ok())
    reinterpret_cast<void (*)(int*, int*, int*)> (*routine)(&version[0], &version[1], &version[2]);
  return {"LAPACK", routine.ok(),
          routine.ok() ? fmt::format("{}.{}.{}", version[0], version[1], version[2])
                       : std::string(routine.status().message()),
          "--lapack is refused; decompositions are computed exactly, which is slower and needs no library",
          "apt-get install liblapack3"};
}

std::string VersionText(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

Part Gpu(const std::string& driver) {
  const absl::StatusOr<std::shared_ptr<gpu::Device>> device = gpu::Device::Open(driver);
  std::string detail(device.ok() ? "" : device.status().message());
  if (device.ok()) {
    const gpu::DeviceProperties& of = (*device)->properties();
    detail =
        fmt::format("{}, sm_{}{}, {}, driver for CUDA {}", of.name, of.capability.major, of.capability.minor,
                    Gibibytes(static_cast<double>(of.memory)), VersionText(of.driver_version));
  }
  return {"GPU", device.ok(), detail, "--engine gpu leaves all steps to the engines of exact: the same bits",
          ""};
}

// libassay_mpi.so is looked for where devices/transport.cc does.
std::filesystem::path FolderOfProgram() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

std::string FirstThere(const std::vector<std::filesystem::path>& paths) {
  std::error_code error;
  for (const std::filesystem::path& path : paths) {
    if (std::filesystem::exists(path, error)) return path.lexically_normal().string();
  }
  return "";
}

Part Library(const std::string& name, const std::string& file, const std::string& build_folder,
             const std::string& cost, const std::string& remedy) {
  const std::filesystem::path folder = FolderOfProgram(), above = folder.parent_path();
  const std::string path = FirstThere({folder / file, above / "lib" / file, above / build_folder / file});
  return {name, !path.empty(),
          path.empty() ? fmt::format("no {} beside this program or in ../lib", file) : path, cost, remedy};
}

// What Python says: lines "NAME VALUE", an empty value where there is no such package.
constexpr char kQuestion[] = R"(
import importlib.metadata, importlib.util, pathlib, platform, sys
print('python', platform.python_version(), sys.executable)
for name in ('jax', 'jaxlib', 'numpy'):
    try:
        print(name, importlib.metadata.version(name))
    except Exception:
        print(name)
try:
    import assay
    print('assay', assay.__version__, pathlib.Path(assay.__file__).parent)
    print('plugin', *pathlib.Path(assay.__file__).parent.glob('libpjrt_assay.so'))
except Exception as error:
    print('why', repr(error).splitlines()[0])
)";

std::map<std::string, std::string> AskPython(const std::string& python) {
  std::map<std::string, std::string> said;
  RunLimits limits;
  limits.timeout_seconds = 10;
  const WorkScope work(std::make_shared<RunGuard>(limits, Interrupted, WorkScope::Current()));
  const absl::StatusOr<CommandEnd> end =
      RunShellCommand(fmt::format("{} -c {}", ShellWord(python), ShellWord(kQuestion)));
  if (!end.ok() || !end->ok()) return said;
  for (std::string_view rest = end->words; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const size_t space = std::min(line.find(' '), line.size());
    said[std::string(line.substr(0, space))] = line.substr(std::min(space + 1, line.size()));
  }
  return said;
}

std::vector<Part> Python(const std::string& python) {
  std::map<std::string, std::string> said = AskPython(python);
  const bool runs = !said["python"].empty();
  const std::string lacks = runs ? "not installed there" : "no Python to ask";
  const auto package = [&](const char* name) { return said[name].empty() ? lacks : said[name]; };
  const std::string why = said["why"].empty() ? lacks : said["why"];
  return {{"Python", runs, runs ? said["python"] : fmt::format("'{}' does not run", python),
           "the command alone: no package, no JAX, no conformance runner", "apt-get install python3-venv"},
          {"jaxlib", !said["jaxlib"].empty(), package("jaxlib"),
           "no JAX functions to evaluate, no XLA:CPU to compare with", "pip install jax"},
          {"Python package", !said["assay"].empty(), said["assay"].empty() ? why : said["assay"],
           "no import assay: evaluate, check, goldens in pytest", "pip install . in a clone of Assay"},
          {"JAX platform", !said["plugin"].empty(), said["plugin"].empty() ? lacks : said["plugin"],
           "no JAX_PLATFORMS=assay", "pip install '.[jax]' in a clone of Assay"}};
}

std::vector<Part> PartsOf(const DoctorFlags& flags) {
  std::vector<Part> parts = Processor();
  parts.push_back(Onednn());
  parts.push_back(Lapack());
  parts.push_back(Gpu(flags.gpu.driver));
  parts.push_back(Library("MPI", "libassay_mpi.so", "tools",
                          "mpirun is refused; devices run as threads of one process: the same bits",
                          "apt-get install libopenmpi-dev, and build Assay again"));
  parts.push_back(Library("PJRT plugin", "libpjrt_assay.so", "pjrt",
                          "no plugin for frameworks without the Python package", "cmake --install"));
  for (Part& part : Python(flags.python)) parts.push_back(std::move(part));
  return parts;
}

std::string PartsText(const std::vector<Part>& parts) {
  std::error_code error;
  std::string text = fmt::format(
      "assay {}, {}\n{}\n\n", ASSAY_VERSION,
      EscapeControls(std::filesystem::read_symlink("/proc/self/exe", error).string()), MachineText());
  for (const Part& part : parts) {
    text += fmt::format("{:<8} {:<15} {}\n", part.is_present ? "present" : "missing", part.name,
                        EscapeControls(part.detail));
    if (part.is_present) continue;
    text += fmt::format("{:<24} without: {}\n", "", part.cost);
    if (!part.remedy.empty()) text += fmt::format("{:<24} to get it: {}\n", "", part.remedy);
  }
  return text;
}

std::string PartsJson(const std::vector<Part>& parts) {
  std::error_code error;
  JsonWriter json;
  const auto write_part = [&](const Part& part) {
    json.Object("name", part.name, "present", part.is_present, "detail", part.detail, "without", part.cost,
                "remedy", part.remedy);
  };
  json.Object("version", ASSAY_VERSION, "program",
              std::filesystem::read_symlink("/proc/self/exe", error).string(), "machine", MachineText(),
              "parts", [&] { json.Array(parts, write_part); });
  return json.text() + "\n";
}

}  // namespace

int Doctor(const DoctorFlags& flags) {
  const std::vector<Part> parts = PartsOf(flags);
  return Write(flags.json ? PartsJson(parts) : PartsText(parts)) ? 0 : 5;
}

}  // namespace assay::cli
