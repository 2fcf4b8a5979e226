-- The candidates that each of some users was offered on some days, as a JSON array.
SELECT
    r.value,
    (
        SELECT CAST(coalesce(json_agg(o.candidate), '[]') AS text)
        FROM json_array_elements_text(CAST(:days AS json)) AS d (value)
        JOIN offers AS o ON o.day = d.value AND o.user_id = r.value
    )
FROM json_array_elements_text(CAST(:people AS json)) AS r (value);
