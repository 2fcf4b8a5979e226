"""The doctor: looks at all that a server stands on, and says what to mend.

Every check is a plain function of what is there; none changes anything, and all of them may run
beside a server. What a check finds is `ok`, a `note` that needs no hurry, or a `problem`.
"""

from __future__ import annotations

from yoked_actor.app.doctor.data_directory import examine_data
from yoked_actor.app.doctor.examination import examine
from yoked_actor.app.doctor.finding import Finding
from yoked_actor.app.doctor.nodes import examine_nodes

__all__ = ["Finding", "examine", "examine_data", "examine_nodes"]
