// Memory of devices that is kept for later and can be made again.
#ifndef ASSAY_GPU_DRIVER_GIVE_BACK_H_
#define ASSAY_GPU_DRIVER_GIVE_BACK_H_

namespace assay::gpu {

// What is called, on the thread of the allocation, before one fails for want of memory: whether it gave any
// back, so that it is worth to try again.
void SetGiveBack(bool (*give_back)());
// False where none is set.
bool GiveBack();

}  // namespace assay::gpu

#endif  // ASSAY_GPU_DRIVER_GIVE_BACK_H_
