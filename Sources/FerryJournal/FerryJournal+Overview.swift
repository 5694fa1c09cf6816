// The FerryJournal target; see docs/architecture.md.
