-- End a transaction that has only read.
ROLLBACK;
