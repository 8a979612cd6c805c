#include "tests/gpu/emulator/device/fibre.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace assay::emulated {
namespace {

constexpr size_t kPage = 4096, kStack = 32 * kPage;  // the lowest page of a stack may not be touched

}  // namespace

#if defined(__x86_64__)

// Stores what the ABI has a function preserve on the stack, leaves the stack's pointer in *from,
// and goes on from `to`.
extern "C" void assay_emulated_switch(void** from, void* to) __attribute__((visibility("hidden")));
asm(R"(
  .text
  .hidden assay_emulated_switch
  .globl assay_emulated_switch
  .type assay_emulated_switch, @function
assay_emulated_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size assay_emulated_switch, .-assay_emulated_switch
)");

struct Fibres::Context {
  void* stack = nullptr;
};

void Fibres::Start(int i, void (*entry)()) {
  // Six registers, the address to return to, and one word that makes the stack aligned as after a call.
  auto* top = reinterpret_cast<uintptr_t*>(stacks_ + (i + 1) * kStack) - 8;
  std::memset(top, 0, 8 * sizeof *top);
  top[6] = reinterpret_cast<uintptr_t>(entry);
  contexts_[i].stack = top;
}

void Fibres::Resume(int i) { assay_emulated_switch(&contexts_[most_].stack, contexts_[i].stack); }
void Fibres::Suspend(int i) { assay_emulated_switch(&contexts_[i].stack, contexts_[most_].stack); }

#else

struct Fibres::Context {
  ucontext_t context;
};

void Fibres::Start(int i, void (*entry)()) {
  ucontext_t& context = contexts_[i].context;
  getcontext(&context);
  context.uc_stack.ss_sp = reinterpret_cast<void*>(stacks_ + i * kStack + kPage);
  context.uc_stack.ss_size = kStack - kPage;
  context.uc_link = nullptr;
  makecontext(&context, entry, 0);
}

void Fibres::Resume(int i) { swapcontext(&contexts_[most_].context, &contexts_[i].context); }
void Fibres::Suspend(int i) { swapcontext(&contexts_[i].context, &contexts_[most_].context); }

#endif

Fibres::Fibres(int most) : most_(most), bytes_(most * kStack), contexts_(new Context[most + 1]) {
  void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  stacks_ = reinterpret_cast<uintptr_t>(memory);
  for (int i = 0; i < most; ++i) {
    mprotect(reinterpret_cast<void*>(stacks_ + i * kStack), kPage, PROT_NONE);
  }
}

Fibres::~Fibres() { munmap(reinterpret_cast<void*>(stacks_), bytes_); }

}  // namespace assay::emulated
