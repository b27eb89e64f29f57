"""SWiM (Snorkel AI 2024): how well long material is used, measured with a user's own documents and questions.

Documents and tasks go in, arrangements come out: where the answer's document is, how much text surrounds it, and
whether it is there at all. Medoid voting chooses among the answers of several runs.
"""

from ltm_bench.datasets.swim.arranging import arrange, keep
from ltm_bench.datasets.swim.documents import Document, read_documents
from ltm_bench.datasets.swim.tasks import read_tasks, unvalidated

__all__ = ["Document", "arrange", "keep", "read_documents", "read_tasks", "unvalidated"]
