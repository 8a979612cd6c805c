raa
c
cpu
cpu
cpu