// Two kernels whose registers, spills and shared memory are known: TILE and -maxrregcount make the variants.

// Sixty sums a thread: they fit into registers, unless these are limited.
extern "C" __global__ void sums(const float* in, float* out, int steps) {
  float sum[60];
#pragma unroll
  for (int i = 0; i < 60; ++i) sum[i] = 0.f;
  for (int step = 0; step < steps; ++step) {
#pragma unroll
    for (int i = 0; i < 60; ++i) sum[i] = sum[i] * in[i + step] + in[step];
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 60; ++i) out[i * blockDim.x + threadIdx.x] = sum[i];
}

// TILE floats of shared memory.
template <int kTile>
__global__ void tile_kernel(const float* in, float* out) {
  __shared__ float tile[kTile];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x ^ 1];
}

void launch(float* data) { tile_kernel<TILE><<<1, 128>>>(data, data); }
