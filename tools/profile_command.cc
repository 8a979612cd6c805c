// assay profile show | measure: what a conforming backend may do (docs/bounds.md, Profiles).
#include <algorithm>
#include <ctime>

#include "base/file_io.h"
#include "base/json_writer.h"
#include "check/measure/measure.h"
#include "check/profile.h"
#include "fmt/format.h"
#include "hlo/diagnostics.h"
#include "tools/backend.h"
#include "tools/commands.h"

namespace assay::cli {
namespace {

std::string ProfileJson(const Profile& profile) {
  JsonWriter json;
  const auto write_rule = [&](const Profile::Ulps& rule) {
    json.Object("op", rule.op ? Name(*rule.op) : "*", "type", rule.type ? Name(*rule.type) : "*", "ulps",
                rule.ulps);
  };
  const auto write_origin = [&] {
    json.Begin("{");
    for (const Profile::Origin& line : profile.origin) json.Fields(line.key, line.text);
    json.End("}");
  };
  json.Object(
      "profile", profile.name, "origin", write_origin, "variants", profile.variants, "ulps",
      [&] { json.Array(profile.ulps, write_rule); }, "text", TextOf(profile));
  return json.text() + "\n";
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// "2026-11-26", in UTC.
std::string Today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday);
}

// What the command knows, and what --origin says instead or besides. nullopt: --origin has a line of another
// kind.
absl::StatusOr<std::vector<Profile::Origin>> OriginOf(const ProfileMeasureFlags& flags,
                                                      const Backend& backend) {
  std::vector<Profile::Origin> lines = {
      {"made_by", fmt::format("assay {} profile measure", ASSAY_VERSION)},
      {"backend", backend.Name()},
      {"device", backend.Device()},
      {"date", Today()},
      {"arguments",
       fmt::format("{} of all exponents and {} near 1 of each function, seed {}; all of types of 16 bits",
                   flags.count, flags.count, flags.options.run_seed)}};
  for (const std::string& text : flags.origin) {
    ASSAY_ASSIGN_OR_RETURN(const Profile said, ParseProfile("--origin", text));
    if (said.origin.size() != 1)
      return BadInput(fmt::format("--origin is '{}', want a line such as 'driver 580.1'", text));
    const Profile::Origin& line = said.origin[0];
    std::erase_if(lines, [&](const Profile::Origin& other) { return other.key == line.key; });
    lines.push_back(line);
  }
  std::erase_if(lines, [](const Profile::Origin& line) { return line.text.empty(); });
  return lines;
}

}  // namespace

int ShowProfile(const ProfileShowFlags& flags) {
  const absl::StatusOr<Profile> profile = LoadProfile(flags.profile);
  if (!profile.ok()) return Fail(profile.status(), flags.profile);
  if (flags.json) return Write(ProfileJson(*profile)) ? 0 : 5;
  std::string shown;
  for (const std::string& line : LinesOf(TextOf(*profile))) shown += EscapeControls(line) + "\n";
  return Write(shown) ? 0 : 5;
}

int MeasureProfileCommand(const ProfileMeasureFlags& flags) {
  if (flags.backend.empty() == flags.plugin.empty())
    return UsageError(
        "profile measure takes a backend: --plugin LIB.so, or --backend 'CMD {program} {inputs} {outputs}'");
  if (const std::string wrong = BackendUsage(flags.backend); !wrong.empty()) return UsageError(wrong);
  if (const int code = CheckFiles({flags.plugin}, {flags.output}); code != 0) return code;
  const absl::StatusOr<std::unique_ptr<Backend>> backend = BackendOf(flags, flags.backend);
  const std::string& named = flags.plugin.empty() ? flags.backend : flags.plugin;
  if (!backend.ok()) return Fail(backend.status(), named);
  const absl::StatusOr<std::vector<Profile::Origin>> origin = OriginOf(flags, **backend);
  if (!origin.ok()) return UsageError(std::string(origin.status().message()));
  MeasureOptions options;
  options.count = flags.count;
  options.seed = flags.options.run_seed;
  options.run = OptionsOf(flags);
  options.run.interrupted = Interrupted;
  options.engines = EnginesOf(flags);
  const absl::StatusOr<Measurement> measured = MeasureProfile(**backend, options);
  if (!measured.ok()) return Fail(measured.status(), named);
  const std::string text = MeasuredProfileText(*measured, *origin);
  if (flags.output.empty()) return Write(text) ? 0 : 5;
  const absl::Status written = WriteFileAtomically(flags.output, text);
  return written.ok() ? 0 : Fail(written, flags.output);
}

}  // namespace assay::cli
