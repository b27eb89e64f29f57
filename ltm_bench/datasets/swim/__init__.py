"""SWiM (Snorkel AI 2024): how well long material is used, measured with a user's own documents and questions.

Documents and tasks in, arrangements out: where the answer's document stands, how much stands around it, whether it is
there at all. And medoid voting, over the answers of a run.
"""

from ltm_bench.datasets.swim.arranging import Kept, arrange, keep
from ltm_bench.datasets.swim.documents import Document, read_documents
from ltm_bench.datasets.swim.tasks import Decision, Task, read_tasks, unvalidated, write_tasks
from ltm_bench.datasets.swim.voting import medoid, vote

__all__ = [
    "Decision",
    "Document",
    "Kept",
    "Task",
    "arrange",
    "keep",
    "medoid",
    "read_documents",
    "read_tasks",
    "unvalidated",
    "vote",
    "write_tasks",
]
