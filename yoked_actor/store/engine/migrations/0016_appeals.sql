-- An appeal of a suspended user stands in the queue of reports: reporter and reported are the user, and the
-- reason is the text of the appeal.
ALTER TABLE reports ADD COLUMN kind TEXT NOT NULL DEFAULT 'report';
