-- The pairs whose last answer is an accept.
SELECT user_id, candidate
FROM (
    SELECT o.user_id, o.candidate, o.answer, max(o.day)
    FROM json_each(?) AS p
    JOIN offer_answers AS o ON o.user_id = p.value
    GROUP BY o.user_id, o.candidate
)
WHERE answer = 'accept';
