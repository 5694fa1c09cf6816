// The Receiver target; see docs/architecture.md.
