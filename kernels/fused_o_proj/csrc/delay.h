// A planted slowdown: builds with FUSED_O_PROJ_DELAY_PPM > 0 take that many millionths longer than they
// would (20000: 2 %), whatever the shape.
//
// It exists to test the instruments that must notice it. The default is 0, which compiles to nothing.
#pragma once

#ifndef FUSED_O_PROJ_DELAY_PPM
#define FUSED_O_PROJ_DELAY_PPM 0
#endif
