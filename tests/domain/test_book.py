"""A book restores its state exactly, and knows what must be stored."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from yoked_actor.domain.lobby.floor.book import Book

changes = st.lists(
    st.tuples(st.sampled_from("abcd"), st.one_of(st.none(), st.integers(0, 3).map(str)))
)


def _apply(book: Book[str, str], changes: list[tuple[str, str | None]]) -> None:
    for key, value in changes:
        if value is None:
            book.remove(key)
        else:
            book.put(key, value)


@given(settled=changes, undone=changes, then=changes)
def test_undo_returns_to_the_last_settled_rows_whatever_was_done(settled, undone, then) -> None:
    book: Book[str, str] = Book()
    _apply(book, settled)
    book.settle()
    before = dict(book.rows)
    _apply(book, undone)
    touched = set(book.touched())
    assert set(book.undo()) == touched
    assert book.rows == before
    assert list(book.touched()) == []
    # And the undone round leaves no trace in the next.
    _apply(book, then)
    book.undo()
    assert book.rows == before


@given(settled=changes, more=changes)
def test_a_copy_that_gets_the_differences_is_the_book(settled, more) -> None:
    book: Book[str, str] = Book()
    _apply(book, settled)
    copy = dict(book.rows)
    book.settle()
    assert book.differences() == []
    assert book.changed() == []
    _apply(book, more)
    for key, value in book.differences():
        if value is None:
            del copy[key]
        else:
            copy[key] = value
    assert copy == book.rows
    assert set(book.changed()) <= set(book.rows.values())


def test_a_value_put_and_taken_out_in_one_round_is_no_difference() -> None:
    book: Book[str, str] = Book()
    book.put("a", "new")
    book.remove("a")
    assert book.differences() == []
    assert book.changed() == []


def test_a_value_put_twice_in_one_round_comes_back_as_before_the_round() -> None:
    book: Book[str, str] = Book()
    book.put("a", "old")
    book.settle()
    book.put("a", "new")
    book.put("a", "newer")
    assert book.get("a") == "newer"
    book.undo()
    assert book.get("a") == "old"


def test_to_remove_what_is_not_there_touches_nothing() -> None:
    book: Book[str, str] = Book()
    book.remove("a")
    assert list(book.touched()) == []
    assert book.get("a") is None
