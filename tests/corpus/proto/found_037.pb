le]
cpu