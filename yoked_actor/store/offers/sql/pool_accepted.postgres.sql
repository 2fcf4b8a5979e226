-- The pairs whose last answer is an accept.
SELECT user_id, candidate
FROM (
    SELECT DISTINCT ON (o.user_id, o.candidate) o.user_id, o.candidate, o.answer
    FROM json_array_elements_text(CAST(? AS json)) AS p (value)
    JOIN offer_answers AS o ON o.user_id = p.value
    ORDER BY o.user_id, o.candidate, o.day DESC
) AS last
WHERE answer = 'accept';
