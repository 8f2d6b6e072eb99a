"""The least that a workflow can be: the floor of everything that goes through Temporal."""

from temporalio import workflow


@workflow.defn
class NothingToDo:
    """Ends at once."""

    @workflow.run
    async def run(self) -> None:
        """Do nothing."""
