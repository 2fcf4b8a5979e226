-- The candidates that each of some users was offered on some days, as a JSON array.
SELECT
    r.value,
    (
        SELECT json_group_array(o.candidate)
        FROM json_each(:days) AS d
        JOIN offers AS o ON o.day = d.value AND o.user_id = r.value
    )
FROM json_each(:people) AS r;
