"""The ruler: everything that touches torch, CUDA and NVML. Its modules are imported only when a device is opened."""
