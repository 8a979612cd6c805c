inherit inherit
inherit xla-gpu
inherit xla-cpu
