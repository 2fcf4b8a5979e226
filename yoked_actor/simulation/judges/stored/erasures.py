"""Nothing of an erased person is left in the files."""

from __future__ import annotations

from yoked_actor.simulation.judges.verdict import Bench, Weather
from yoked_actor.simulation.stage import Stage


class Erasures:
    """Searches the bytes of the files for people who are erased."""

    def __init__(self, stage: Stage, bench: Bench, weather: Weather) -> None:
        self._stage = stage
        self._bench = bench
        self._weather = weather
        self._erased: dict[str, str] = {}

    def check(self, user_id: str, name: str) -> None:
        """A person was just told that the erasure is done."""
        self._erased[user_id] = name
        self._search({user_id: name}, is_first=True)

    def check_all(self) -> None:
        """Nobody has come back into the files since."""
        self._search(self._erased, is_first=False)

    def _search(self, erased: dict[str, str], *, is_first: bool) -> None:
        if not self._stage.is_up or not erased:
            return
        self._bench.count("erased", len(erased))
        image = self._stage.files.image()
        for user_id, name in erased.items():
            for text in (user_id.encode(), name.encode()):
                in_file, in_log = image.database.count(text), image.log.count(text)
                # While a disk is slow or full the log is truncated later: daily, at the latest.
                is_late = in_log and is_first and not self._weather.is_fair(60.0)
                if in_file or (in_log and not is_late):
                    where = f"{in_file} times in the database, {in_log} times in the log"
                    text_found = f"{text.decode()!r} is still there: {where}"
                    self._bench.report("erased_left", text_found, user_id)
