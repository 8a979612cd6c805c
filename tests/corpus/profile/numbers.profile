ulps add f32 nan
ulps add f32 -1
ulps add f32 inf
ulps add f32 1e31
ulps add f32 0x1p3
