-- End a transaction that has only read. After ROLLBACK psycopg would prepare every statement again.
COMMIT;
