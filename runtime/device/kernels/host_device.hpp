#pragma once
// Functions that a device's compiler compiles as well.

/// Precedes functions that run both on the host and in kernels of a device.
#ifdef __CUDACC__
#define HYDRA_HOST_DEVICE __host__ __device__
#else
#define HYDRA_HOST_DEVICE
#endif
