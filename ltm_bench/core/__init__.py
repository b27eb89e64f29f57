"""The words that all other rooms are written in: messages, agents, errors, clock, dice, tokens, prices, budget."""
