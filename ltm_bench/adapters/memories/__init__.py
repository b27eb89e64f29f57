"""What a memory is made of: what was said, cut up, kept, found, forgotten; and products that do so themselves."""
