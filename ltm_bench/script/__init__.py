"""Scripts: scenarios and their examples, deliveries of long material, scenarios in TOML, and rehearsals."""
