raa

cc-u
pu
cpu
cpu