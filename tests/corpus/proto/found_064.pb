
ji
ic,pj_gp8_qsiunta
i

had