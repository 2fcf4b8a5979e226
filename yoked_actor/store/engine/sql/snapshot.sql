-- Begin a transaction whose statements read one snapshot.
BEGIN;
