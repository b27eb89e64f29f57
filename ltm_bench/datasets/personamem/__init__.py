"""PersonaMem (Jiang et al. 2025): its conversations and questions, and its scorer, which reads a letter."""
