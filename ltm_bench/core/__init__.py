"""The vocabulary that every other room shares: messages, agents, errors, clock, dice, tokens, prices, budget."""
