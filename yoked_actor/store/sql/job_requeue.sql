-- From the start: attempts are counted anew, the fence is not.
UPDATE jobs SET
    status = 'pending', attempts = 0, scheduled_for = ?2, completed_at = NULL, cancel_asked = 0
WHERE id = ?1;
