SELECT
    number, a, b, status, paired_at, closes_at, a_acknowledged, b_acknowledged,
    voting_at, a_vote, b_vote, outcome, cancelled_for, ended_at
FROM matches
WHERE ended_at IS NULL AND room = :room
ORDER BY number;
