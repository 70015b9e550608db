"""The spelling of a value: as in the document, or as accepted before; digits never change."""

from collections import Counter

from app.engines.extraction.renderer import Renderer, find_stripped_punctuation

SPELLINGS = {
    "booktaktamandayasdnbhd": Counter({"BOOK TA .K (TAMAN DAYA) SDN BHD": 3, "Book Ta.K": 1}),
    "no5jalansagu": Counter({"NO 5, JALAN SAGU": 2}),
}


def test_the_most_frequent_accepted_spelling_is_chosen():
    renderer = Renderer(SPELLINGS, "same_letters")
    assert renderer.render("BOOK TA.K (TAMAN DAYA)SDN BHD") == "BOOK TA .K (TAMAN DAYA) SDN BHD"


def test_a_misread_letter_is_corrected_only_where_that_was_found_to_pay():
    text = "BO0K TA.K (TAMAN DAYA) SDN BHD".replace("0", "Q")
    assert Renderer(SPELLINGS, "similar").render(text) == "BOOK TA .K (TAMAN DAYA) SDN BHD"
    assert Renderer(SPELLINGS, "same_letters").render(text) == text


def test_a_digit_is_never_changed():
    assert Renderer(SPELLINGS, "similar").render("NO 6, JALAN SAGU") == "NO 6, JALAN SAGU"


def test_the_own_value_of_a_document_does_not_count():
    renderer = Renderer({"abcdefg": Counter({"Abc-Defg": 1})}, "same_letters")
    assert renderer.render("abc defg", excluded_spellings=["Abc-Defg"]) == "abc defg"


def test_no_value_of_the_document_counts_however_often_it_was_accepted():
    spellings = {"abcdefg": Counter({"Abc-Defg": 2, "ABC Defg": 1}), "hijk": Counter({"H.IJK": 1})}
    renderer = Renderer(spellings, "same_letters")
    own = ["H.IJK", "Abc-Defg", "Abc-Defg"]
    assert renderer.render("abc defg", excluded_spellings=own) == "ABC Defg"
    assert renderer.render("hijk", excluded_spellings=own) == "hijk"


def test_punctuation_at_the_end_is_left_out_if_labelers_do_so():
    pairs = [("Ipoh,", "Ipoh,"), ("Perak.", "Perak"), ("Johor.", "Johor"), ("Kedah.", "Kedah.")]
    assert find_stripped_punctuation(pairs) == ".;:- "
    assert find_stripped_punctuation([]) == ",;:- "
