// The FerryTransfer target; see docs/architecture.md.
