"""The five strategies that ship: definitions for the one engine (spec section 2).

A definition is immutable once used: a change is a new version beside the old one, never an edit (R14).
"""

from __future__ import annotations

from contracts.labels import CandidateKind, Collection, Outcome
from contracts.strategy import Bar, Hop, Links, Route, SourceStep, Strategy

_INDEX_ROUTES = (Route.LEXICAL, Route.DENSE_TITLE, Route.DENSE_BODY)
_CASE = (CandidateKind.CASE,)
_EXPERIENCE = (CandidateKind.EXPERIENCE,)
_ARTICLE = (CandidateKind.ARTICLE,)


def _same_work(depth: int, weight: float) -> SourceStep:
    """Return the registry read: live cases of the same origin, then of the same objects."""
    return SourceStep(collection=Collection.CASES, routes=(Route.REGISTRY,), kinds=_CASE, depth=depth, weight=weight)


ROOT_CLASSIFICATION = Strategy(
    id="root-classification",
    version=1,
    title="Root: classify and route",
    guide=(
        "Decide first whether this request is one that is already known: a registry match by origin is the same "
        "request, a match by object or by similar words is only related and stays its own case until somebody "
        "links it. Then choose where the work goes: data, configuration, development, an assessment with an "
        "offer, or a wait that already exists. Read rejected routes as reasons against a route, never as fixes. "
        "A similar title says nothing about the mechanism; when the choice turns on a technical difference, "
        "consult the owning domain before routing."
    ),
    steps=(
        # 4 > 3 index routes: a match by identity comes before any match by similarity alone.
        _same_work(depth=10, weight=4.0),
        SourceStep(collection=Collection.CASES, routes=_INDEX_ROUTES, kinds=_CASE),
        SourceStep(collection=Collection.ROUTING, routes=_INDEX_ROUTES, kinds=_EXPERIENCE),
    ),
    show_detail=False,
    results=20,
)

DATA_INVESTIGATION = Strategy(
    id="data-investigation",
    version=1,
    title="Data: investigate and resolve",
    guide=(
        "Decide whether a known mechanism explains what the system shows today, or whether to start from the "
        "symptom. Name the discriminator that tells this mechanism from its neighbours (a row that is missing, a "
        "document that is stale and a renewal that was never created look alike from outside) and check it on the "
        "current target before anything is repaired. Take from an earlier repair its checks and its residual "
        "effects, not its permission; run the plan under this case's own grants."
    ),
    steps=(
        SourceStep(
            collection=Collection.DETAIL,
            routes=_INDEX_ROUTES,
            kinds=(*_EXPERIENCE, *_ARTICLE),
            own_domain_only=True,
        ),
        _same_work(depth=5, weight=2.0),
        SourceStep(collection=Collection.CASES, routes=_INDEX_ROUTES, kinds=_CASE, depth=20, weight=0.5),
    ),
)

CONFIGURATION = Strategy(
    id="configuration",
    version=1,
    title="Configuration: read sources and set up products",
    guide=(
        "Decide what each source document means, which stages the work needs, and which remembered facts have to "
        "be read again in the current baseline. Use traps, variants and earlier design decisions as questions to "
        "put to the sources in hand. Values of an old tariff are never carried over, and a template that compiles "
        "has not thereby been shown to be the one that gets selected."
    ),
    steps=(
        # Stage and baseline memory frames the reading; earlier cases come after it.
        SourceStep(
            collection=Collection.DETAIL, routes=_INDEX_ROUTES, kinds=_ARTICLE, own_domain_only=True, weight=1.5
        ),
        SourceStep(collection=Collection.DETAIL, routes=_INDEX_ROUTES, kinds=_EXPERIENCE, own_domain_only=True),
        _same_work(depth=5, weight=1.0),
    ),
)

DEVELOPMENT = Strategy(
    id="development",
    version=1,
    title="Development: change the source",
    guide=(
        "Decide whether an earlier change applies to the lineage and the consumers at hand. Find the mechanism and "
        "the seam first, then who reads the changed interface, then what tests and release steps the change owes. "
        "Failed changes and regressions are listed because they narrow the choice. A path or commit that is "
        "remembered tells where to look; what is served now has to be read now."
    ),
    steps=(
        # Names of modules, interfaces and errors carry meaning as exact words.
        SourceStep(
            collection=Collection.DETAIL,
            routes=(Route.LEXICAL,),
            kinds=(*_ARTICLE, *_EXPERIENCE),
            own_domain_only=True,
            weight=1.5,
        ),
        SourceStep(
            collection=Collection.DETAIL,
            routes=(Route.DENSE_TITLE, Route.DENSE_BODY),
            kinds=(*_ARTICLE, *_EXPERIENCE),
            own_domain_only=True,
        ),
        # Consumers of an interface live in other domains; their synopses are enough to find them.
        SourceStep(
            collection=Collection.ROUTING,
            routes=(Route.LEXICAL, Route.DENSE_BODY),
            kinds=_EXPERIENCE,
            depth=20,
            weight=0.5,
        ),
        _same_work(depth=5, weight=1.0),
    ),
)

EFFORT_ASSESSMENT = Strategy(
    id="effort-assessment",
    version=1,
    title="Assessment: compare effort",
    guide=(
        "Decide which finished work is comparable to the agreed scope, what in the scope is new, and how wide the "
        "range has to be. Keep hours of work, hours of waiting and changes of scope apart, and look at how far "
        "earlier estimates missed. Say how many cases the range rests on. Past effort gives neither a price for "
        "today nor a date to commit to."
    ),
    steps=(
        SourceStep(
            collection=Collection.DETAIL,
            routes=_INDEX_ROUTES,
            kinds=_EXPERIENCE,
            # Unverified work has no known end, so its hours compare with nothing.
            outcomes=(Outcome.SUCCEEDED, Outcome.FAILED, Outcome.REJECTED_ROUTE),
            needs_effort=True,
            # Effort is checked on the record, after the search: look deeper.
            depth=150,
        ),
        _same_work(depth=5, weight=1.0),
    ),
    results=15,
)

# The second versions follow identifiers, concepts and intents from what the domain's own memory has to say first, and
# keep what did not succeed apart, so that neither crowds the other out.
_KEPT_FOR_CONTRAST = 2
_ON_CONTRAST = (
    " What is shown to contrast did not succeed: it speaks against a route or warns of a look-alike, and is never a "
    "fix."
)


def _contrast(depth: int = 10, weight: float = 0.5) -> SourceStep:
    """Return the read of what did not succeed in the profile's own domain (R5)."""
    return SourceStep(
        collection=Collection.DETAIL,
        routes=(Route.CONTRAST,),
        kinds=_EXPERIENCE,
        own_domain_only=True,
        outcomes=(Outcome.FAILED, Outcome.REJECTED_ROUTE, Outcome.UNVERIFIED),
        depth=depth,
        weight=weight,
    )


def _following(first: Strategy) -> Strategy:
    """Return the second version of a specialist strategy: `first`, following what it finds, with a contrast."""
    steps: list[SourceStep] = []
    followed: set[tuple[CandidateKind, ...]] = set()
    for step in first.steps:
        more: dict[str, Hop | Links] = {}
        if step.collection is Collection.DETAIL and step.own_domain_only and step.kinds not in followed:
            more = {"links": Links()} if followed else {"hop": Hop(), "links": Links()}
            followed.add(step.kinds)
        steps.append(step.model_copy(update=more))
    return first.model_copy(
        update={
            "version": 2,
            "guide": first.guide + _ON_CONTRAST,
            "steps": (*steps, _contrast()),
            "contrast": _KEPT_FOR_CONTRAST,
        }
    )


DATA_INVESTIGATION_2 = _following(DATA_INVESTIGATION)
CONFIGURATION_2 = _following(CONFIGURATION)
DEVELOPMENT_2 = _following(DEVELOPMENT)

EFFORT_ASSESSMENT_2 = EFFORT_ASSESSMENT.model_copy(
    update={
        "version": 2,
        "guide": (
            "Decide which finished work is comparable to the agreed scope, what in the scope is new, and how wide the "
            "range has to be. Read the rows behind a range before the range: strike what doesn't compare, and say on "
            "how many items the rest stands. Work and waiting are two figures and have no sum; an item whose scope "
            "changed, or that didn't succeed, is listed apart. Where the scope has an estimate of its own, the errors "
            "of earlier estimates usually bound it closer than the hours of other work do. Past effort gives neither "
            "a price for today nor a date to commit to."
        ),
        # From the least to the most of five lie, on average, two thirds of what comes next.
        "effort_minimum": 5,
    }
)

# The next versions say what is far, and abstain where nothing is near. The figure was chosen on SeaMonkey's reports,
# HotpotQA's questions (`tests.benchmarks.far`) and the demo's, which share hardly a word with what answers them: of the
# figures tried it is the highest that calls none of those answers far.
_BAR = Bar(cosine=0.25, model="all-MiniLM-L6-v2-int8")
_ON_FAR = (
    " What is called far from the objective shares single words with it and is no precedent; where nothing is near, "
    "broaden the search or consult another domain."
)


def _barred(strategy: Strategy) -> Strategy:
    """Return the next version of a strategy, with the bar.

    It also judges what it doesn't show, keeps a contrast, and follows names into live cases.
    """
    on_contrast = "" if strategy.contrast else _ON_CONTRAST
    into_cases = {"into_cases": True}
    steps = (
        step.model_copy(update={"hop": step.hop.model_copy(update=into_cases)}) if step.hop else step
        for step in strategy.steps
    )
    return strategy.model_copy(
        update={
            "version": strategy.version + 1,
            "guide": strategy.guide + on_contrast + _ON_FAR,
            "steps": tuple(steps),
            "bar": _BAR,
            "contrast": _KEPT_FOR_CONTRAST,
            "judges_unread": True,
        },
    )


ROOT_CLASSIFICATION_2 = _barred(ROOT_CLASSIFICATION)
DATA_INVESTIGATION_3 = _barred(DATA_INVESTIGATION_2)
CONFIGURATION_3 = _barred(CONFIGURATION_2)
DEVELOPMENT_3 = _barred(DEVELOPMENT_2)
EFFORT_ASSESSMENT_3 = _barred(EFFORT_ASSESSMENT_2)

SHIPPED: tuple[Strategy, ...] = (
    ROOT_CLASSIFICATION,
    DATA_INVESTIGATION,
    CONFIGURATION,
    DEVELOPMENT,
    EFFORT_ASSESSMENT,
    DATA_INVESTIGATION_2,
    CONFIGURATION_2,
    DEVELOPMENT_2,
    EFFORT_ASSESSMENT_2,
    ROOT_CLASSIFICATION_2,
    DATA_INVESTIGATION_3,
    CONFIGURATION_3,
    DEVELOPMENT_3,
    EFFORT_ASSESSMENT_3,
)
"""Every shipped version, to be stored when a database is set up."""


def newest(strategy_id: str) -> Strategy:
    """Return the newest shipped version of a strategy: what a new profile pins.

    Raises:
        LookupError: No strategy of this id ships.
    """
    versions = [strategy for strategy in SHIPPED if strategy.id == strategy_id]
    if not versions:
        raise LookupError(f"no strategy {strategy_id!r} ships")
    return max(versions, key=lambda strategy: strategy.version)
