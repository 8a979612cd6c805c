// Completions of the command line for shells: commands, flags, values of flags that are a few words, and
// names of operations and topics; files everywhere else.
#ifndef ASSAY_TOOLS_ABOUT_COMPLETIONS_H_
#define ASSAY_TOOLS_ABOUT_COMPLETIONS_H_

#include <map>
#include <span>
#include <string>
#include <vector>

#include "tools/about/app_text.h"

namespace assay::cli {

// Words for what stands without a flag ("OP") or behind one ("--profile"), besides the choices that the
// declarations have.
using KnownWords = std::map<std::string, std::vector<std::string>>;

std::string BashCompletion(std::span<const CommandText> commands, const KnownWords& known);
std::string ZshCompletion(std::span<const CommandText> commands, const KnownWords& known);

}  // namespace assay::cli

#endif  // ASSAY_TOOLS_ABOUT_COMPLETIONS_H_
