"""The video of the fake camera: a person, drawn with a few ellipses, who moves a little.

A file of our own, so that pictures of the pages look like what they are made for.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

# Few frames: each is encoded, decoded and drawn by the CPU in both windows of a date.
WIDTH, HEIGHT, FRAMES, PER_S = 640, 360, 10, 5
# Luma and both chromas (BT.601): a bright wall, its dark corner, and a person in front of it.
WALL, CORNER = (178, 108, 146), (70, 122, 140)
JUMPER, HAIR, FACE, EYES = (88, 128, 166), (42, 124, 138), (170, 112, 150), (40, 126, 134)


def write_camera_file(path: Path) -> None:
    """Write some seconds of raw video (YUV4MPEG2) that can be played in a loop."""
    with path.open("wb") as file:
        file.write(f"YUV4MPEG2 W{WIDTH} H{HEIGHT} F{PER_S}:1 Ip A1:1 C420jpeg\n".encode())
        for number in range(FRAMES):
            file.write(b"FRAME\n")
            picture = _picture(2 * np.pi * number / FRAMES)
            file.write(picture[0].tobytes())
            for chroma in picture[1:]:
                file.write(chroma[::2, ::2].tobytes())


def _picture(turn: float) -> np.ndarray:
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    light = np.clip(1.15 - np.hypot((x - 170) / 520, (y - 60) / 420), 0, 1)
    sway, nod = 14 * np.sin(turn), 4 * np.sin(2 * turn)

    def ellipse(dx: float, dy: float, width: float, height: float) -> np.ndarray:
        inside: np.ndarray = ((x - 320 - dx) / width) ** 2 + ((y - dy) / height) ** 2 < 1
        return inside

    eyes = [ellipse(sway + side, 152 + nod, 5, 7) for side in (-24, 24)]
    smile = ellipse(sway, 190 + nod, 22, 15) & (y > 192 + nod)
    parts = [
        (ellipse(sway / 2, 385, 150, 150), JUMPER),
        (ellipse(sway, 152 + nod, 76, 92), HAIR),
        (ellipse(sway, 172 + nod, 56, 68), FACE),
        (eyes[0] | eyes[1] | smile, EYES),
    ]
    planes = []
    for part, (wall, corner) in enumerate(zip(WALL, CORNER, strict=True)):
        plane = corner + (wall - corner) * light
        for where, colour in parts:
            plane = np.where(where, colour[part], plane)
        planes.append(plane)
    return np.asarray(planes).astype(np.uint8)
