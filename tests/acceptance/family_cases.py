"""The texts of the case family: each case of an edition, its papers and its experience. All of it is invented."""

from __future__ import annotations

from contracts.casefile import CaseRecord
from contracts.cases import Effort
from contracts.experience import Limits
from contracts.labels import Outcome, PaperKind
from tests.acceptance.family_records import Edition, completed, fact, paper, repair, synopsis


def missing_row(edition: Edition) -> CaseRecord:
    """Return the case that SD-1598 stands for in the spec: produced, archived, and not registered."""
    look = paper(
        "look", PaperKind.EVIDENCE, "Archive and register compared",
        "The archive holds a readable PDF for each of the 96 policies. The register holds no row for any of them."
        " The print jobs ended normally.",
    )  # fmt: skip
    return completed(
        edition, 1, "data", "Printed documents are not in the list",
        "Since Tuesday the branch can't open 96 documents from the list. They were printed and posted.",
        papers=(
            look,
            paper("done", PaperKind.EXECUTION, "Register rows added", "96 rows added from the archive's own index."),
            paper("shown", PaperKind.PROOF, "Count afterwards", "96 of 96 open from the list; a second run adds 0."),
        ),
        title="Document archived, register row absent: add the row from the archive's index",
        synopsis=synopsis(
            edition, "document not found", "Data, document register", "Rows added and counted",
            "Documents were missing from the list. Each file was in the archive; only its register row was absent.",
        ),
        units=(
            fact(
                "u1", "The file is in the archive and the register has no row for it: the document was produced, and"
                " only its registration was lost.", "missing register row", look, "The register holds no row",
            ),
            repair(
                "u2", "Add the missing register rows from the archive's index, dry run first, and count again.",
                "make archived documents visible",
                use_when="The archive holds the file and the register has no row for it.",
                avoid_when="The archive holds no file or no renewal exists: then there is nothing to register.",
            ),
        ),
        limits=Limits(products=(edition.product,), version_from="7.2", version_to="7.9"),
    )  # fmt: skip


def stale_pdf(edition: Edition) -> CaseRecord:
    """Return a case that looks the same to the customer: the document is there, and old."""
    look = paper(
        "look", PaperKind.EVIDENCE, "Stored file and policy compared",
        "The register row is there and opens. The file behind it was rendered from the policy version before the"
        " amendment; the render cache was keyed without the version.",
    )  # fmt: skip
    return completed(
        edition, 2, "data", "The document shows the former premium",
        "The customer opens the document from the list, and it shows the premium from before the amendment.",
        papers=(
            look,
            paper("done", PaperKind.EXECUTION, "Rendered again", "14 files rendered again past the cache."),
            paper("shown", PaperKind.PROOF, "Compared", "14 of 14 show the amended premium."),
        ),
        title="Document opens and is stale: render it again past the cache",
        synopsis=synopsis(
            edition, "document content wrong", "Data, document rendering", "Rendered again and compared",
            "The document was in the list and opened, and its PDF showed the state before an amendment.",
        ),
        units=(
            fact(
                "u1", "The row exists and the PDF is older than the policy version: the render cache has no version"
                " in its key.", "stale document", look, "the render cache was keyed without the version",
            ),
            repair(
                "u2", "Render the named documents again past the cache and compare the premium with the policy.",
                "show the document of the current policy version",
                use_when="The document opens from the list and shows an earlier policy version.",
                avoid_when="The document isn't in the list at all.",
            ),
        ),
        limits=Limits(
            products=(edition.product,), version_from="7.2", version_to="7.3.9", schema_version="print-3"
        ),
    )  # fmt: skip


def uncreated_renewals(edition: Edition) -> CaseRecord:
    """Return a case that looks the same to the branch: nothing was ever produced."""
    look = paper(
        "look", PaperKind.EVIDENCE, "Renewal run examined",
        "For the 31 policies no renewal version exists. The archive holds no file and the register no row. The run"
        " skipped policies whose tariff had no successor.",
    )  # fmt: skip
    return completed(
        edition, 3, "data", "Renewal documents are not in the list",
        "31 customers have no renewal documents in the list, though their policies ran out last month.",
        papers=(
            look,
            paper("done", PaperKind.EXECUTION, "Renewals created", "31 renewals created by the owner's run."),
            paper("shown", PaperKind.PROOF, "Checked", "31 renewals exist, are printed and open from the list."),
        ),
        title="Renewals were never created: name the successor tariff and run the renewal",
        synopsis=synopsis(
            edition, "document not found", "Data, then the owner of renewals", "Renewals created and printed",
            "Renewal documents were missing because no renewal existed. Nothing had been printed or archived.",
        ),
        units=(
            fact(
                "u1", "No renewal version exists, no file and no row: the document was never due. The renewal run"
                " skips a policy whose tariff has no successor.", "uncreated renewal", look,
                "no renewal version exists",
            ),
            repair(
                "u2", "Have the successor tariff named, then let the owner of renewals run them for the listed"
                " policies.", "create the renewals that were skipped",
                use_when="No renewal version of the policy exists.",
                avoid_when="A renewal exists and only its document can't be found.",
            ),
        ),
        limits=Limits(products=(edition.product,), version_from="7.2", version_to="7.9"),
    )  # fmt: skip


def parsing_by_hand(edition: Edition) -> CaseRecord:
    """Return a route that was tried and turned down."""
    look = paper(
        "look", PaperKind.EVIDENCE, "Where the amounts go",
        "The same parser reads the import and four screens. Amounts that were set by hand were refused again by the"
        " next import.",
    )  # fmt: skip
    return completed(
        edition, 4, "data", "Please set the refused amounts by hand",
        "The import refuses 212 amounts with an apostrophe. Could Data enter them directly?",
        papers=(look, paper("done", PaperKind.EXECUTION, "Tried on 5", "5 amounts set by hand, 5 refused again.")),
        title="Setting refused amounts by hand: rejected, the shared parser reads them again",
        synopsis=synopsis(
            edition, "numeric input refused", "Data, amounts set by hand", "Rejected: the next import refused them",
            "Amounts with an apostrophe were refused by the import. Setting them by hand was tried and turned down:"
            " the shared parser reads the same amounts at every import.",
        ),
        units=(
            fact(
                "u1", "Amounts set by hand don't last: the next import reads the source again with the same parser.",
                "shared numeric parsing", look, "refused again by the next import", Outcome.REJECTED_ROUTE,
            ),
        ),
        limits=Limits(products=(edition.product,)),
        outcome=Outcome.REJECTED_ROUTE,
    )  # fmt: skip


def shared_parsing(edition: Edition) -> CaseRecord:
    """Return the route that was taken for the same wish."""
    look = paper(
        "look", PaperKind.EVIDENCE, "Consumers of the parser",
        "Four screens and two imports share the parser. A new separator changes all of them, so it was assessed and"
        " offered before it was built.",
    )  # fmt: skip
    return completed(
        edition, 5, "development", "Accept an apostrophe in amounts",
        "The import should accept an apostrophe as thousands separator.",
        papers=(
            look,
            paper("done", PaperKind.EXECUTION, "Change", "The separator was added behind a setting of the import."),
            paper("shown", PaperKind.PROOF, "Replay", "2,400 recorded amounts give the same values as before."),
        ),
        title="Shared numeric parsing: a new separator is assessed and offered, then built behind a setting",
        synopsis=synopsis(
            edition, "numeric input refused", "Assessment and offer, then Development", "Built, replayed, released",
            "Amounts with an apostrophe were refused. The parser is shared, so new parsing behaviour was assessed and"
            " offered first, and then developed.",
        ),
        units=(
            fact(
                "u1", "The numeric parser is shared by screens and imports: a separator for one is one for all.",
                "shared numeric parsing", look, "Four screens and two imports share the parser",
            ),
        ),
        limits=Limits(products=(edition.product,)),
    )  # fmt: skip


TARIFFS: tuple[tuple[str, Effort, Outcome], ...] = (
    ("three factors", Effort(estimate_hours=16, active_hours=14, waiting_hours=40), Outcome.SUCCEEDED),
    ("four factors", Effort(estimate_hours=16, active_hours=18, waiting_hours=96), Outcome.SUCCEEDED),
    ("six factors and two covers", Effort(estimate_hours=24, active_hours=30, waiting_hours=8), Outcome.SUCCEEDED),
    ("a selector for region", Effort(estimate_hours=20, active_hours=20, waiting_hours=160), Outcome.SUCCEEDED),
    ("five factors", Effort(active_hours=24, waiting_hours=64), Outcome.SUCCEEDED),
    (
        "four factors, then a bonus scale",
        Effort(
            estimate_hours=16, active_hours=57, waiting_hours=24, changed_scope="A bonus scale was ordered on the way."
        ),
        Outcome.SUCCEEDED,
    ),
    ("cells copied from the old sheet", Effort(estimate_hours=8, active_hours=33, waiting_hours=4), Outcome.FAILED),
)


def tariff(edition: Edition, number: int, what: str, effort: Effort, outcome: Outcome) -> CaseRecord:
    """Return one of the configured tariffs, with what it took."""
    look = paper(
        "look", PaperKind.EVIDENCE, "Tariff sheet", f"The delivered tariff sheet has {what}; its stage is the product."
    )
    how = "Configured" if outcome is Outcome.SUCCEEDED else "Given up"
    return completed(
        edition, 10 + number, "configuration", f"New tariff with {what}",
        f"Please configure the tariff with {what} from the delivered tariff sheet.",
        papers=(
            look,
            paper("done", PaperKind.EXECUTION, how, f"{how}: tariff with {what}."),
            paper("shown", PaperKind.PROOF, "Calculated", "Forty sample premiums were calculated and compared."),
        ),
        title=f"Tariff with {what}, configured from the sheet",
        synopsis=synopsis(
            edition, "tariff configuration", "Configuration, product stage", how,
            f"A tariff with {what} was to be configured from the delivered tariff sheet.",
        ),
        units=(
            fact(
                "u1", f"Each of the factors and covers is read from the sheet in hand: {what}.", "tariff factors",
                look, f"The delivered tariff sheet has {what}", outcome,
            ),
        ),
        limits=Limits(products=(edition.product,)),
        outcome=outcome,
        effort=effort,
    )  # fmt: skip
