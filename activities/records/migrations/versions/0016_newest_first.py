"""Indexes for the lists that show the newest first: a page of them reads its own rows, not the whole table."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_experiences_stage_since", "experiences", [sa.text("stage_since DESC"), sa.text("id DESC")])
    op.create_index(
        "ix_retrieval_requests_requested_at", "retrieval_requests", [sa.text("requested_at DESC"), sa.text("id")]
    )


def downgrade() -> None:
    op.drop_index("ix_retrieval_requests_requested_at", table_name="retrieval_requests")
    op.drop_index("ix_experiences_stage_since", table_name="experiences")
