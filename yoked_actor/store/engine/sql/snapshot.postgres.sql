-- Begin a transaction whose statements read one snapshot.
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
