"""Personal data in a text: what was found, where, and how sure the finder is (R6)."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from contracts.model import Model


class PersonalDataKind(StrEnum):
    """What kind of personal data a place holds."""

    NAME = "name"
    MAIL = "mail"
    PHONE = "phone"
    BANK_ACCOUNT = "bank_account"
    CARD = "card"
    NATIONAL_ID = "national_id"
    POSTAL_ADDRESS = "postal_address"
    NETWORK_ADDRESS = "network_address"
    CREDENTIAL = "credential"


class Certainty(StrEnum):
    """What a finding rests on."""

    CHECKED = "checked"
    """A checksum, a numbering plan or a fixed form."""
    LIKELY = "likely"
    """Where and how it is written, such as a name after a closing line."""


class PersonalData(Model):
    """One place of a text that holds personal data; never the text itself, so that no copy is made."""

    kind: PersonalDataKind
    certainty: Certainty
    start: int = Field(ge=0)
    """First character."""
    end: int = Field(ge=1)
    """After the last character."""
