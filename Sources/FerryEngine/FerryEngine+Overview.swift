// The FerryEngine target; see docs/architecture.md.
