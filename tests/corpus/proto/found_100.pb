!É
A†zr
it_