"""The video date: a real call between two windows, its ends, and dates without a camera."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.pages import PATIENT, Person, start_date

GRACE_S = 8
REMOTE_STREAM = "document.querySelector('video.remote').srcObject"

# Waits for a different frame: the video is moving.
NEXT_PICTURE = """
async () => {
  const video = document.querySelector("video.remote");
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  const picture = () => {
    pen.drawImage(video, 0, 0);
    return pen.getImageData(0, 0, canvas.width, canvas.height).data.join();
  };
  const [first, begun] = [picture(), video.currentTime];
  for (let frame = 0; frame < 200; frame++) {
    await new Promise((next) => video.requestVideoFrameCallback(next));
    const latest = picture();
    const colours = new Set(latest.split(",")).size;
    // More than one colour: a camera that is off would be black.
    if (latest !== first && colours > 2 && video.currentTime > begun) return colours;
  }
  throw new Error("the video does not move");
}
"""


@pytest.fixture(scope="module")
def settings() -> dict[str, Any]:
    return PATIENT | {"matching__vote_window_s": 30, "matching__resume_grace_s": GRACE_S}


def sees_moving_video(person: Person) -> None:
    person.sees_video()
    assert person.page.evaluate("document.querySelector('video.remote').videoWidth") > 0
    assert person.page.evaluate(NEXT_PICTURE) > 2


def shows_instead_of_video(person: Person, words: str) -> None:
    message = person.page.locator(".stage-message")
    expect(message).to_have_text(words)
    expect(message).to_be_visible()


def test_two_yeses_lead_to_a_call_in_which_both_see_each_other(
    couple: tuple[Person, Person],
) -> None:
    start_date(*couple)
    for person in couple:
        sees_moving_video(person)
        expect(person.page.locator("video.own")).to_be_visible()
        expect(person.page.get_by_role("timer")).to_have_text(re.compile(r"^(5:00|4:[345]\d)$"))
    couple[0].shoot("8-date-light-laptop")


def test_a_reload_returns_to_the_same_call(couple: tuple[Person, Person]) -> None:
    start_date(*couple)
    for person in couple:
        person.sees_video()
    # First the initiator reloads, then the other one.
    for person, other in (couple, couple[::-1]):
        stream = other.page.evaluate(f"{REMOTE_STREAM}.id")
        person.reload()
        person.at("/video-date")
        # Until then, the partner sees the last frame of the previous call.
        other.until(f"{REMOTE_STREAM}.id !== {stream!r}")
        for each in couple:
            sees_moving_video(each)


def test_a_lost_socket_does_not_end_the_call(couple: tuple[Person, Person]) -> None:
    ana, ben = couple
    start_date(ana, ben)
    for person in couple:
        person.sees_video()
        person.cut()
        sees_moving_video(person)
    ana.press("End date")
    ana.sees_notice("You ended the date.")
    ben.sees_notice("They ended the date.")
    for person in couple:
        person.at("/spin")


def test_the_partner_sees_that_the_camera_is_off(couple: tuple[Person, Person]) -> None:
    ana, ben = couple
    start_date(ana, ben)
    ben.sees_video()
    ana.press("Mute")
    expect(ana.page.get_by_role("button", name="Unmute")).to_have_attribute("aria-pressed", "true")
    ana.press("Camera off")
    shows_instead_of_video(ben, f"{ana.name}'s camera is off.")
    ana.press("Camera on")
    sees_moving_video(ben)


def test_a_block_ends_the_date_and_the_other_does_not_learn_why(
    couple: tuple[Person, Person],
) -> None:
    ana, ben = couple
    start_date(ana, ben)
    ana.press("Block")
    dialog = ana.page.get_by_role("dialog", name=f"Block {ben.name}?")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    expect(ana.page.get_by_role("button", name="Block")).to_be_focused()
    ana.press("Block")
    dialog.get_by_role("button", name="Block").click()
    ana.sees_notice(f"{ben.name} is blocked.")
    ben.sees_notice("They ended the date.")
    for person in couple:
        person.at("/spin")
    assert ana.server.read(f"SELECT blocked FROM blocks WHERE blocker = '{ana.user_id}'") == [
        (ben.user_id,)
    ]


def test_a_report_is_stored_and_needs_a_text(couple: tuple[Person, Person]) -> None:
    ana, ben = couple
    start_date(ana, ben)
    ana.press("Report")
    dialog = ana.page.get_by_role("dialog", name=f"Report {ben.name}?")
    dialog.get_by_role("button", name="Send report").click()
    expect(dialog.get_by_role("alert")).to_have_text("Please describe what happened.")
    dialog.get_by_label("What happened?").fill("Was rude to the cat")
    dialog.get_by_role("button", name="Send report").click()
    ana.sees_notice("Thank you. We've received your report.")
    ana.at("/video-date")
    stored = ana.server.read(
        f"SELECT reported, reason FROM reports WHERE reporter = '{ana.user_id}'"
    )
    assert stored == [(ben.user_id, "Was rude to the cat")]


def no_camera(error: str) -> str:
    rejected = f"Promise.reject(new DOMException('no', '{error}'))"
    return f"navigator.mediaDevices.getUserMedia = () => {rejected};"


NOT_SECURE = "Object.defineProperty(navigator, 'mediaDevices', { value: undefined });"


WITHOUT_CAMERA = {
    no_camera("NotAllowedError"): "Your camera and microphone are blocked for this page.",
    no_camera("NotFoundError"): "No camera or microphone found.",
    NOT_SECURE: "Your browser only allows camera access on secure (https) pages.",
}


def test_without_a_camera_the_date_starts_and_the_partner_is_visible(
    couple: tuple[Person, Person],
) -> None:
    ana, ben = couple
    start_date(ana, ben)
    for script, words in WITHOUT_CAMERA.items():
        ana.page.add_init_script(script)
        ana.reload()
        ana.reads(words)
        expect(ana.page.get_by_role("button", name="Try the camera again")).to_be_visible()
        sees_moving_video(ana)
        shows_instead_of_video(ben, f"{ana.name}'s camera is off.")
    ana.press("End date")
    ana.sees_notice("You ended the date.")


def test_without_webrtc_the_date_starts_and_both_see_why(couple: tuple[Person, Person]) -> None:
    ana, ben = couple
    ana.page.add_init_script("delete window.RTCPeerConnection")
    ana.reload()
    start_date(ana, ben)
    ana.reads("Your browser doesn't support video calls. The date goes on")
    ben.reads(f"{ana.name}'s browser doesn't support video calls.")
    ben.press("End date")
    for person in couple:
        person.at("/spin")


def test_the_text_of_a_simulated_person_is_shown_as_text(couple: tuple[Person, Person]) -> None:
    ana, ben = couple
    start_date(ana, ben)
    # Another connection replaces Ben's page.
    ben.page.evaluate(
        """async () => {
          const { connect } = await import("/yoked.js");
          const client = connect({ token: sessionStorage.getItem("yoked.token") });
          const { date } = await client.welcomed();
          await client.signal(date.date_id, { kind: "demo", text: "<b>Hello</b> from a demo" });
        }"""
    )
    ben.headed("Yoked is open in another window")
    ana.reads("<b>Hello</b> from a demo")
    ana.reads("is a simulated person")


def test_a_lost_partner_ends_the_date(couple: tuple[Person, Person]) -> None:
    ana, ben = couple
    start_date(ana, ben)
    ben.sees_video()
    ben.page.close()
    ana.sees_notice("Their connection was lost, so the date is over.")
    ana.at("/spin")
