from __future__ import annotations

import threading

from streamverify.scorers.protocol import Abort


class Seen(Abort):
    """Tells when its caller stands in the queue: it attaches then."""

    def __init__(self):
        super().__init__()
        self.attached = threading.Event()

    def attach(self, callback):
        detach = super().attach(callback)
        self.attached.set()
        return detach
