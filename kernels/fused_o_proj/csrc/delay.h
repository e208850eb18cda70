// A planted slowdown: builds with FUSED_O_PROJ_DELAY_NS > 0 take about that much longer per call.
//
// It exists to test the instruments that must notice it. The default is 0, which compiles to nothing.
#pragma once

#ifndef FUSED_O_PROJ_DELAY_NS
#define FUSED_O_PROJ_DELAY_NS 0
#endif
