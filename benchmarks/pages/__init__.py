"""What pages of the report show and is measured beforehand, with the programs that measure it."""
