// Breaks the order of folders on purpose: input of the test layers_can_fail.
#include "hlo/module.h"
