// A library that is wrong in one way, which a macro names, or GOOD.
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>

#if defined(NO_ENTRY_POINT)

extern "C" int nothing() { return 0; }

#elif defined(OTHER_VERSION)

extern "C" uint32_t assay_abi_version() { return 77; }
extern "C" void assay_register_ops(const void*) { std::abort(); }

#else

#include "assay/op_library.h"

#if !defined(OTHER_GOOD)
ASSAY_REGISTER_OP("Test.Good").Input("x: f32").Output("y: f32");
#else
ASSAY_REGISTER_OP("Test.Further").Input("x: f32").Output("y: f32");
ASSAY_REGISTER_OP("Test.Good").Input("x: f64").Output("y: f64");
#endif

#if defined(BAD_SPEC)
ASSAY_REGISTER_OP("Test.Bad").Input("x: f33").Output("y: f32");
#elif defined(TWO_INTERFACES)
ASSAY_REGISTER_OP("Test.Good").Input("x: f64").Output("y: f32");
#elif defined(NO_SUCH_OP)
ASSAY_NOT_DIFFERENTIABLE("Test.Missing");
#elif defined(THROWS)
static const assay::op::Registered thrower([](const AssayRegistrar&) {
  throw std::runtime_error("half-way");
});
#elif defined(CRASHES)
static const int crash = [] {
  std::abort();
  return 0;
}();
#elif defined(EXITS)
static const int leave = [] {
  std::exit(0);
  return 0;
}();
#elif defined(HANGS)
static const int wait = [] {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  for (;;) pause();
  return 0;
}();
#endif

#endif
