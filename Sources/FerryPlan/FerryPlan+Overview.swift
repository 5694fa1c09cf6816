// The FerryPlan target; see docs/architecture.md.
